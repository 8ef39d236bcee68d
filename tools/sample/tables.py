"""The tab-separated tables of the sample: formula index, topic formulas, judgments."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tools.sample.mathml import Cells
from tools.sample.rows import Collection, SampleFormula
from tools.sample.visual_ids import hash_appearance

FAMILIES = {"latex": "Latex", "slt": "SLT", "opt": "OPT"}
"""The three representations, and how the names of topic files write them."""
_INDEX_COLUMNS = (
    "id", "post_id", "thread_id", "type", "comment_id", "old_visual_id", "visual_id",
    "issue", "formula",
)  # fmt: skip
_TOPIC_COLUMNS = ("id", "topic_id", "thread_id", "type", "formula")
_INFORMATION_COLUMNS = (
    "Topic", "#Answers", "HM", "HML", "H", "M", "L", "N", "Dependency", "Difficulty",
    "Category",
)  # fmt: skip


def formula_tables(
    collection: Collection, cells: Mapping[str, Cells], visual_ids: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the two parts of the v3 formula index, for each family."""
    parts = _halves(collection.formulas)
    return {
        family: [
            _table(
                _INDEX_COLUMNS,
                (
                    [*_index_columns(row, visual_ids), _cell(row.latex, family, cells)]
                    for row in part
                ),
            )
            for part in parts
        ]
        for family in FAMILIES
    }


def _halves(formulas: Sequence[SampleFormula]) -> list[Sequence[SampleFormula]]:
    """Cut the index in two where a new post begins."""
    cut = len(formulas) // 2
    while (
        0 < cut < len(formulas) and formulas[cut].post_id == formulas[cut - 1].post_id
    ):
        cut += 1
    return [formulas[:cut], formulas[cut:]]


def _index_columns(row: SampleFormula, visual_ids: Mapping[str, str]) -> list[str]:
    visual_id = visual_ids[row.latex]
    # Before it was corrected, a visual id went only by the LaTeX.
    old = str(hash_appearance(f"latex {row.latex}")) if "v" in row.issue else visual_id
    comment_id = "" if row.comment_id is None else str(row.comment_id)
    return [
        row.formula_id, str(row.post_id), str(row.thread_id), row.place, comment_id,
        old, visual_id, row.issue,
    ]  # fmt: skip


def topic_formula_tables(
    collection: Collection, cells: Mapping[str, Cells]
) -> dict[str, str]:
    """Return the formulas of the topics, for each family."""
    return {
        family: _table(
            _TOPIC_COLUMNS,
            (
                [
                    row.formula_id, f"A.{row.post_id}", str(row.thread_id), row.place,
                    _cell(row.latex, family, cells),
                ]
                for row in collection.topic_formulas
            ),
        )
        for family in FAMILIES
    }  # fmt: skip


def topic_information(collection: Collection) -> str:
    """Return what kind of question each Task 1 topic is, and how it was judged."""
    rows = []
    for topic in collection.topics:
        counts = Counter(topic.source.grades.values())
        high, medium, low, nothing = (counts[grade] for grade in (3, 2, 1, 0))
        sums = (high + medium, high + medium + low, high, medium, low, nothing)
        rows.append([
            f"A.{topic.number}", str(counts.total()), *map(str, sums),
            topic.source.dependency, topic.source.difficulty, topic.source.category,
        ])  # fmt: skip
    return _table(_INFORMATION_COLUMNS, rows, dialect="excel")


def judgment_tables(
    collection: Collection, visual_ids: Mapping[str, str]
) -> tuple[str, str]:
    """Return the qrels of Task 1 (post ids) and Task 2 (visual ids).

    A visual id takes the highest grade among its spellings, as in ARQMath.
    """
    task1: list[list[str]] = []
    task2: list[list[str]] = []
    for topic in collection.topics:
        posts = {
            collection.answer_ids[key]: grade
            for key, grade in topic.source.grades.items()
        }
        task1 += [
            [f"A.{topic.number}", "0", str(post_id), str(grade)]
            for post_id, grade in sorted(posts.items())
        ]
        grades: dict[str, int] = {}
        for latex, grade in topic.formula_grades:
            visual_id = visual_ids[latex]
            grades[visual_id] = max(grade, grades.get(visual_id, 0))
        task2 += [
            [f"B.{topic.number}", "0", visual_id, str(grade)]
            for visual_id, grade in sorted(grades.items())
        ]
    return _table((), task1), _table((), task2)


def _cell(latex: str, family: str, cells: Mapping[str, Cells]) -> str:
    return latex if family == "latex" else str(getattr(cells[latex], family))


def _table(
    header: Sequence[str], rows: Iterable[Sequence[str]], dialect: str = "excel-tab"
) -> str:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, dialect=dialect, lineterminator="\n")
    if header:
        writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()
