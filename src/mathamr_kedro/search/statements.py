"""What is known of statements: their kinds, and who uses them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.records import Statement
from mathamr_kedro.base.types import PostId
from mathamr_kedro.graph import POST_TYPES

_IS_CODE = re.compile(r"^\S*[._]\S*$")
"""Names of declarations, which nobody types."""


class StatementNote(NamedTuple):
    """What is known of a statement."""

    kind: str
    number: str | None
    name: str | None
    section: str
    used_by: int
    """Number of statements whose proofs cite it."""
    source: str = ""
    """File that it is in."""
    place: str = ""
    """Line of the file."""
    url: str = ""
    """Address on the web."""

    @property
    def title(self) -> str:
        """What a book prints: ``Lemma 10.20.1 (Nakayama's lemma)``."""
        name = f"({self.name})" if self.name else ""
        kind = self.kind[:1].upper() + self.kind[1:]
        return " ".join(filter(None, [kind, self.number, name]))


class StatementDetails(NamedTuple):
    """All that is known of a statement."""

    note: StatementNote
    chapter: str
    proof: str
    """Text with formulas between dollars; empty: none is known."""
    uses: Mapping[PostId, StatementNote]
    """What its proof cites."""
    used_by: Mapping[PostId, StatementNote]


class Statements:
    """The statements of a collection.

    Args:
        table: of :class:`~mathamr_kedro.base.records.Statement`; ``None``: there are
            none.
        links: which statements a proof cites; ``None``: it is not known.
    """

    def __init__(self, table: Any = None, links: Any = None) -> None:
        self._table, self._links = table, links

    def find_posts(self, kinds: Sequence[str]) -> set[PostId] | None:
        """Return the posts that are statements of some kinds; ``None`` for no kinds.

        Raises:
            ConfigurationError: there is no such kind.
        """
        if not kinds:
            return None
        for kind in kinds:
            if kind not in self._posts_by_kind:
                known = [*sorted(self._posts_by_kind), *POST_TYPES]
                raise ConfigurationError(
                    f"Expected a type of post or a kind of statement (got {kind!r})"
                    f"{suggest(kind, known)} Known: {', '.join(known)}"
                )
        return {key for kind in kinds for key in self._posts_by_kind[kind]}

    def describe(self, ids: Collection[PostId]) -> Mapping[PostId, StatementNote]:
        """Return what is known of those posts that are statements."""
        rows = self._table.find_all("post_id", ids) if self._table is not None else {}
        return {key: self._note(row) for key, row in rows.items()}

    def read(self, post_id: PostId) -> StatementDetails | None:
        """Return all that is known of a statement."""
        row = self._table.find("post_id", post_id) if self._table is not None else None
        if row is None:
            return None
        both = (self._premises[post_id], self._users[post_id])
        noted = self.describe([key for keys in both for key in keys])
        uses, used_by = ({k: noted[k] for k in keys if k in noted} for keys in both)
        return StatementDetails(self._note(row), row.chapter, row.proof, uses, used_by)

    def list_kinds(self) -> list[str]:
        """Return the kinds that there are, the most frequent first."""
        found = self._posts_by_kind
        return sorted(found, key=lambda kind: (-len(found[kind]), kind))

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """Names to search for: of statements that are used most, then of sections."""
        if self._table is None:
            return ()
        names: Counter[str] = Counter()
        sections: Counter[str] = Counter()
        for part in self._table.tables(["post_id", "name", "section"]):
            rows = (part[name].to_pylist() for name in ("post_id", "name", "section"))
            for key, name, section in zip(*rows, strict=True):
                if name and not _IS_CODE.search(name):
                    names[name] = max(names[name], 1 + self._uses[key])
                elif section:
                    sections[section] += 1
        found = [text for most in (names, sections) for text, _ in most.most_common(3)]
        return tuple(dict.fromkeys(found))[:3]

    def _note(self, row: Statement) -> StatementNote:
        return StatementNote(
            row.kind, row.number, row.name, row.section, self._uses[row.post_id],
            row.source, row.place, row.url,
        )  # fmt: skip

    @cached_property
    def _posts_by_kind(self) -> Mapping[str, list[PostId]]:
        found: dict[str, list[PostId]] = {}
        table = self._table
        for part in table.tables(["kind", "post_id"]) if table is not None else ():
            columns = (part["kind"].to_pylist(), part["post_id"].to_pylist())
            for kind, key in zip(*columns, strict=True):
                found.setdefault(kind, []).append(key)
        return found

    @cached_property
    def _uses(self) -> Counter[PostId]:
        """How many statements cite each one in their proofs."""
        return Counter({key: len(users) for key, users in self._users.items()})

    @cached_property
    def _premises(self) -> Mapping[PostId, list[PostId]]:
        """What the proof of each statement cites."""
        return self._read_links("post_id", "premise_id")

    @cached_property
    def _users(self) -> Mapping[PostId, list[PostId]]:
        """Who cites each statement."""
        return self._read_links("premise_id", "post_id")

    def _read_links(self, key: str, other: str) -> Mapping[PostId, list[PostId]]:
        found: defaultdict[PostId, list[PostId]] = defaultdict(list)
        table = self._links
        for part in table.tables([key, other]) if table is not None else ():
            columns = (part[key].to_pylist(), part[other].to_pylist())
            for mine, theirs in zip(*columns, strict=True):
                found[mine].append(theirs)
        return found
