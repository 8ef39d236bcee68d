"""The training report: what was learnt, as Markdown and as a figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mathamr_kedro.figures import COLOURS, add_legend, make_figure
from mathamr_kedro.graph import ReleasedEncoder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Record = Mapping[str, Any]

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
    """Return the history of a training as a Markdown page.

    Args:
        encoder: what identifies the encoder.
        history: a record of each epoch; none if it was released, and taken as it is.
    """
    if not history:
        return _write_released(encoder)
    head = "| " + " | ".join(title for title, _, _ in _COLUMNS) + " |"
    rule = "|" + " ---: |" * len(_COLUMNS)
    rows = [
        "| " + " | ".join(_cell(record[key], form) for _, key, form in _COLUMNS) + " |"
        for record in history
    ]
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
            head,
            rule,
            *rows,
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
