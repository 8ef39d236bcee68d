"""The ARQMath collection: Math Stack Exchange posts, formula index, topics, judgments.

Files and folders are named relative to one root, so that the official download, the
embedded sample and any subset are read by the same code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.records import Failure, Formula, Judgment
from mathamr_kedro.corpus.dump_records import read_comments, read_posts
from mathamr_kedro.corpus.formula_tables import FormulaTables
from mathamr_kedro.corpus.judgments import read_judgments
from mathamr_kedro.corpus.own_files import read_examples
from mathamr_kedro.corpus.raw import (
    Collection,
    ExampleFiles,
    Part,
    RawComment,
    RawPost,
    RawTopic,
)
from mathamr_kedro.corpus.topics import (
    check_topic_formulas,
    read_topic_formulas,
    read_topics,
)
from mathamr_kedro.trec import TopicNotes, read_topic_notes

T = TypeVar("T")


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
    """They come after the posts, and are never returned by a search."""


_PUBLISHED = "https://www.cs.rit.edu/~dprl/ARQMath/arqmath-resources.html"


class ArqmathCollection(Collection):
    """Lazy reader of everything in an ARQMath folder."""

    def __init__(self, root: str | Path, files: ArqmathFiles) -> None:
        super().__init__(root)
        self._files = files
        self._are_editions_whole = False

    def check_layout(self) -> list[Path]:
        """Return all raw files; refuse a folder that lacks one.

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
        """Check that each edition of the topics has its formula files, once."""
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
            return self._formula_tables().files
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
        return self._formula_tables().read()

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

    def _formula_tables(self) -> FormulaTables:
        folders = self._files.formulas.items()
        return FormulaTables({family: self.root / folder for family, folder in folders})
