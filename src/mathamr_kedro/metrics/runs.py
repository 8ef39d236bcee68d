"""Runs (what a system returned) and qrels (what assessors said) in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mathamr_kedro.types import Grade, TopicId

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


class Results(NamedTuple):
    """What a system returned for one topic, in the order of its file."""

    ids: Sequence[str]
    scores: FloatArray
    """Higher is better."""
    ranks: IntArray
    """As written by the system; trec_eval ignores them."""


@dataclass(frozen=True)
class Run:
    """The results of one system."""

    name: str
    results: Mapping[TopicId, Results]
    source: str = ""
    """File it came from, for messages."""
    holds_instances: bool = False
    """Ids are formula instances (an ARQMath Task 2 submission), not visual ids."""
    num_bad_lines: int = 0
    """Lines of the file that were left out or cut."""


@dataclass(frozen=True)
class Qrels:
    """Grades by topic and document."""

    grades: Mapping[TopicId, Mapping[str, Grade]]
    source: str = ""
    """File they came from, for messages."""
    num_unjudged_lines: int = 0
    """Lines that state that there is no judgment (system failure, don't know)."""

    @property
    def num_judgments(self) -> int:
        """Number of judged pairs of topic and document."""
        return sum(map(len, self.grades.values()))


def make_run(
    name: str, scores: Mapping[TopicId, Mapping[str, float]], source: str = ""
) -> Run:
    """Make a run from scores by topic and document; ranks follow the given order.

    >>> make_run("mine", {"A.1": {"17": 0.9, "4": 0.5}}).results["A.1"].ids
    ('17', '4')
    """
    results = {
        topic: Results(
            ids=tuple(by_id),
            scores=np.array(list(by_id.values()), dtype=np.float64),
            ranks=np.arange(1, len(by_id) + 1),
        )
        for topic, by_id in scores.items()
    }
    return Run(name, results, source)
