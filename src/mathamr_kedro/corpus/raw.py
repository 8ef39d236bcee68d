"""Raw records and the base class of collections, the input of the ingestion stage."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, get_args

from mathamr_kedro.base.checksums import ChecksumCache, checksum
from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.records import (
    TEXT,
    Failure,
    Formula,
    Judgment,
    Statement,
    StatementLink,
    TrainingPair,
)
from mathamr_kedro.base.types import PostId, PostType
from mathamr_kedro.trec import TopicNotes

T = TypeVar("T")
R = TypeVar("R")
Markup = Literal["html", "markdown", "latex", "text"]
Part = Literal[
    "posts", "comments", "formulas", "topics", "topic_formulas", "topic_notes",
    "qrels", "pairs",
]  # fmt: skip
"""Parts of a collection, named as in the catalog."""


NO_TEXT = "no text: an empty file, or only headings, declarations or a bibliography"
"""Why a file without a text was skipped."""
MAX_FILE = 10_000_000
"""Maximum bytes of a document, or of one line of records: longer ones are skipped."""
MAX_TEXT = 500_000
"""Maximum characters of a post; the rest is cut off."""
_MAX_DIGITS = 18  # of a number that 64 bits hold


def is_number(text: str) -> bool:
    """Tell whether a text is a numeric id: digits 0 to 9, at most 18.

    ``str.isdigit`` would take ``²`` too, and thousands of digits.
    """
    return text.isascii() and text.isdigit() and len(text) <= _MAX_DIGITS


def make_failure(
    source: str,
    place: str,
    reason: str,
    detail: str,
    record_id: str | None = None,
    kept: bool = False,
) -> Failure:
    """Return a failure of the ingestion; without an id, its source names the record."""
    return Failure(
        stage="ingestion",
        source=source,
        place=place,
        record_id=source if record_id is None else record_id,
        reason=reason,
        detail=detail,
        kept=kept,
    )


def convert(
    records: Iterable[T | Failure], make: Callable[[T], R | Failure | None]
) -> Iterator[R | Failure]:
    """Yield each converted record, unless that is ``None``; failures pass through."""
    for record in records:
        made = record if isinstance(record, Failure) else make(record)
        if made is not None:
            yield made


@dataclass(frozen=True)
class ExampleFiles:
    """JSONL files of questions and answers to learn from beside the posts."""

    files: tuple[str, ...]
    markup: Markup = "markdown"
    """Of records that do not name theirs."""
    titles: bool = True
    """Whether a record's title belongs to its question."""


class RawPost(NamedTuple):
    """A post before its text is cleaned."""

    source: str
    place: str
    post_id: str
    post_type: PostType = "document"
    parent_id: str | None = None
    accepted_answer_id: str | None = None
    creation_date: str | None = None
    score: int | None = None
    tags: tuple[str, ...] = ()
    title: str = ""
    body: str = ""
    markup: Markup = "html"


class RawComment(NamedTuple):
    """A comment under a post, before its text is cleaned."""

    source: str
    place: str
    comment_id: str
    post_id: str
    text: str


class RawTopic(NamedTuple):
    """A topic before its text is cleaned."""

    source: str
    topic_id: str
    task: str
    year: int
    title: str = ""
    question: str = ""
    tags: tuple[str, ...] = ()
    formula_id: str | None = None
    latex: str | None = None
    markup: Markup = "html"
    place: str = ""


class Collection(ABC):
    """A test collection or an own corpus: a folder of raw files.

    Every reader is lazy and yields in file order; a record that cannot be used is
    yielded as a :class:`~mathamr_kedro.base.records.Failure` instead. All parts but the
    posts may be missing; a kind of collection says which it has.
    """

    files_of: ClassVar[Mapping[Part, str]] = {}
    """Part to the fields of the configuration that name its files."""

    def __init__(self, root: str | Path, files: Any = None) -> None:
        self.root, self._files = Path(root), files
        self.name = self.root.name
        self.checksums = ChecksumCache()
        """Checksums of raw files; a dataset supplies one that remembers them."""

    def __repr__(self) -> str:
        files = count_nouns(len(self.check_layout()), "file")
        return f"<{type(self).__name__}: {files}, in {self.root}>"

    def list_files(self, part: Part) -> list[Path]:
        """Return the raw files of a part, in order.

        Raises:
            MissingInputError: names the missing part, the place and the remedy.
        """
        kind = self.files_of.get(part)
        return self._find_files(getattr(self._files, kind), kind) if kind else []

    def check_layout(self) -> list[Path]:
        """Return all raw files; refuse a folder that lacks one.

        Raises:
            MissingInputError: names the missing part, the place and the remedy.
        """
        parts: tuple[Part, ...] = get_args(Part)
        return list(dict.fromkeys(f for part in parts for f in self.list_files(part)))

    def checksum(self, *parts: Part) -> str:
        """Return a checksum of the raw files of some parts: names and contents.

        Results depend only on the parts that they are made from: new topics or
        judgments do not change the posts.
        """
        self.check_layout()
        files = dict.fromkeys(file for part in parts for file in self.list_files(part))
        found = [(self._name(file), self.checksums.checksum(file)) for file in files]
        return checksum(*self._settings, *found)

    def count_bytes(self, part: Part) -> int:
        """Return the size of the raw files of a part, for its progress."""
        files = self.list_files(part)
        return sum(file.stat().st_size for file in files if file.exists())

    @abstractmethod
    def posts(self) -> Iterator[RawPost | Failure]:
        """Yield questions, answers and documents."""

    def comments(self) -> Iterator[RawComment | Failure]:
        """Yield comments."""
        return iter(())

    def statements(self) -> Iterator[Statement | Failure]:
        """Yield the records of posts that are statements: theorems, lemmas, ..."""
        return iter(())

    def statement_ids(self) -> Iterator[PostId]:
        """Yield the ids of posts that are statements, not prose between them."""
        for found in self.statements():
            if isinstance(found, Statement) and found.kind != TEXT:
                yield found.post_id

    def statement_links(self) -> Iterator[StatementLink | Failure]:
        """Yield which statements the proof of a statement cites."""
        return iter(())

    def formulas(self) -> Iterator[Formula | Failure]:
        """Yield the formula index; without one, formulas are found only in texts."""
        return iter(())

    def topics(self) -> Iterator[RawTopic | Failure]:
        """Yield the topics of all tasks."""
        return iter(())

    def topic_formulas(self) -> Iterator[Formula | Failure]:
        """Yield the formulas of the topics."""
        return iter(())

    def topic_notes(self) -> TopicNotes:
        """Return what the organisers noted about topics, by topic id."""
        return {}

    def judgments(self) -> Iterator[Judgment | Failure]:
        """Yield the judgments of all tasks."""
        return iter(())

    def pairs(self) -> Iterator[TrainingPair | Failure]:
        """Yield training pairs that separate judgments name."""
        return iter(())

    def keeps_pair(self, pair: TrainingPair) -> bool:
        """Tell whether a pair of posts may be learnt from."""
        return True

    def find_examples(
        self, kinds: Iterable[ExampleFiles]
    ) -> list[tuple[Path, ExampleFiles]]:
        """Return the files of texts to learn from, each with its format.

        Raises:
            MissingInputError: one is not there.
        """
        return [
            (file, k) for k in kinds for file in self._find_files(k.files, "examples")
        ]

    @property
    def _settings(self) -> tuple[str, ...]:
        """Settings that decide how files are read, for the checksum."""
        return ()

    def _name(self, path: Path) -> str:
        """Return the name of a file in records: its path in the folder."""
        inside = path.is_relative_to(self.root)
        return (path.relative_to(self.root) if inside else path).as_posix()

    def _find_files(
        self, patterns: Iterable[str], part: str, may_miss: bool = False
    ) -> list[Path]:
        """Return the files of one part, in order.

        Args:
            patterns: relative to the root or absolute; they may hold ``*``. An empty
                one means that the collection has no such part.
            part: its name in the catalog.
            may_miss: whether a pattern may match nothing.

        Raises:
            MissingInputError: nothing is there.
        """
        found: list[Path] = []
        for pattern in patterns:
            if not pattern:
                continue
            base, wanted = self.root, Path(pattern).expanduser()
            if wanted.is_absolute():  # topics and qrels may be elsewhere
                base, wanted = Path(wanted.anchor), wanted.relative_to(wanted.anchor)
            files = sorted(base.glob(str(wanted)))
            if not files and not may_miss:
                raise MissingInputError(
                    f"Expected {part} at {str(self.root / pattern)!r}; put the file "
                    f"there or change '{part}' of the dataset 'collection' in "
                    "conf/<env>/catalog/ingestion.yml (an empty value: no such part)"
                )
            found += files
        return found
