"""Judgments of a collection: read by task, and checked against its ids.

Three numberings of formulas are easily confused: formula ids (instances), visual ids of
the index, and the small visual numbering of the 2020 lab, which the index does not know
and which would silently pair wrong formulas.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from pathlib import Path

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.records import Failure, Judgment
from mathamr_kedro.corpus.formula_index import VisualIndex
from mathamr_kedro.corpus.raw import is_number, make_failure
from mathamr_kedro.trec import ARQMATH, NTCIR12, iter_judgments

_TOPIC_PREFIX = {"task1": "A.", "task2": "B.", "task2_formulas": "B."}
# Chance makes a few ids match in the wrong space.
_CLEAR_MATCHES = 20
_CLEARLY_MORE = 3
# The 2020 numbering fills 1..n almost without gaps; visual ids spread over millions.
_DENSE = 0.5
_DENSE_FROM = 500


def read_judgments(path: Path, source: str, task: str) -> Iterator[Judgment | Failure]:
    """Yield the judgments of one file; other lines are failures.

    See :mod:`mathamr_kedro.trec.qrels` for the rule; the grades are those of ARQMath,
    or of NTCIR-12 for the task ``ntcir12``.

    Raises:
        MalformedInputError: the file judges topics of another task.
    """
    scale = NTCIR12 if task == "ntcir12" else ARQMATH
    prefix = _TOPIC_PREFIX.get(task, "")
    for found in iter_judgments(path, task, source, scale, prefix):
        if isinstance(found, Failure) and found.reason == "other_topic":
            raise MalformedInputError(
                f"{str(path)!r}, {found.place}: topic {found.record_id!r} in a file "
                f"listed under {task!r}, whose topics start with {prefix!r}; list the "
                "file under the right task in 'qrels' of "
                "conf/<env>/catalog/ingestion.yml"
            )
        yield found


def unknown_posts(
    judgments: Iterable[Judgment], known: Set[str], task: str
) -> Iterator[Failure]:
    """Yield a note for each judgment whose document is not in the collection."""
    for judgment in judgments:
        if judgment.task == task and judgment.doc_id not in known:
            yield make_failure(
                judgment.source,
                f"topic {judgment.topic_id}",
                "judged_document_unknown",
                f"judged {judgment.grade} for {judgment.topic_id}, but not here",
                judgment.doc_id,
                kept=True,
            )


def check_formula_ids(judgments: Iterable[Judgment], index: VisualIndex) -> None:
    """Reject Task 2 judgments that do not use visual ids of the index.

    Raises:
        MalformedInputError: names the file, what its ids look like, and the remedy.
    """
    by_source: dict[tuple[str, str], set[str]] = defaultdict(set)
    for judgment in judgments:
        if judgment.task in ("task2", "task2_formulas"):
            by_source[judgment.source, judgment.task].add(judgment.doc_id)
    for (source, task), ids in by_source.items():
        numbers = [int(i) for i in ids if is_number(i)]
        as_visual = index.count("visual_id", ids)
        as_formula = index.count("id", ids)
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
                "'qrels' of conf/<env>/catalog/ingestion.yml"
            )
