"""The ARQMath collection: Math Stack Exchange posts, formula index, topics, judgments.

Files and folders are named relative to one root, so that the official download, the
embedded sample and any subset are read by the same code.

The formula index is three families of TSV files with the same rows in the same order::

    latex_representation_v3/1.tsv   id post_id thread_id type comment_id old_visual_id
                                    visual_id issue formula
    slt_representation_v3/1.tsv     the same rows; formula = Presentation MathML
    opt_representation_v3/1.tsv     the same rows; formula = Content MathML

The older v2 files have ``id post_id thread_id type visual_id formula``. Files may be
gzipped, rows are read by the rule of :mod:`mathamr_kedro.trec.tables`. The families are
read in parallel, row by row. Ids are numbers, and the visual index stores them as such.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, TypeVar

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.records import Failure, Formula, Judgment
from mathamr_kedro.corpus.judgments import read_judgments
from mathamr_kedro.corpus.own_files import read_examples
from mathamr_kedro.corpus.raw import (
    Collection,
    ExampleFiles,
    Part,
    RawComment,
    RawPost,
    RawTopic,
    is_number,
    make_failure,
)
from mathamr_kedro.corpus.topics import (
    check_topic_formulas,
    read_topic_formulas,
    read_topics,
)
from mathamr_kedro.corpus.xml_records import read_comments, read_posts
from mathamr_kedro.trec import TopicNotes, read_table, read_topic_notes

_COLUMNS = ("id", "post_id", "type", "visual_id", "formula")
_V3_COLUMNS = ("comment_id", "issue")
# Rows of one family that wait for their twin; more means that the families differ.
_MAX_WAITING = 20_000
T = TypeVar("T")


def find_tables(folders: Mapping[str, Path]) -> list[dict[str, Path]]:
    """Return the files of each table by family, the tables in numeric order.

    Raises:
        MissingInputError: a family or one of its files is missing.
    """
    by_family: dict[str, dict[str, Path]] = {}
    for family, folder in folders.items():
        files = sorted(folder.glob("*.tsv")) + sorted(folder.glob("*.tsv.gz"))
        by_family[family] = {file.name.split(".")[0]: file for file in files}
        if not files:
            raise MissingInputError(
                f"Expected files named 1.tsv, 2.tsv, ... (or .tsv.gz) for the family "
                f"{family!r} in {str(folder)!r}; unpack {family}_representation_v3.zip "
                "there, or drop the family from formula_families in "
                "conf/<env>/catalog/ingestion.yml"
            )
    first = next(iter(by_family.values()), {})  # none: there is no formula index
    for family, tables in by_family.items():
        lacking = sorted(first.keys() ^ tables.keys())
        if lacking:
            raise MissingInputError(
                f"The families differ: table {lacking[0]!r} is not in all of "
                f"{', '.join(folders)} (looked at {str(folders[family])!r}); fetch "
                "the missing file"
            )
    names = sorted(first, key=lambda name: (len(name), name))
    return [{f: by_family[f][name] for f in by_family} for name in names]


class _Line(NamedTuple):
    """One row of a TSV file."""

    number: int
    formula_id: str
    post_id: str
    place: str
    visual_id: str
    formula: str
    comment_id: str
    issue: str


def _read_lines(path: Path) -> Iterator[_Line | Failure]:
    for row in read_table(path, _COLUMNS, _V3_COLUMNS):
        yield row if isinstance(row, Failure) else _Line(row[0], *row[1])


class FormulaJoin:
    """Joins rows of the families; keeps rows until their counterparts are read."""

    def __init__(self, files: Mapping[str, Path]) -> None:
        self._readers = {family: _read_lines(path) for family, path in files.items()}
        self._files = files
        self._first, *self._others = files
        self._waiting: dict[str, dict[str, _Line]] = {f: {} for f in files}
        self._failed: set[str] = set()

    def join(self) -> Iterator[Formula | Failure]:
        """Yield formulas with their representations, in the order of the first file."""
        for line in self._readers[self._first]:
            if isinstance(line, Failure):
                self._failed.add(line.record_id)
                yield line
                continue
            cells = {self._first: line.formula}
            for family in self._others:
                twin, failures = self._find(family, line.formula_id)
                yield from failures
                if twin is None:
                    yield self._lacks(line, family)
                else:
                    cells[family] = twin.formula
            yield _formula(line, cells, self._files[self._first])
        for family in self._others:
            yield from self._rest(family)

    def _find(self, family: str, formula_id: str) -> tuple[_Line | None, list[Failure]]:
        waiting = self._waiting[family]
        failures: list[Failure] = []
        if formula_id in waiting:
            return waiting.pop(formula_id), failures
        for line in self._readers[family]:
            if isinstance(line, Failure):
                failures.append(line._replace(kept=True))
                continue
            if line.formula_id == formula_id:
                return line, failures
            waiting[line.formula_id] = line
            if len(waiting) > _MAX_WAITING:
                raise MalformedInputError(
                    f"{str(self._files[family])!r}, line {line.number}: the family "
                    f"{family!r} has other rows than {self._first!r} (formula "
                    f"{formula_id!r} was not found among {_MAX_WAITING:,} rows); fetch "
                    "both files from the same release"
                )
        return None, failures

    def _lacks(self, line: _Line, family: str) -> Failure:
        return make_failure(
            self._files[family].name,
            f"line {line.number} of {self._files[self._first].name}",
            f"no_{family}_row",
            f"formula {line.formula_id} has no row in the family {family!r}",
            line.formula_id,
            kept=True,
        )

    def _rest(self, family: str) -> Iterator[Failure]:
        unread = (x for x in self._readers[family] if not isinstance(x, Failure))
        for line in (*self._waiting[family].values(), *unread):
            if line.formula_id in self._failed:  # its row is a failure already
                continue
            yield make_failure(
                self._files[family].name,
                f"line {line.number}",
                f"no_{self._first}_row",
                f"the row is only in the family {family!r}; it is not used",
                line.formula_id,
            )


def _formula(
    line: _Line, representations: Mapping[str, str], path: Path
) -> Formula | Failure:
    for column, number in (("id", line.formula_id), ("visual_id", line.visual_id)):
        if not is_number(number):
            return make_failure(
                path.name,
                f"line {line.number}",
                f"bad_{column}",
                f"expected a number in the column {column!r} (got {number!r})",
                line.formula_id,
            )
    return Formula(
        formula_id=line.formula_id,
        post_id=line.post_id,
        visual_id=line.visual_id,
        place=line.place,
        comment_id=line.comment_id or None,
        issue=line.issue,
        latex=representations.get("latex", ""),
        presentation=representations.get("slt", ""),
        content=representations.get("opt", ""),
    )


@dataclass(frozen=True)
class ArqmathFiles:
    """Where the parts are, relative to the root or absolute; patterns may hold ``*``.

    An empty value means that the collection has no such part.
    """

    posts: str
    comments: str = ""
    formulas: Mapping[str, str] = field(default_factory=dict)
    """Family (``latex``, ``slt``, ``opt``) to its folder."""
    topics: tuple[str, ...] = ()
    topic_formulas: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Family to its TSV files; each edition of the topics must have its own. Empty: the
    only the LaTeX of the topics is read."""
    topic_notes: tuple[str, ...] = ()
    qrels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Task (``task1``, ``task2``) to its files."""
    examples: tuple[ExampleFiles, ...] = ()
    """Texts to learn from: they come after the posts, and no search returns them."""


_PUBLISHED = "https://www.cs.rit.edu/~dprl/ARQMath/arqmath-resources.html"


class ArqmathCollection(Collection):
    """Lazy reader of everything in an ARQMath folder."""

    def __init__(self, root: str | Path, files: ArqmathFiles) -> None:
        super().__init__(root, files)
        self._are_editions_whole = False

    def check_layout(self) -> list[Path]:
        """Return all raw files.

        Raises:
            MissingInputError: names the missing part, the place and the remedy.
        """
        if not self.root.is_dir():
            raise MissingInputError(
                f"The collection is missing: no folder {str(self.root)!r}. ARQMath is "
                f"published at {_PUBLISHED} (docs/data.md); name its folder by "
                "MATHAMR_ARQMATH (--env arqmath, benchmark), a subset's by "
                "MATHAMR_COLLECTION (--env pool), any by --params raw_root=FOLDER. "
                "What runs without it is the embedded sample: `kedro run --env demo`"
            )
        files = super().check_layout()
        self._check_editions()
        return files

    def _check_editions(self) -> None:
        """Check that each edition of the topics has one set of formula files."""
        patterns = {f: p for f, p in self._files.topic_formulas.items() if any(p)}
        if not patterns or self._are_editions_whole:
            return
        topics = self._find_files(self._files.topics, "topics")
        formulas = self._find_topic_formulas()
        # A broken file is reported by the stage that reads it.
        with suppress(MalformedInputError):
            check_topic_formulas(topics, formulas, patterns)
        self._are_editions_whole = True

    def _find_topic_formulas(self) -> dict[str, list[Path]]:
        """Return family to files; missing ones are reported by edition."""
        return {
            family: self._find_files(patterns, "topic_formulas", may_miss=True)
            for family, patterns in self._files.topic_formulas.items()
            if any(patterns)
        }

    def list_files(self, part: Part) -> list[Path]:
        """Return the raw files of a part, in order."""
        if part == "formulas":
            return [f for table in self._find_tables() for f in table.values()]
        if part == "pairs":  # are those of threads
            return []
        wanted = getattr(self._files, part)
        if part == "topic_formulas":
            return [f for files in self._find_topic_formulas().values() for f in files]
        if part == "posts":  # examples are posts to everything behind the reader
            examples = [file for file, _ in self.find_examples(self._files.examples)]
            return [*self._find_files((wanted,), part), *examples]
        if isinstance(wanted, str):
            wanted = (wanted,)
        elif isinstance(wanted, Mapping):
            wanted = [pattern for patterns in wanted.values() for pattern in patterns]
        return self._find_files(wanted, part)

    def posts(self) -> Iterator[RawPost | Failure]:
        """Yield questions and answers; rows of other types are failures."""
        yield from self._read("posts", read_posts)
        for path, kind in self.find_examples(self._files.examples):
            yield from read_examples(path, self._name(path), kind.markup, kind.titles)

    def comments(self) -> Iterator[RawComment | Failure]:
        """Yield the comments."""
        return self._read("comments", read_comments)

    def _read(
        self, part: Part, read: Callable[[Path, str], Iterator[T | Failure]]
    ) -> Iterator[T | Failure]:
        for path in self._find_files((getattr(self._files, part),), part):
            yield from read(path, self._name(path))

    def formulas(self) -> Iterator[Formula | Failure]:
        """Yield the formula index, table by table."""
        for files in self._find_tables():
            yield from FormulaJoin(files).join()

    def topics(self) -> Iterator[RawTopic | Failure]:
        """Yield the topics of both tasks."""
        for path in self._find_files(self._files.topics, "topics"):
            yield from read_topics(path, self._name(path))

    def topic_formulas(self) -> Iterator[Formula | Failure]:
        """Yield the formulas of the topics, their families joined by id and topic."""
        yield from read_topic_formulas(self._find_topic_formulas())

    def topic_notes(self) -> TopicNotes:
        """Return category, difficulty and dependency by topic id."""
        notes: TopicNotes = {}
        for path in self._find_files(self._files.topic_notes, "topic_notes"):
            notes |= read_topic_notes(path)
        return notes

    def judgments(self) -> Iterator[Judgment | Failure]:
        """Yield the judgments of all tasks."""
        for task, patterns in self._files.qrels.items():
            for path in self._find_files(patterns, "qrels"):
                yield from read_judgments(path, self._name(path), task)

    def _find_tables(self) -> list[dict[str, Path]]:
        folders = self._files.formulas.items()
        return find_tables({family: self.root / folder for family, folder in folders})
