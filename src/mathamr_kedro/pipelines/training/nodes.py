"""Nodes of the training stage that are about MathAMR+: reports of its encoder."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from mathamr_kedro.systems.mathamr_plus import Encoder
from mathamr_kedro.systems.mathamr_plus.report import draw_history, write_report


def report_training(model: Encoder) -> tuple[list[dict[str, Any]], str, Figure]:
    """Report the training of the encoder: its history, a page and a figure."""
    history = model.history
    return history, write_report(model.facts, history), draw_history(history)
