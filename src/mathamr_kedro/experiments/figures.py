"""Plots of an experiment: topics, seeds, and what effectiveness costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mathamr_kedro.base.figures import add_legend, draw_bars, make_figure, write_names
from mathamr_kedro.evaluation.tables import Outcome, Results, select_best_seed

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:
    Figure = object  # Kedro looks the types of nodes up: it need not wait for pictures


def draw_outcome(outcome: Outcome) -> tuple[Figure, Figure, Figure]:
    """Draw differences by topic, seeds, and effectiveness against throughput."""
    results, measure = outcome.results, outcome.measure
    return (
        _draw_topic_differences(results, outcome.baseline, measure, outcome.topics),
        _draw_seeds(results, measure),
        _draw_tradeoff(results, measure),
    )


def _draw_topic_differences(
    results: Results, baseline: str, measure: str, topics: Sequence[str]
) -> Figure:
    """Draw the difference to the baseline on every topic.

    All conditions have the topics in one order: by the difference of the condition
    with the highest mean, the largest gain first.
    """
    title = f"{measure} on each topic, difference to {baseline} (best seeds)"
    figure, (axes,) = make_figure(title)
    others = {
        name: select_best_seed(found, measure)
        for name, found in results.items()
        if name != baseline
    }
    first = max(others, key=lambda name: others[name].value(measure), default="")
    if baseline in results and others:
        base = select_best_seed(results[baseline], measure).per_topic[measure]
        gains = {name: own.per_topic[measure] - base for name, own in others.items()}
        order = np.argsort(-gains[first], kind="stable")
        ordered = {name: gain[order].tolist() for name, gain in gains.items()}
        draw_bars(axes, [topics[place] for place in order], ordered)
    axes.set_xlabel(f"topic, by the difference of {first}", parse_math=False)
    axes.set_ylabel(f"difference in {measure}")
    add_legend(figure)
    return figure


def _draw_seeds(results: Results, measure: str) -> Figure:
    """Draw the mean over topics of every seed."""
    figure, (axes,) = make_figure(f"{measure} of every seed")
    for place, found in enumerate(results.values()):
        values = [r.values[measure] for r in found if measure in r.values]
        axes.plot([place] * len(values), values, "o")
    write_names(axes, list(results))
    axes.set_ylabel(measure)
    return figure


def _draw_tradeoff(results: Results, measure: str) -> Figure:
    """Draw effectiveness against queries per second, one point per seed."""
    figure, (axes,) = make_figure(f"{measure} against throughput")
    for name, found in results.items():
        having = [r for r in found if {measure, "QPS"} <= r.values.keys()]
        speeds = [r.value("QPS") for r in having]
        axes.plot(speeds, [r.value(measure) for r in having], "o", label=name)
    axes.set(xlabel="queries per second", ylabel=measure)
    add_legend(figure)
    return figure
