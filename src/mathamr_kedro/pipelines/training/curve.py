"""The curve of a training, while it is trained."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from pathlib import Path

from mathamr_kedro.base.errors import StorageError
from mathamr_kedro.base.files import replace_file
from mathamr_kedro.figures import write_png
from mathamr_kedro.learning.history import Progress, Record
from mathamr_kedro.pipelines.training.report import draw_history

logger = logging.getLogger(__name__)

_PAUSE = 10.0
"""Seconds between two drawings, at least: one takes a fifth of a second."""


class TrainingCurve:
    """Draws losses into a file while a training runs.

    The training continues if the file cannot be written.

    Args:
        path: a PNG; always whole.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._due = path, 0.0
        self._history: Sequence[Record] = ()
        self._running: list[tuple[float, float]] = []

    def tell(self, progress: Progress) -> None:
        """Draw what is known by now, unless the last drawing was just now."""
        if progress.step < progress.steps:
            place = progress.epoch - 1 + progress.step / progress.steps
            if self._running and place <= self._running[-1][0]:  # another round
                self._running.clear()
            self._running.append((place, progress.loss))
        self._history = progress.history
        if time.monotonic() >= self._due:
            self._draw()

    def end(self) -> None:
        """Draw the whole curve, if anything was trained."""
        if self._history:
            self._draw()

    def _draw(self) -> None:
        if self._due == 0.0:
            logger.info("the curve is drawn in %s", self._path)
        try:
            with replace_file(self._path) as part:
                part.write_bytes(write_png(draw_history(self._history, self._running)))
        except (OSError, StorageError) as error:
            logger.warning("%s was not drawn: %s", self._path, error)
        self._due = time.monotonic() + _PAUSE
