"""Read and write qrels: four columns ``topic 0 document grade``.

Grades are whole numbers, also written ``2.0``. ARQMath's assessors could answer 5
(the system failed) or 6 (don't know), and TREC writes -1: such documents are unjudged.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.metrics.runs import Qrels
from mathamr_kedro.metrics.text_files import (
    Columns,
    Names,
    open_to_replace,
    read_columns,
)
from mathamr_kedro.types import FormulaId, Grade, TopicId, VisualId

_NO_JUDGMENT = {-1, 5, 6}


def read_qrels(path: Path | str, highest_grade: int = 3, names: Names = "nfc") -> Qrels:
    """Read a qrels file, plain or gzip, with tabs or blanks between columns.

    Args:
        path: the file.
        highest_grade: 3 in ARQMath, 4 in NTCIR-12.
        names: how to read names beyond ASCII.

    Raises:
        MissingInputError: there is no such file.
        MalformedInputError: a line cannot be read, a grade is out of range, or a
            document has two different grades for one topic.
    """
    columns = read_columns(Path(path), names=names)
    if not len(columns):
        raise MalformedInputError(
            f"No judgments in {columns.source}; the file is empty"
        )
    if columns.width != 4:
        raise MalformedInputError(
            f"Expected qrels with the 4 columns 'topic 0 document grade' (got "
            f"{columns.width}: {columns.row(0)!r}) ({columns.place(0)})"
        )
    topics, _, ids, cells = columns.cells
    meaning = {cell: _read_grade(cell, columns) for cell in set(cells)}
    grades: dict[TopicId, dict[str, Grade]] = {}
    num_unjudged = 0
    for place, (topic, doc_id, cell) in enumerate(zip(topics, ids, cells, strict=True)):
        grade = meaning[cell]
        if grade in _NO_JUDGMENT:
            num_unjudged += 1
            continue
        if not 0 <= grade <= highest_grade:
            raise MalformedInputError(
                f"Expected a grade from 0 to {highest_grade} (got {cell!r}) "
                f"({columns.place(place)})"
            )
        if grades.setdefault(topic, {}).setdefault(doc_id, grade) != grade:
            raise MalformedInputError(
                f"Two grades for document {doc_id!r} of topic {topic!r}: "
                f"{grades[topic][doc_id]} and {grade} ({columns.place(place)})"
            )
    return Qrels(grades, columns.source, num_unjudged)


def write_qrels(path: Path | str, qrels: Qrels) -> None:
    """Write qrels with tabs; compressed where the name ends in ``.gz``."""
    with open_to_replace(Path(path)) as file:
        for topic, by_id in qrels.grades.items():
            file.writelines(f"{topic}\t0\t{i}\t{grade}\n" for i, grade in by_id.items())


def judge_visual_ids(
    qrels: Qrels, visual_ids: Mapping[FormulaId, VisualId]
) -> tuple[Qrels, tuple[FormulaId, ...]]:
    """Turn judgments of formula instances into judgments of visual ids.

    A visual id has the highest grade among its judged instances.

    Returns:
        The new qrels, and the judged formulas that have no visual id.

    >>> old = Qrels({"B.1": {"f1": 1, "f2": 3, "f3": 0}})
    >>> judge_visual_ids(old, {"f1": "v1", "f2": "v1", "f3": "v2"})[0].grades
    {'B.1': {'v1': 3, 'v2': 0}}
    """
    unknown: list[FormulaId] = []
    grades: dict[TopicId, dict[VisualId, Grade]] = {}
    for topic, by_id in qrels.grades.items():
        best = grades.setdefault(topic, {})
        for formula_id, grade in by_id.items():
            visual_id = visual_ids.get(formula_id)
            if visual_id is None:
                unknown.append(formula_id)
            else:
                best[visual_id] = max(grade, best.get(visual_id, 0))
    return Qrels(grades, qrels.source, qrels.num_unjudged_lines), tuple(unknown)


def _read_grade(cell: str, columns: Columns) -> Grade:
    try:
        value = float(cell)
        if value == int(value):
            return int(value)
    except (ValueError, OverflowError):
        pass
    raise MalformedInputError(
        f"Expected a whole number as grade in column 4 (got {cell!r}) "
        f"({columns.place(columns.cells[3].index(cell))})"
    )
