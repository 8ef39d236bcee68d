"""Notes below the tables of a benchmark: measures, tests, means and machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mathamr_kedro.evaluation.stats import Comparison, TestConfig
from mathamr_kedro.experiments.benchmark.scores import BenchmarkScores


def note_overview(
    scored: Sequence[BenchmarkScores],
    averaged: Sequence[BenchmarkScores],
    config: TestConfig,
    comparisons: Mapping[str, Sequence[Comparison]],
) -> list[str]:
    """Say what the table of all benchmarks shows."""
    tests = [len(found) for found in comparisons.values()]
    kind = {"t": "t-test", "randomisation": "randomisation test"}[config.test]
    correction = {"none": "not corrected"}.get(
        config.correction,
        f"{config.correction.capitalize()} correction over the "
        f"{_span(tests)} tests of a benchmark",
    )
    measures: dict[str, list[str]] = {}
    for s in scored:
        measures.setdefault(" / ".join(s.benchmark.headline), []).append(
            s.benchmark.title
        )
    usual = max(measures, key=lambda m: len(measures[m]))
    others = [f"{'; '.join(measures[m])}: {m}" for m in measures if m != usual]
    notes = [
        f"Measures: {usual}{'. ' if others else ''}{'. '.join(others)}.",
        f"† Reference of the column. * Differs from it with p < {config.alpha:g} "
        f"(two-tailed paired {kind} over topics, {correction}).",
    ]
    if averaged:
        names = dict.fromkeys(row for s in scored for row in s.systems)
        titles = "; ".join(s.benchmark.title for s in averaged)
        whole = [r for r in names if all(r in s.systems for s in averaged)]
        notes.append(
            f"Mean: over {len(averaged)} benchmarks, each weighing the same, for "
            f"the {len(whole)} of {len(names)} systems that all of them have "
            f"({titles})."
        )
    return notes


def note_costs(scores: BenchmarkScores) -> list[str]:
    """Say what times and sizes are, and where they were measured."""
    used = dict.fromkeys(str(cost["machine"]) for cost in scores.costs.values())
    if not used:
        return []
    trained = any("training_seconds" in cost for cost in scores.costs.values())
    return [
        "ms/query: the search alone, of queries that are already encoded, on "
        f"{'; '.join(used)}. Index: vectors of what may be returned."
        + (" Training: all epochs, wherever they ran." if trained else "")
    ]


def _span(numbers: Sequence[int]) -> str:
    low, high = min(numbers, default=0), max(numbers, default=0)
    return str(low) if low == high else f"{low} to {high}"
