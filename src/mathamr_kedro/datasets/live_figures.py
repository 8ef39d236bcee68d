"""Figures that are drawn anew while something goes on, for those who watch it.

::

    08_reporting/
      training_live.png     the figure as it is now, always whole
      training_live.html    shows it and loads it again every few seconds
"""

from __future__ import annotations

import base64
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kedro.io import AbstractDataset
from kedro_datasets._typing import ImagePreview

from mathamr_kedro.base.errors import ConfigurationError, DiskFullError
from mathamr_kedro.base.files import replace_file, write_text
from mathamr_kedro.figures import write_png

if TYPE_CHECKING:
    import plotly.graph_objects as go

logger = logging.getLogger(__name__)

_PAUSE = 5.0
"""Seconds between two drawings, at least."""
_SHARE = 0.02
"""Of the time that may go into drawing, at most."""
_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{name}</title>
<style>
:root{{color-scheme:light dark}}
body{{margin:24px;font:15px system-ui,sans-serif;text-align:center}}
img{{max-width:100%;background:#fff;border-radius:8px}}
</style>
<img src="{name}" alt="The figure as it is now"><p id="when"></p>
<script>
const picture = document.querySelector("img"), when = document.querySelector("#when");
picture.onload = () => when.textContent = "loaded " + new Date().toLocaleTimeString();
setInterval(() => picture.src = "{name}?" + Date.now(), {milliseconds});
</script></html>
"""


class LiveFigure:
    """A picture that is replaced now and then, seldom enough to cost nothing."""

    def __init__(self, path: Path) -> None:
        self.path, self.page = Path(path), Path(path).with_suffix(".html")
        self._due = 0.0

    def draw(self, make: Callable[[], go.Figure], *, at_once: bool = False) -> None:
        """Draw a figure, unless the last drawing was just now.

        Whatever is watched goes on where a drawing cannot be written.

        Args:
            make: makes the figure; not called where nothing is drawn.
            at_once: draw it in any case.
        """
        started = time.monotonic()
        if started < self._due and not at_once:
            return
        try:
            self._write(write_png(make()))
        except (OSError, DiskFullError) as error:
            logger.warning("%s was not drawn: %s", self.path, error)
        spent = time.monotonic() - started
        self._due = started + max(_PAUSE, spent / _SHARE)

    def _write(self, content: bytes) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(self.path) as part:
            part.write_bytes(content)
        if self._due == 0.0:
            rate = {"name": self.path.name, "milliseconds": int(1000 * _PAUSE)}
            write_text(self.page, _PAGE.format(**rate))
            logger.info("watch it in a browser: %s", self.page)


class LiveFigureDataset(AbstractDataset[None, LiveFigure]):
    """Loads a :class:`LiveFigure`, which a node draws while it works.

    Example of a catalog entry::

        training_live:
          type: mathamr_kedro.datasets.live_figures.LiveFigureDataset
          filepath: data/08_reporting/training_live.png
    """

    def __init__(
        self, *, filepath: str, metadata: dict[str, Any] | None = None
    ) -> None:
        self._path = Path(filepath)
        self.metadata = metadata

    def load(self) -> LiveFigure:
        """Return the figure to draw."""
        return LiveFigure(self._path)

    def save(self, data: None) -> None:
        """Never called: the node draws while it works."""
        raise ConfigurationError(f"{str(self._path)!r} is drawn by the node itself")

    def preview(self) -> ImagePreview:
        """Show the figure as it is now in Kedro-Viz."""
        return ImagePreview(base64.b64encode(self._path.read_bytes()).decode())

    def _exists(self) -> bool:
        return self._path.is_file()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._path)}
