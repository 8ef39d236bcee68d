"""Graphs of an archive for the collection that is here.

An archive of the same collection is taken over byte by byte. If this one has other
posts (a judged subset, for instance), only their graphs are taken: posts that are
texts to learn from here come last, and posts without a graph are failures.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import GraphError, MalformedInputError
from mathamr_kedro.base.records import Failure
from mathamr_kedro.base.shards import EndOfShards, Shard, ShardItem, StartOfShards
from mathamr_kedro.graph import GraphRecord, read_math_graph
from mathamr_kedro.integrations.graph_archive import (
    ArchivedFile,
    GraphArchive,
    read_failures,
    read_pairs,
)

_PAIRS = "pairs"
_STAGE = "graph_fusion"
_LAST = "~"  # sorts behind the names of shards
_ID = re.compile(r"^# ::id (.*)$", re.MULTILINE)

_Items: TypeAlias = Iterator[tuple[str, ShardItem]]
"""Tables and what is to be saved in them."""


class _Unreadable(NamedTuple):
    """A record that is no graph."""

    graph_id: str
    detail: str


@dataclass(frozen=True)
class KnownPosts:
    """The posts, or the topics, that are here."""

    types: Mapping[str, str]
    """Id to post type."""
    made_from: str
    """Checksum of their table."""


@dataclass
class _Survey:
    """What an archive holds of one table, seen from here."""

    counts: Counter[str] = field(default_factory=Counter)
    absent: list[str] = field(default_factory=list)
    """Ids that are here, and neither among its graphs nor among its failures."""

    @property
    def is_same(self) -> bool:
        """Whether every record can be taken as it is."""
        differs = ("unreadable", "elsewhere", "retyped")
        return not self.absent and not any(self.counts[key] for key in differs)


class ArchiveImport:
    """Reads an archive twice: to see what it holds, then to hand it over.

    Args:
        archive: where the graphs come from.
        known: by table of :attr:`GRAPHS`, what is here; without one, all is taken.

    Raises:
        MalformedInputError: the archive is damaged, or of another collection.
    """

    GRAPHS = ("topics", "posts")
    """Tables of graphs; their failures are in ``failures/topics``, ..."""

    def __init__(self, archive: GraphArchive, known: Mapping[str, KnownPosts]) -> None:
        self._archive, self._known = archive, known
        self._failures: dict[str, dict[str, list[Failure]]] = {}
        self._surveys = {table: _Survey() for table in self.GRAPHS}
        self._survey()

    def describe(self, table: str) -> dict[str, int]:
        """Return how many graphs are taken, skipped, unreadable and absent."""
        survey = self._surveys[table]
        return {**survey.counts, "absent": len(survey.absent)}

    def items(self) -> _Items:
        """Yield everything but the pairs, failures before their graphs."""
        for table in self._failures.keys() - {f"failures/{t}" for t in self.GRAPHS}:
            yield from self._hand_over_failures(table)
        starts: dict[str, StartOfShards] = {}
        for table in self.GRAPHS:
            starts[table] = StartOfShards(self._made_from(table))
            yield f"failures/{table}", StartOfShards(self._made_from(table))
            yield table, starts[table]
        for file, text in self._archive.read():
            is_new = (
                file.table in self.GRAPHS
                and file.shard not in starts[file.table].finished
            )
            if is_new:
                yield from self._hand_over_graphs(file, text)
        for table in self.GRAPHS:
            made_from = self._made_from(table)
            if self._surveys[table].absent:
                rows = list(self._note_absent(table))
                shard = Shard.of_rows(f"{_LAST}absent", made_from, rows)
                yield f"failures/{table}", shard
            yield f"failures/{table}", EndOfShards(made_from)
            yield table, EndOfShards(made_from)

    def pairs(self) -> _Items:
        """Yield the training pairs."""
        made_from = self._archive.checksum(_PAIRS) or ""
        for file, text in self._archive.read():
            if file.table == _PAIRS:
                rows = list(read_pairs(self._archive.path, file, text))
                yield _PAIRS, Shard(file.shard, made_from, rows, file.counts)
        yield _PAIRS, EndOfShards(made_from)

    def _survey(self) -> None:
        seen: dict[str, set[str]] = {table: set() for table in self.GRAPHS}
        failed: dict[str, set[str]] = {table: set() for table in self.GRAPHS}
        for file, text in self._archive.read():
            if file.table in self.GRAPHS:
                self._survey_graphs(file, text, seen[file.table])
            elif file.table.startswith("failures/"):
                rows = list(read_failures(self._archive.path, file, text))
                self._failures.setdefault(file.table, {})[file.shard] = rows
                table = "topics" if file.table.endswith("topics") else "posts"
                failed[table].update(row.record_id for row in rows if not row.kept)
        for table, known in self._known.items():
            told = seen[table] | failed[table]
            self._surveys[table].absent = [k for k in known.types if k not in told]
        self._refuse_unreadable()

    def _survey_graphs(self, file: ArchivedFile, text: str, seen: set[str]) -> None:
        counts = self._surveys[file.table].counts
        for record in _read_records(text):
            counts["graphs"] += 1
            if record.graph_id and record.graph_id in seen:
                raise MalformedInputError(
                    f"{str(self._archive.path)!r}: a second graph of "
                    f"{record.graph_id!r} in {file.name!r}; remove one and export the "
                    "archive again"
                )
            seen.add(record.graph_id)
            if isinstance(record, _Unreadable):
                counts["unreadable"] += 1
            else:
                counts[self._judge(file.table, record)] += 1

    def _judge(self, table: str, record: GraphRecord) -> str:
        known = self._known.get(table)
        if known is None:
            return "taken"
        post_type = known.types.get(record.graph_id)
        if post_type is None:
            return "elsewhere"
        return "taken" if post_type == record.post_type else "retyped"

    def _refuse_unreadable(self) -> None:
        counts = self._surveys["posts"].counts
        if counts["graphs"] and counts["graphs"] == counts["unreadable"]:
            raise MalformedInputError(
                f"{str(self._archive.path)!r}: none of its {counts['graphs']:,} "
                "records of posts is a PENMAN graph with '# ::id ...'; convert them as "
                "in docs/pipelines/graph_fusion.md"
            )
        if counts["graphs"] and counts["graphs"] == counts["elsewhere"]:
            raise MalformedInputError(
                f"{str(self._archive.path)!r}: none of its {counts['graphs']:,} graphs "
                "is of a post that is here; choose the environment of its collection"
            )

    def _made_from(self, table: str) -> str:
        own = self._archive.checksum(table) or ""
        if self._surveys[table].is_same:
            return own
        known = self._known.get(table)
        return checksum("import", own, "" if known is None else known.made_from)

    def _hand_over_graphs(self, file: ArchivedFile, text: str) -> _Items:
        table, made_from = file.table, self._made_from(file.table)
        notes = self._failures.get(f"failures/{table}", {}).get(file.shard, [])
        if self._surveys[table].is_same:
            yield f"failures/{table}", Shard.of_rows(file.shard, made_from, notes)
            yield table, Shard(file.shard, made_from, text, file.counts)
            return
        found: list[str] = []
        last: list[str] = []
        broken: list[Failure] = []
        for place, record in enumerate(_read_records(text)):
            if isinstance(record, _Unreadable):
                head = _STAGE, table, f"{file.name}, record {place}", record.graph_id
                broken.append(Failure(*head, "malformed_record", record.detail))
            elif self._judge(table, record) != "elsewhere":
                kept = self._retype(table, record)
                (last if kept.post_type == "example" else found).append(kept.format())
        rows = [*self._filter(table, notes), *broken]
        yield f"failures/{table}", Shard.of_rows(file.shard, made_from, rows)
        if last:
            yield table, _make_shard(_LAST + file.shard, made_from, last)
        yield table, _make_shard(file.shard, made_from, found, len(broken))

    def _retype(self, table: str, record: GraphRecord) -> GraphRecord:
        known = self._known.get(table)
        if known is None:
            return record
        return record._replace(post_type=known.types[record.graph_id])

    def _hand_over_failures(self, table: str) -> _Items:
        graphs = "topics" if table.endswith("topics") else "posts"
        own = self._archive.checksum(table) or ""
        is_same = self._surveys[graphs].is_same
        made_from = own if is_same else checksum(own, self._made_from(graphs))
        for shard, rows in self._failures[table].items():
            kept = rows if is_same else list(self._filter(graphs, rows))
            yield table, Shard.of_rows(shard, made_from, kept)
        yield table, EndOfShards(made_from)

    def _filter(self, table: str, rows: Iterable[Failure]) -> Iterator[Failure]:
        known = self._known.get(table)
        for row in rows:
            if known is None or row.record_id in known.types:
                yield row

    def _note_absent(self, table: str) -> Iterator[Failure]:
        where = str(self._archive.path.name)
        detail = "the archive has neither its graph nor a reason why there is none"
        for key in self._surveys[table].absent:
            yield Failure(_STAGE, table, where, key, "not_in_archive", detail)


def _make_shard(name: str, made_from: str, texts: list[str], dropped: int = 0) -> Shard:
    written = len(texts)
    counts = {"read": written + dropped, "written": written, "dropped": dropped}
    return Shard(name, made_from, "".join(texts), counts)


def _read_records(text: str) -> Iterator[GraphRecord | _Unreadable]:
    """Yield records; if one cannot be read, what is wrong with it."""
    for block in text.split("\n\n"):
        if not block.strip("\n"):
            continue
        try:
            record = GraphRecord.read(block.strip("\n"))
            read_math_graph(record.graph)
            record.formulas()
        except (MalformedInputError, GraphError) as exc:
            named = _ID.search(block)
            yield _Unreadable(named[1] if named else "", str(exc))
        else:
            yield record
