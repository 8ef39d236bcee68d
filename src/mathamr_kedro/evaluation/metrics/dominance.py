"""Scores of topics whose formulas outweigh their words (MaRF, Tables 3 and 4).

::

    share of formulas in the question    topics   nDCG'  MAP'  P'@10     Table 3
    all                                      98    ...
    >50 %                                    31    ...

    share of formulas in the answer      topics   recall@1000            Table 4
    >50 %                                    80    ...

A topic counts in the second table if it has a relevant answer with so large a share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.base.types import TopicId
from mathamr_kedro.evaluation.metrics.evaluation import Evaluation, Group, evaluate_run
from mathamr_kedro.evaluation.metrics.measures import Measure
from mathamr_kedro.evaluation.metrics.protocols import Protocol
from mathamr_kedro.trec import Qrels, Run

_ALL = "all"


@dataclass(frozen=True)
class MathDominance:
    """Shares of formulas among the tokens of texts, and what they are compared with."""

    topics: Mapping[TopicId, float]
    documents: Mapping[str, float]
    """Those that are not here are only in the group of all."""
    thresholds: tuple[float, ...] = (0.5, 0.6, 0.7)

    def __post_init__(self) -> None:
        check_range(self, "thresholds", least=0, below=1)

    def by_query(self, evaluation: Evaluation) -> list[Group]:
        """Return the means over all topics, then over those above each threshold."""
        shares = np.array([self.topics.get(t, -1.0) for t in evaluation.topics])
        groups = []
        for name, least in self._list_groups():
            rows = shares > least
            means = evaluation.summarise(rows)
            groups.append(Group("query", name, int(rows.sum()), means))
        return groups

    def by_document(self, run: Run, qrels: Qrels, protocol: Protocol) -> list[Group]:
        """Return the recall of all relevant documents, then of those above each."""
        level = protocol.measures[0].relevant_from
        depth = protocol.depth or max(
            (len(hits) for hits in run.lists.values()), default=1
        )
        name = f"recall@{depth}"
        measure = Measure(name, "recall", cutoff=depth, relevant_from=level)
        recall = replace(protocol, measures=(measure,), average="relevant")
        groups = []
        for group, least in self._list_groups():
            kept = {
                topic: {d: g for d, g in by_id.items() if self._is_above(d, least)}
                for topic, by_id in qrels.grades.items()
            }
            relevant = {
                t: g for t, g in kept.items() if any(x >= level for x in g.values())
            }
            if not relevant:
                continue
            lists = {t: h for t, h in run.lists.items() if t in relevant}
            found = replace(run, lists=lists, ranks={})
            evaluation = evaluate_run(found, replace(qrels, grades=relevant), recall)
            groups.append(Group("answer", group, len(relevant), evaluation.summarise()))
        return groups

    def _list_groups(self) -> list[tuple[str, float]]:
        above = [(f">{t * 100:g} %", t) for t in sorted(self.thresholds)]
        return [(_ALL, -2.0), *above]

    def _is_above(self, document: str, least: float) -> bool:
        return self.documents.get(document, -1.0) > least
