"""A run: what one system returned, a ranked list for each topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.types import TopicId

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Run:
    """The ranked lists of one system.

    Lists keep the order in which a search returned or a file lists them. Scoring puts
    them into the order of trec_eval (:mod:`mathamr_kedro.evaluation.metrics.rankings`).
    """

    name: str
    """Of the system, or of the file."""
    lists: Mapping[TopicId, Hits | FormulaHits]
    ranks: Mapping[TopicId, IntArray] = field(default_factory=dict)
    """Rank column of a file; trec_eval ignores it. Absent: the order of the list."""
    source: str = ""
    """File it came from, for messages."""
    holds_instances: bool = False
    """Ids are formula instances (an ARQMath Task 2 submission), not visual ids."""
    num_bad_lines: int = 0
    """Lines of the file that were skipped or cut."""
    task: int = 0
    """1 (answers) or 2 (formulas); 0 if the file does not tell."""
    topic_set: str = ""
    """Topics that the run is about; empty: of all sets."""
    seconds: float = 0.0
    """Time of the searches, without building an index."""
    query_seconds: Mapping[TopicId, float] = field(default_factory=dict)
    """Time of each search; empty if several were made at once."""
    device: str = "cpu"
    """Of torch, that made the searches."""

    @classmethod
    def from_scores(
        cls, name: str, scores: Mapping[TopicId, Mapping[str, float]], source: str = ""
    ) -> Run:
        """Make a run from scores by topic and document, listed in the given order.

        >>> Run.from_scores("mine", {"A.1": {"17": 0.9, "4": 0.5}}).lists["A.1"].ids
        ['17', '4']
        """
        lists = {
            topic: Hits(list(by_id), np.array(list(by_id.values()), dtype=np.float64))
            for topic, by_id in scores.items()
        }
        return cls(name, lists, source=source)

    def documents(self, topic: TopicId) -> Hits:
        """Return a topic's list by the ids that are judged: posts or visual ids."""
        hits = self.lists[topic]
        if isinstance(hits, FormulaHits):
            return Hits(hits.visual_ids, hits.scores)
        return hits

    def ranks_of(self, topic: TopicId) -> IntArray:
        """Return the rank column of a topic; 1, 2, ... if there is none."""
        if topic in self.ranks:
            return self.ranks[topic]
        return np.arange(1, len(self.lists[topic].scores) + 1)
