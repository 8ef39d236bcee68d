"""A benchmark of four topics, and systems on it that are easy to score by hand."""

from __future__ import annotations

from dataclasses import replace

from mathamr_kedro.experiments.benchmark import Benchmark, BenchmarkScores
from mathamr_kedro.trec import Qrels, Run

TOPICS = ("A.1", "A.2", "A.3", "A.4")
QRELS = Qrels({t: {"good": 3, "fair": 1, "bad": 0} for t in TOPICS})
ENTRY = Benchmark(
    title="Four topics",
    protocol="1",
    measures=("nDCG'", "MAP'", "P'@10"),
    reference="bm25*",
    environment="test",
    topic_sets=("own",),
    queries=4,
    name="four",
)
BEST = ("good", "fair", "bad")
WORST = ("bad", "fair", "good")


def make_run(name: str, *orders: tuple[str, ...]) -> Run:
    """Return a run with an order of documents for each topic."""
    lists = {
        topic: {doc: float(-place) for place, doc in enumerate(order)}
        for topic, order in zip(TOPICS, orders, strict=False)
    }
    return Run.from_scores(name, lists)


def make_scores(name: str = "four", **orders: list[tuple[str, ...]]) -> BenchmarkScores:
    """Return scores of systems by their orders of documents."""
    runs = [make_run(system, *found) for system, found in orders.items()]
    return BenchmarkScores.of_runs(replace(ENTRY, name=name, title=name), QRELS, runs)
