"""Judgments (qrels): ``topic  0  document  grade``, one per line."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

from mathamr_kedro.corpus.xml_rows import open_binary
from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.records import Failure, Judgment

_TOPIC_PREFIX = {"task1": "A.", "task2": "B.", "task2_formulas": "B."}
_MAX_GRADE = 4  # NTCIR-12 adds two assessors' grades of 0 to 2


def read_judgments(path: Path, source: str, task: str) -> Iterator[Judgment | Failure]:
    """Yield the judgments of one file; a line that is none is a failure.

    Raises:
        MalformedInputError: the file judges topics of another task.
    """
    with open_binary(path) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape")
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _judgment(line.split(), number, source, task, path)


def _judgment(
    cells: list[str], number: int, source: str, task: str, path: Path
) -> Judgment | Failure:
    place = f"line {number}"
    if len(cells) != 4:
        detail = f"expected 'topic 0 document grade', got {len(cells)} columns"
        return Failure(
            "ingestion", source, place, " ".join(cells)[:80], "bad_judgment", detail
        )
    topic, _, document, grade_text = cells
    prefix = _TOPIC_PREFIX.get(task, "")
    if not topic.startswith(prefix):
        raise MalformedInputError(
            f"{str(path)!r}, line {number}: topic {topic!r} in a file listed under "
            f"{task!r}, whose topics start with {prefix!r}; list the file under the "
            "right task in 'qrels' of conf/<env>/catalog.yml"
        )
    grade = _grade(grade_text)
    if grade is None:
        detail = f"expected a grade from 0 to {_MAX_GRADE}, got {grade_text!r}"
        return Failure("ingestion", source, place, document, "bad_grade", detail)
    return Judgment(topic, document, grade, task, source)


def _grade(text: str) -> int | None:
    """Read ``2`` or ``2.0``."""
    try:
        value = float(text)
    except ValueError:
        return None
    is_grade = value.is_integer() and 0 <= value <= _MAX_GRADE
    return int(value) if is_grade else None
