"""Systems on a collection of four topics, with scores that are easy to compare."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from mathamr_kedro.base.machines import Machine
from mathamr_kedro.evaluation.tables import ScoredSet, SeedResult
from mathamr_kedro.evaluation.tables.benchmark import Benchmark, CollectionScores

TOPICS = ("A.1", "A.2", "A.3", "A.4")
ENTRY = Benchmark(
    title="Four topics",
    environment="test",
    topic_set="own",
    measures=("nDCG'", "MAP'", "P'@10"),
    reference="bm25*",
    queries=4,
    name="four",
)
BEST, WORST = 1.0, 0.5


LAPTOP = Machine("CPU", "a laptop", 2)


def make_scores(
    name: str = "four",
    costs: Mapping[str, Mapping[str, float]] = {},
    **systems: list[float],
) -> CollectionScores:
    """Return scores of systems by topic; the measures differ by a factor.

    ``costs`` of systems were measured on a laptop.
    """
    rows = {
        row: SeedResult(
            1,
            {m: np.array(own) / n for n, m in enumerate(MEASURES, 1)},
            costs.get(row, {}),
            dict.fromkeys(costs.get(row, {}), LAPTOP),
        )
        for row, own in systems.items()
    }
    bounds = {m: 1 / n for n, m in enumerate(MEASURES, 1)}
    floors = {m: 0.7 * bound for m, bound in bounds.items()}
    topics = TOPICS[: len(next(iter(systems.values())))]
    return CollectionScores(
        replace(ENTRY, name=name, title=name),
        ScoredSet(1, "own", topics, rows, floors, bounds),
        facts={"collection": "data", "topic_set": "own", "settings": SETTINGS},
    )


MEASURES = ENTRY.measures
SETTINGS = {"shared": {"training.seed": 1}, "conditions": {"systems": {}}}
