"""Qrels, the judgments of assessors: four columns ``topic 0 document grade``.

A file that begins with the header of BEIR has three: ``query-id corpus-id score``.
One rule for every reader:

- Columns are separated by tabs, or by tabs and blanks. Empty lines do not count.
- A grade is a whole number, also written ``2.0``. The grades depend on the test
collection and are given by a :class:`GradeScale`:

  ===========  ======  =====================================================
  scale        grades  no judgment
  ===========  ======  =====================================================
  ``ARQMATH``  0 to 3  5 (the system failed), 6 (don't know), -1 (as in TREC)
  ``NTCIR12``  0 to 4  -1
  ``TREC``     0, 1 .. -1, -2
  ===========  ======  =====================================================

- A line that states that there is no judgment leaves its document unjudged.
- A document has one grade for a topic. The same grade again is a repeat, another grade
  is a conflict, and the first one counts.

:func:`iter_judgments` (ingestion) yields each line that is no judgment as a failure
with its file and line; :func:`read_qrels` (scoring) counts lines without a judgment,
ignores repeats and rejects all others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.records import Failure, Judgment
from mathamr_kedro.base.types import FormulaId, Grade, TopicId, VisualId
from mathamr_kedro.trec.files import (
    Columns,
    open_binary,
    refuse_damaged_gzip,
)


class GradeScale(NamedTuple):
    """The grades of a test collection."""

    highest: Grade
    """Grades are 0, 1, ... to this."""
    unjudged: frozenset[int] = frozenset({-1})
    """Numbers that state that there is no judgment."""

    def read(self, cell: str) -> Grade | tuple[str, str]:
        """Read ``2`` or ``2.0``; return reason and detail if it is not a grade.

        >>> GradeScale(3).read("2.0"), GradeScale(3).read("7")[0]
        (2, 'bad_grade')
        """
        try:
            value = float(cell)
            if value == int(value):
                grade = int(value)
                if grade in self.unjudged:
                    return "no_judgment", f"{cell!r} states that there is no judgment"
                if 0 <= grade <= self.highest:
                    return grade
        except (ValueError, OverflowError):
            pass
        return "bad_grade", f"Expected a grade from 0 to {self.highest} (got {cell!r})"


ARQMATH = GradeScale(3, frozenset({-1, 5, 6}))
NTCIR12 = GradeScale(4)  # the sum of two assessors' grades of 0 to 2
TREC = GradeScale(1000, frozenset({-1, -2}))  # whatever a collection has
_BEIR = ("query-id", "corpus-id", "score")


@dataclass(frozen=True)
class Qrels:
    """Grades by topic and document."""

    grades: Mapping[TopicId, Mapping[str, Grade]]
    source: str = ""
    """File they came from, for messages."""
    num_unjudged_lines: int = 0
    """Lines that state that there is no judgment (system failure, don't know)."""
    unjudged_topics: tuple[TopicId, ...] = ()
    """Topics that have only such lines."""

    @property
    def num_judgments(self) -> int:
        """Number of judged pairs of topic and document."""
        return sum(map(len, self.grades.values()))

    def judge_visual_ids(
        self, visual_ids: Mapping[FormulaId, VisualId]
    ) -> tuple[Qrels, tuple[FormulaId, ...]]:
        """Turn judgments of formula instances into judgments of visual ids.

        A visual id has the highest grade among its judged instances.

        Returns:
            The new qrels, and the judged formulas that have no visual id.

        >>> old = Qrels({"B.1": {"f1": 1, "f2": 3, "f3": 0}})
        >>> old.judge_visual_ids({"f1": "v1", "f2": "v1", "f3": "v2"})[0].grades
        {'B.1': {'v1': 3, 'v2': 0}}
        """
        unknown: list[FormulaId] = []
        grades: dict[TopicId, dict[VisualId, Grade]] = {}
        for topic, by_id in self.grades.items():
            best = grades.setdefault(topic, {})
            for formula_id, grade in by_id.items():
                visual_id = visual_ids.get(formula_id)
                if visual_id is None:
                    unknown.append(formula_id)
                else:
                    best[visual_id] = max(grade, best.get(visual_id, 0))
        return Qrels(grades, self.source, self.num_unjudged_lines), tuple(unknown)


def read_qrels(path: Path | str, scale: GradeScale = ARQMATH) -> Qrels:
    """Read the judgments of a file, plain or gzip.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: a line cannot be read, a grade is out of range, or a
            document has two different grades for one topic.
    """
    lines = _read_lines(Path(path), scale)
    unjudged = 0
    for failure in lines.failures.values():
        if failure.reason == "no_judgment":
            unjudged += 1
        elif failure.reason != "repeated_judgment":
            raise MalformedInputError(
                f"{failure.detail} ({failure.source}, {failure.place})"
            )
    source = lines.columns.source
    if not lines.grades:
        why = f"{unjudged} lines say that there is none" if unjudged else "it is empty"
        raise MalformedInputError(f"No judgments in {source}: {why}")
    topics = set(lines.columns.cells[0]) - lines.grades.keys()
    return Qrels(lines.grades, source, unjudged, tuple(sorted(topics)))


def iter_judgments(
    path: Path, task: str, source: str, scale: GradeScale, topic_prefix: str = ""
) -> Iterator[Judgment | Failure]:
    """Yield the judgments of a file, and failures for its other lines, in order.

    Args:
        path: the file.
        task: what the judgments are about, see :class:`Judgment`.
        source: name of the file in records.
        scale: the grades of the test collection.
        topic_prefix: start of the topics of this task; others are failures.
    """
    lines = _read_lines(path, scale, topic_prefix=topic_prefix)
    topics, *_, documents, _ = lines.columns.cells
    rows = zip(topics, documents, strict=True)
    judged = dict(zip(lines.columns.line_numbers, rows, strict=True))
    for number in sorted({*judged, *lines.failures}):
        if number in lines.failures:
            yield lines.failures[number]._replace(source=source)
        else:
            topic, document = judged[number]
            grade = lines.grades[topic][document]
            yield Judgment(topic, document, grade, task, source)


class _Lines(NamedTuple):
    """What a file says: the first grade of each document, and the other lines."""

    columns: Columns
    grades: dict[TopicId, dict[str, Grade]]
    failures: dict[int, Failure]
    """By line number, in order."""


def _read_lines(path: Path, scale: GradeScale, topic_prefix: str = "") -> _Lines:
    columns = _split_columns(path)
    topics, *_, documents, cells = columns.cells
    meaning = {cell: scale.read(cell) for cell in set(cells)}
    grades: dict[TopicId, dict[str, Grade]] = {}
    problems = {
        number: (" ".join(row)[:80], "bad_judgment", _describe_width(row, columns))
        for number, row in columns.skipped
    }
    lines = zip(columns.line_numbers, topics, documents, cells, strict=True)
    for number, topic, document, cell in lines:
        grade = meaning[cell]
        if isinstance(grade, tuple):
            problems[number] = (document, *grade)
            continue
        if not topic.startswith(topic_prefix):
            detail = f"Expected a topic {topic_prefix}x (got {topic!r})"
            problems[number] = (topic, "other_topic", detail)
            continue
        by_id = grades.setdefault(topic, {})
        if document in by_id:
            problems[number] = (document, *_compare(topic, document, by_id, grade))
        else:
            by_id[document] = grade
    failures = {
        number: Failure("ingestion", columns.source, f"line {number}", *problem)
        for number, problem in sorted(problems.items())
    }
    return _Lines(columns, grades, failures)


def _split_columns(path: Path) -> Columns:
    """Split a file of TREC's four columns, or of BEIR's three behind their header."""
    with open_binary(path) as stream, refuse_damaged_gzip(path):
        first = stream.readline(200).decode("utf-8-sig", "replace")
    if tuple(first.lower().split()) != _BEIR:
        return Columns.read(path, bad_lines="skip", width=4)
    found = Columns.read(path, bad_lines="skip", width=len(_BEIR))
    cells = [column[1:] for column in found.cells]
    return replace(found, cells=cells, line_numbers=found.line_numbers[1:])


def _compare(
    topic: TopicId, document: str, known: Mapping[str, Grade], grade: Grade
) -> tuple[str, str]:
    first = known[document]
    name = f"document {document!r} of topic {topic!r}"
    if first == grade:
        return "repeated_judgment", f"{name} has the grade {grade} twice"
    return "conflicting_judgment", f"Two grades for {name}: {first} and {grade}"


def _describe_width(row: tuple[str, ...], columns: Columns) -> str:
    names = "topic 0 document grade" if columns.width != len(_BEIR) else " ".join(_BEIR)
    return f"Expected the {columns.width} columns {names!r} (got {len(row)}: {row!r})"
