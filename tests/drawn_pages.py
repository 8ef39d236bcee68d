"""What Matplotlib was told to draw, beside the picture that came of it."""

from __future__ import annotations

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def keep_pages(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """Return a list to which every page is added when it is written."""
    pages: list[Figure] = []
    write = FigureCanvasAgg.print_png

    def keep(canvas: FigureCanvasAgg, *arguments, **options):
        pages.append(canvas.figure)
        return write(canvas, *arguments, **options)

    monkeypatch.setattr(FigureCanvasAgg, "print_png", keep)
    return pages
