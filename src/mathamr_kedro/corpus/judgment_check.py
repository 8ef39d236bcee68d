"""Do the judgments speak of this collection? Catches mixed-up id spaces.

Three numberings of formulas are easily confused: formula ids (instances), visual ids of
the index, and the small visual numbering of the 2020 lab, which the index does not know
and which would silently pair wrong formulas.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Set

from mathamr_kedro.corpus.visual_index import VisualIndex
from mathamr_kedro.errors import MalformedInputError
from mathamr_kedro.records import Failure, Judgment

# Chance alone makes a few ids match in the wrong space.
_CLEAR_MATCHES = 20
_CLEARLY_MORE = 3
# The 2020 numbering fills 1..n almost without gaps; visual ids spread over millions.
_DENSE = 0.5
_DENSE_FROM = 500


def unknown_posts(
    judgments: Iterable[Judgment], known: Set[str], task: str
) -> Iterator[Failure]:
    """Yield a note for each judgment whose document is not in the collection."""
    for judgment in judgments:
        if judgment.task == task and judgment.doc_id not in known:
            yield Failure(
                "ingestion",
                judgment.source,
                f"topic {judgment.topic_id}",
                judgment.doc_id,
                "judged_document_unknown",
                f"judged {judgment.grade} for {judgment.topic_id}, but not here",
                kept=True,
            )


def check_formula_ids(judgments: Iterable[Judgment], index: VisualIndex) -> None:
    """Refuse Task 2 judgments that are not written in visual ids of the index.

    Raises:
        MalformedInputError: names the file, what its ids look like, and the remedy.
    """
    by_source: dict[tuple[str, str], set[str]] = defaultdict(set)
    for judgment in judgments:
        if judgment.task in ("task2", "task2_formulas"):
            by_source[judgment.source, judgment.task].add(judgment.doc_id)
    for (source, task), ids in by_source.items():
        numbers = [int(i) for i in ids if i.isdigit()]
        as_visual = index.contains_visual_ids(ids)
        as_formula = index.contains_formula_ids(ids)
        if len(numbers) >= _DENSE_FROM and len(numbers) / max(numbers) > _DENSE:
            raise MalformedInputError(
                f"{source!r}: its {len(numbers):,} ids fill 1 to {max(numbers):,}: the "
                "lab's own numbering of 2020, which no formula index knows; use the "
                "judgments re-keyed to v3 visual ids"
            )
        wrong, right = as_formula, as_visual
        if task == "task2_formulas":
            wrong, right = right, wrong
        if wrong >= _CLEAR_MATCHES and wrong > _CLEARLY_MORE * right:
            seems, other = (
                ("formula ids", "task2_formulas")
                if task == "task2"
                else ("visual ids", "task2")
            )
            raise MalformedInputError(
                f"{source!r}: {wrong} of its {len(ids)} ids are {seems} of the index, "
                f"only {right} are what {task!r} expects; list it under {other!r} in "
                "'qrels' of conf/<env>/catalog.yml"
            )


class FirstJudgments:
    """Keeps the first judgment of a document for a topic; reports the others."""

    def __init__(self) -> None:
        self._grades: dict[tuple[str, str, str], int] = {}

    def __call__(self, judgment: Judgment) -> tuple[Judgment | None, list[Failure]]:
        """Pass a judgment on, unless the same file judged the document before."""
        key = (judgment.source, judgment.topic_id, judgment.doc_id)
        if key not in self._grades:
            self._grades[key] = judgment.grade
            return judgment, []
        first = self._grades[key]
        reason = (
            "repeated_judgment" if first == judgment.grade else "conflicting_judgment"
        )
        detail = (
            f"judged {first} before and {judgment.grade} now; the first one is kept"
        )
        failure = Failure(
            "ingestion",
            judgment.source,
            f"topic {judgment.topic_id}",
            judgment.doc_id,
            reason,
            detail,
        )
        return None, [failure]
