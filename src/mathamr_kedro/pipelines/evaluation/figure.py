"""The figure of the evaluation: systems side by side, floor and ceiling beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go
from plotly.subplots import make_subplots

_MEASURES = 2
"""The first measures are drawn: nDCG' and MAP' by default."""
_COLOURS = ("#3b6ea8", "#e0a458")


def draw_scores(metrics: Sequence[Mapping[str, Any]]) -> go.Figure:
    """Return bars for each topic set, with lines from floor to ceiling."""
    sets = list(dict.fromkeys((m["task"], m["topic_set"]) for m in metrics))
    measures = list(dict.fromkeys(m["measure"] for m in metrics))[:_MEASURES]
    figure = make_subplots(
        rows=max(len(sets), 1),
        cols=1,
        subplot_titles=[f"Task {task}, {name}" for task, name in sets],
    )
    for row, key in enumerate(sets, start=1):
        for measure, colour in zip(measures, _COLOURS, strict=False):
            found = [
                m
                for m in metrics
                if (m["task"], m["topic_set"]) == key and m["measure"] == measure
            ]
            bars = go.Bar(
                x=[m["system"] for m in found],
                y=[m["mean"] for m in found],
                name=measure,
                marker_color=colour,
                showlegend=row == 1,
            )
            figure.add_trace(bars, row=row, col=1)
            figure.add_hline(
                y=found[0]["floor"],
                line={"color": colour, "dash": "dot"},
                annotation_text=f"floor {measure}",
                row=row,
                col=1,
            )
    figure.update_yaxes(range=[0, 1])
    figure.update_layout(
        title="Scores by system", barmode="group", height=320 * max(len(sets), 1)
    )
    return figure
