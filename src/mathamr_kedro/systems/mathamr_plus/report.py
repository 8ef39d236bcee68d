"""The training report: what was learnt, as Markdown and as a figure, also meanwhile."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mathamr_kedro.base.errors import StorageError
from mathamr_kedro.base.figures import COLOURS, add_legend, make_figure, write_png
from mathamr_kedro.base.files import replace_file
from mathamr_kedro.base.formatting import format_table
from mathamr_kedro.graph import ReleasedEncoder
from mathamr_kedro.learning.checkpoints import Progress, Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

logger = logging.getLogger(__name__)

_PAUSE = 10.0
"""Seconds between two drawings, at least: one takes a fifth of a second."""
_COLUMNS = (
    ("Epoch", "epoch", "{:d}"),
    ("Loss", "train_loss", "{:.4f}"),
    ("Validation loss", "validation_loss", "{:.4f}"),
    ("Accuracy", "accuracy", "{:.3f}"),
    ("Validation accuracy", "validation_accuracy", "{:.3f}"),
    ("Temperature", "temperature", "{:.4f}"),
    ("Learning rate", "learning_rate", "{:.1e}"),
    ("Gradient norm", "grad_norm", "{:.3f}"),
    ("Seconds", "seconds", "{:.1f}"),
    ("Pairs/s", "pairs_per_second", "{:,.0f}"),
    ("Memory, MiB", "memory_mib", "{:,.0f}"),
)


def write_report(encoder: Record, history: Sequence[Record]) -> str:
    """Return the history of a training as a Markdown page."""
    if not history:
        return _write_released(encoder)
    titles = [title for title, _, _ in _COLUMNS]
    rows = [[_cell(r[key], form) for _, key, form in _COLUMNS] for r in history]
    origin = encoder["start_from"]
    start = [] if origin is None else [f"Started from the weights of `{origin}`."]
    stop = " (stopped early)" if encoder["stopped_early"] else ""
    return "\n".join(
        [
            f"# Training of encoder `{encoder['folder']}`",
            "",
            f"{encoder['training_pairs']:,} pairs to learn from, "
            f"{encoder['validation_pairs']:,} held out; prepared graphs "
            f"`{encoder['prepared_graphs']}`.",
            f"Best epoch {encoder['best_epoch']}, "
            f"loss {encoder['best_loss']:.4f}{stop}.",
            *start,
            "",
            format_table(titles, rows),
            "",
            "![Losses and accuracies](training_figure.png)",
            "",
        ]
    )


def _write_released(encoder: Record) -> str:
    """Return a page that says that nothing was trained."""
    card = ReleasedEncoder(encoder["start_from"]).folder / "README.md"
    return "\n".join(
        [
            f"# Encoder `{encoder['folder']}`",
            "",
            f"The released encoder `{encoder['start_from']}` as it is: nothing was "
            "trained (`training.num_epochs: 0`).",
            f"Its card is `{card}`; prepared graphs `{encoder['prepared_graphs']}`.",
            "",
        ]
    )


def draw_history(
    history: Sequence[Record], running: Sequence[tuple[float, float]] = ()
) -> Figure:
    """Return losses and accuracies over the epochs.

    Args:
        history: a record per epoch.
        running: epochs so far and the loss of the last steps, within epochs.
    """
    figure, (losses,) = make_figure("Training")
    accuracies = losses.twinx()
    epochs = [record["epoch"] for record in history]
    for key, name, colour, axes, line in (
        ("train_loss", "loss", COLOURS[0], losses, "o-"),
        ("validation_loss", "validation loss", COLOURS[3], losses, "o-"),
        ("accuracy", "accuracy", COLOURS[0], accuracies, "o:"),
        ("validation_accuracy", "validation accuracy", COLOURS[3], accuracies, "o:"),
    ):
        values = [math.nan if r[key] is None else r[key] for r in history]
        axes.plot(epochs, values, line, color=colour, label=name, markersize=4)
    if running:
        name = "loss of the last steps"
        losses.plot(*zip(*running, strict=True), color="#888888", lw=1, label=name)
    losses.set(xlabel="epoch", ylabel="loss")
    losses.locator_params(axis="x", integer=True)
    accuracies.set(ylabel="in-batch accuracy", ylim=(0, 1))
    accuracies.spines["top"].set_visible(False)
    add_legend(figure)
    return figure


def _cell(value: Any, form: str) -> str:
    return "" if value is None else form.format(value)


class TrainingCurve:
    """Draws losses into a file while a training runs.

    The training continues if the file cannot be written.
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
