r"""Benchmarks in the format of BEIR and MTEB: documents, queries and judgments.

```
corpus.jsonl       {"_id": "d1", "title": "Primes", "text": "Let $p$ be ..."}
queries.jsonl      {"_id": "q1", "text": "is $\\sqrt p$ irrational?"}
qrels/test.tsv     query-id   corpus-id   score        train.tsv and dev.tsv beside it
```

All of them may end in ``.gz``; as in MTEB, judgments may be JSONL, and every part may
be Parquet in a folder (``corpus/*.parquet``, ``qrels/test-*.parquet``). ``metadata`` of
a record may name the ``format`` of its text and ``tags``.

Topics are the queries that the chosen split judges. Training queries are texts of the
type ``example``, which no search returns, unless the query *is* a document: the same id
and the same text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mathamr_kedro.base.errors import MissingInputError, suggest
from mathamr_kedro.base.records import Failure, Judgment, TrainingPair
from mathamr_kedro.base.types import PostId, TopicId
from mathamr_kedro.corpus.json_records import (
    Record,
    read_benchmark_rows,
    read_records,
)
from mathamr_kedro.corpus.raw import (
    Collection,
    Markup,
    Part,
    RawPost,
    RawTopic,
    convert,
    make_failure,
)
from mathamr_kedro.corpus.topics import year_of_topic
from mathamr_kedro.trec import TREC, iter_judgments

_TASK = "task1"
"""Documents are found for texts, as answers are in ARQMath."""
_QUERY = "query:"
"""Prefix of the id of a training query that is not a document."""
_ENDINGS = (".jsonl", ".jsonl.gz", ".parquet")
_QRELS_ENDINGS = (".tsv", ".tsv.gz", *_ENDINGS)
_COLUMNS = ("query-id", "corpus-id", "score")


@dataclass(frozen=True)
class BeirFiles:
    """What is read of a benchmark, and how."""

    split: str = "test"
    """Split whose queries and judgments are the topics."""
    training_split: str | None = "train"
    """Split whose judgments are training pairs, if its file exists; ``None``: none."""
    format: Markup = "markdown"
    """Format of texts that do not name theirs."""


class BeirCollection(Collection):
    """Lazy reader of a benchmark."""

    def __init__(self, root: str | Path, files: BeirFiles | None = None) -> None:
        super().__init__(root)
        files = files or BeirFiles()
        self._split, self._training = files.split, files.training_split or ""
        self._markup = files.format

    @property
    def _settings(self) -> tuple[str, ...]:
        return (self._markup,)

    def posts(self) -> Iterator[RawPost | Failure]:
        """Yield the documents, then the training queries that are not documents."""
        yield from self._read_rows(self._find_documents())
        for row in self._training_queries.values():
            if row.post_id not in self._asked_documents:
                post_id = f"{_QUERY}{row.post_id}"
                yield row._replace(post_id=post_id, post_type="example")

    def topics(self) -> Iterator[RawTopic | Failure]:
        """Yield the queries that the split judges; all if there are no judgments."""
        judged = self._list_judged(self._split)
        seen: set[TopicId] = set()
        for row in self._read_rows(self._find_queries()):
            if isinstance(row, Failure):
                yield row
            elif row.post_id in seen:
                detail = f"query {row.post_id} was read before; the first one is kept"
                yield make_failure(
                    row.source, row.place, "duplicate_query_id", detail, row.post_id
                )
            elif judged is None or row.post_id in judged:
                seen.add(row.post_id)
                yield RawTopic(
                    source=row.source,
                    place=row.place,
                    topic_id=row.post_id,
                    task=_TASK,
                    year=year_of_topic(row.post_id),
                    title=row.title,
                    question=row.body,
                    tags=row.tags,
                    markup=row.markup,
                )
        source = ", ".join(map(self._name, self._find_qrels(self._split)))
        for query in judged or ():
            if query not in seen:
                yield make_failure(
                    source,
                    f"query {query}",
                    "judged_query_unknown",
                    "judged, but not among the queries",
                    query,
                    kept=True,
                )

    def judgments(self) -> Iterator[Judgment | Failure]:
        """Yield the judgments of the split."""
        return self._read_qrels(self._split)

    def pairs(self) -> Iterator[TrainingPair | Failure]:
        """Yield each training query with the documents judged above 0."""

        def pair(found: Judgment) -> TrainingPair | None:
            query = found.topic_id
            if query not in self._asked_documents:
                query = f"{_QUERY}{query}"
            return TrainingPair(query, found.doc_id) if found.grade > 0 else None

        return convert(self._read_qrels(self._training), pair)

    def _find_documents(self) -> list[Path]:
        return self._find_part("corpus")

    def _find_queries(self) -> list[Path]:
        return self._find_part("queries")

    def _find_qrels(self, split: str) -> list[Path]:
        """Return the files of a split; none if it is missing."""
        folder = self.root / "qrels"
        for ending in _QRELS_ENDINGS:
            stem = f"{split}*" if ending == ".parquet" else split
            files = sorted(folder.glob(f"{stem}{ending}")) if split else []
            if files:
                return files
        return []

    def _list_splits(self) -> list[str]:
        """Return the splits that are judged."""
        files = (self.root / "qrels").glob("*")
        return sorted({f.name.partition(".")[0].partition("-")[0] for f in files})

    @cached_property
    def _training_queries(self) -> dict[TopicId, RawPost]:
        """The queries to learn from, in the order of their file."""
        wanted = self._list_judged(self._training)
        found: dict[TopicId, RawPost] = {}
        for row in self._read_rows(self._find_queries()) if wanted else ():
            if isinstance(row, RawPost) and row.post_id in (wanted or ()):
                found.setdefault(row.post_id, row)
        return found

    @cached_property
    def _asked_documents(self) -> set[PostId]:
        """Training queries that are documents: the same text, with title or without."""
        queries = self._training_queries
        return {
            row.post_id
            for row in (self._read_rows(self._find_documents()) if queries else ())
            if isinstance(row, RawPost)
            and row.post_id in queries
            and queries[row.post_id].body
            in (row.body, f"{row.title} {row.body}".strip())
        }

    def _list_judged(self, split: str) -> dict[TopicId, None] | None:
        """Return the queries that a split judges; ``None`` if it has no file."""
        if not self._find_qrels(split):
            return None
        found = self._read_qrels(split)
        return dict.fromkeys(j.topic_id for j in found if isinstance(j, Judgment))

    def list_files(self, part: Part) -> list[Path]:
        """Return the raw files of a part; another split changes no document."""
        learnt = self._find_qrels(self._training)
        learnt = [*self._find_queries(), *learnt] if learnt else []
        match part:
            case "posts":
                return [*self._find_documents(), *learnt]
            case "topics":
                return [*self._find_queries(), *self._find_split()]
            case "qrels":
                return self._find_split()
            case "pairs":
                return learnt
        return []

    def _find_part(self, name: str) -> list[Path]:
        """Return the files of documents or queries."""
        for ending in _ENDINGS:
            file = self.root / f"{name}{ending}"
            if file.is_file():
                return [file]
            files = sorted((self.root / name).glob(f"*{ending}"))
            if files:
                return files
        raise MissingInputError(
            f"Expected {name}.jsonl, {name}.jsonl.gz or {name}/*.parquet in "
            f"{str(self.root)!r}; name the folder of a benchmark: "
            "`kedro run --env beir --params raw_root=FOLDER`"
        )

    def _find_split(self) -> list[Path]:
        """Return the judgments of the topics; none if nothing is judged at all.

        Raises:
            MissingInputError: there are only other splits.
        """
        files, known = self._find_qrels(self._split), self._list_splits()
        if known and not files:
            raise MissingInputError(
                f"Expected judgments of the split {self._split!r} in "
                f"{str(self.root)!r}{suggest(self._split, known) or ';'} there are "
                f"{', '.join(known)} (--params split=NAME)"
            )
        return files

    def _read_rows(self, files: Iterable[Path]) -> Iterator[RawPost | Failure]:
        for path in files:
            records = self._read_records(path)
            yield from read_benchmark_rows(records, self._name(path), self._markup)

    def _read_records(self, path: Path) -> Iterator[Record | Failure]:
        return read_records(path, self._name(path))

    def _read_qrels(self, split: str) -> Iterator[Judgment | Failure]:
        for path in self._find_qrels(split):
            source = self._name(path)
            if ".tsv" in path.suffixes:
                yield from iter_judgments(path, _TASK, source, TREC)
            else:
                yield from _read_judgments(path, source)


def _read_judgments(path: Path, source: str) -> Iterator[Judgment | Failure]:
    """Yield the judgments of a JSONL or Parquet file."""
    seen: dict[tuple[TopicId, PostId], int] = {}
    for found in read_records(path, source):
        if isinstance(found, Failure):
            yield found
            continue
        place, record = found
        if any(record.get(name) is None for name in _COLUMNS):
            detail = f"expected {', '.join(_COLUMNS)}, got {', '.join(record)!r}"
            yield make_failure(source, place, "bad_judgment", detail)
            continue
        topic, document = str(record["query-id"]), str(record["corpus-id"])
        grade, known = TREC.read(str(record["score"])), seen.get((topic, document))
        if isinstance(grade, tuple):
            yield make_failure(source, place, *grade, document)
        elif known is not None:
            reason = "repeated" if known == grade else "conflicting"
            detail = f"graded {known} for query {topic} before, now {grade}"
            yield make_failure(source, place, f"{reason}_judgment", detail, document)
        else:
            seen[topic, document] = grade
            yield Judgment(topic, document, grade, _TASK, source)
