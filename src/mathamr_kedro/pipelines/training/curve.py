"""The curve of a training, while it is trained."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from mathamr_kedro.datasets import LiveFigure
from mathamr_kedro.learning.history import Progress, Record
from mathamr_kedro.pipelines.training.report import draw_history


class TrainingCurve:
    """Draws losses whenever a training tells how far it is."""

    def __init__(self, figure: LiveFigure) -> None:
        self._figure = figure
        self._history: Sequence[Record] = ()
        self._running: list[tuple[float, float]] = []

    def tell(self, progress: Progress) -> None:
        """Draw what is known by now."""
        if progress.step < progress.steps:
            place = progress.epoch - 1 + progress.step / progress.steps
            if self._running and place <= self._running[-1][0]:  # another round
                self._running.clear()
            self._running.append((place, progress.loss))
        self._history = progress.history
        self._figure.draw(self._make)

    def end(self) -> None:
        """Draw the whole curve, if anything was trained."""
        if self._history:
            self._figure.draw(self._make, at_once=True)

    def _make(self) -> go.Figure:
        return draw_history(self._history, self._running)
