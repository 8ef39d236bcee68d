"""Plots of an experiment: topics, seeds, and what effectiveness costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from mathamr_kedro.evaluation.stats import SeedResult, select_best_seed
from mathamr_kedro.experiments.outcomes import Outcome
from mathamr_kedro.figures import style_figure

_Results = Mapping[str, Sequence[SeedResult]]


def draw_outcome(outcome: Outcome) -> tuple[go.Figure, go.Figure, go.Figure]:
    """Draw differences by topic, seeds, and effectiveness against throughput."""
    results, measure = outcome.results, outcome.measure
    figures = (
        _draw_topic_differences(results, outcome.baseline, measure, outcome.topics),
        _draw_seeds(results, measure),
        _draw_tradeoff(results, measure),
    )
    for figure in figures:
        style_figure(figure)
    return figures


def _draw_topic_differences(
    results: _Results, baseline: str, measure: str, topics: Sequence[str]
) -> go.Figure:
    """Draw the difference to the baseline on every topic.

    All conditions have the topics in one order: by the difference of the condition
    with the highest mean, the largest gain first.
    """
    figure = go.Figure()
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
        names = [topics[place] for place in order]
        for name, gain in gains.items():
            figure.add_bar(x=names, y=gain[order].tolist(), name=name)
    return figure.update_layout(
        title=f"{measure} on each topic, difference to {baseline} (best seeds)",
        xaxis={
            "title": {"text": f"topic, by the difference of {first}"},
            "type": "category",
        },
        yaxis_title=f"difference in {measure}",
        barmode="group",
    )


def _draw_seeds(results: _Results, measure: str) -> go.Figure:
    """Draw the mean over topics of every seed."""
    figure = go.Figure()
    for name, found in results.items():
        having = [r for r in found if r.has(measure)]
        figure.add_scatter(
            x=[name] * len(having),
            y=[r.value(measure) for r in having],
            text=[f"seed {r.seed}" for r in having],
            mode="markers",
            name=name,
        )
    return figure.update_layout(
        title=f"{measure} of every seed", yaxis_title=measure, showlegend=False
    )


def _draw_tradeoff(results: _Results, measure: str) -> go.Figure:
    """Draw effectiveness against queries per second, one point per seed."""
    figure = go.Figure()
    for name, found in results.items():
        having = [r for r in found if r.has(measure) and r.has("QPS")]
        figure.add_scatter(
            x=[r.value("QPS") for r in having],
            y=[r.value(measure) for r in having],
            text=[f"seed {r.seed}" for r in having],
            mode="markers",
            name=name,
        )
    return figure.update_layout(
        title=f"{measure} against throughput",
        xaxis_title="queries per second",
        yaxis_title=measure,
    )
