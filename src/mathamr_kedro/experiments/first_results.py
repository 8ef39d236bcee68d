"""The first results of every system and topic: what a cell keeps of its runs.

::

    task  system        topic_id  rank  document  formula_id  post_id  score
       1  mathamr_plus  A.301        1  1142010               1142010  0.928
       2  mathamr_plus  B.301        1  5071      28170       901526   1.000
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import Judgment
from mathamr_kedro.base.types import FormulaId, PostId, TopicId
from mathamr_kedro.trec import Run

KEPT = 10
"""Results of a topic in a cell: as many as P'@10 looks at."""


class _FirstResult(NamedTuple):
    """One result of a system."""

    task: int
    system: str
    topic_id: TopicId
    rank: int
    document: str
    """What is judged: a post (Task 1), or a visual id (Task 2)."""
    formula_id: FormulaId
    """Its best instance; empty in Task 1."""
    post_id: PostId
    score: float


_COLUMNS = ("i1", "str", "str", "i4", "str", "str", "str", "f8")
_SCHEMA = pa.schema(
    [
        (name, pa.type_for_alias(kind))
        for name, kind in zip(_FirstResult._fields, _COLUMNS, strict=True)
    ]
)


def tabulate_results(
    runs: Iterable[Run], judgments: Iterable[Judgment] = ()
) -> pa.Table:
    """Return the first :data:`KEPT` results of every system and topic as a table.

    Further down, as many of those that were judged follow.
    """
    judged: dict[TopicId, set[str]] = {}
    for judgment in judgments:
        judged.setdefault(judgment.topic_id, set()).add(judgment.doc_id)
    rows = [
        row._asdict()
        for run in runs
        for topic, hits in run.lists.items()
        for row in _list_results(run, topic, hits, judged.get(topic, set()))
    ]
    return pa.Table.from_pylist(rows, schema=_SCHEMA)


def read_results(
    table: pa.Table,
    system: str,
    topic_id: TopicId,
    top: int,
    judged: Container[str] | None = None,
) -> list[_FirstResult]:
    """Return the first results of a system for a topic, best first.

    Args:
        table: of :func:`tabulate_results`.
        system: whose.
        topic_id: what was asked.
        top: how many.
        judged: only these documents.
    """
    is_asked = pc.and_(
        pc.equal(table["system"], system), pc.equal(table["topic_id"], topic_id)
    )
    found = [_FirstResult(**row) for row in table.filter(is_asked).to_pylist()]
    shown = [r for r in found if judged is None or r.document in judged]
    return sorted(shown, key=lambda result: result.rank)[:top]


def _list_results(
    run: Run, topic: TopicId, hits: Hits, judged: set[str]
) -> Iterable[_FirstResult]:
    if isinstance(hits, FormulaHits):
        # The lab counts formulas that look the same once.
        first = hits.first_instances()
        keys = list(zip(first.visual_ids, first.ids, first.post_ids, strict=True))
        scores = first.scores
    else:
        keys, scores = [(key, "", key) for key in hits.ids], hits.scores
    left = KEPT
    for rank, (key, score) in enumerate(zip(keys, scores.tolist(), strict=True), 1):
        is_judged = not judged.isdisjoint(key[:2])  # by visual id, or by formula
        if rank <= KEPT or (is_judged and left > 0):
            left -= is_judged
            yield _FirstResult(run.task, run.name, topic, rank, *key, score)
