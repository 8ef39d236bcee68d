"""Takes the pictures of docs/images from Kedro-Viz: ``python docs/screenshots.py``.

Builds the static pages of Kedro-Viz, serves them on this machine alone and has a
headless Chromium (``apt-get install chromium``) take a picture of each.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parents[1]
IMAGES = PROJECT / "docs/images"
PICTURES = {
    "kedro_viz.png": ("?types=nodes", (900, 960)),
    "kedro_viz_ingestion.png": ("?pid=ingestion&expandAllPipelines=true", (1700, 1900)),
}
"""File name to the query of the page and the size of the window."""
STATE = {
    "showFeatureHints": False,
    "theme": "light",
    "visible": {"sidebar": False, "miniMap": False},
}
"""What the page finds in the browser: no hints, no side bar, dark on light."""
CHROMIUM = (
    "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--hide-scrollbars", "--virtual-time-budget=20000",
)  # fmt: skip


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a word."""

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def build_pages() -> Iterator[Path]:
    """Have Kedro-Viz write its pages; remove them afterwards."""
    folder = PROJECT / "build"
    command = ["kedro", "viz", "build"]
    env = {**os.environ, "DO_NOT_TRACK": "1"}
    subprocess.run(command, cwd=PROJECT, env=env, check=True, capture_output=True)
    index = folder / "index.html"
    script = f"localStorage.setItem('KedroViz', {json.dumps(json.dumps(STATE))})"
    page = index.read_text(encoding="utf-8")
    page = page.replace("<head>", f"<head><script>{script}</script>", 1)
    index.write_text(page, encoding="utf-8")
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder on the loopback interface."""
    handler = partial(QuietHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def take_picture(url: str, size: tuple[int, int], file: Path) -> None:
    """Write what a browser window of a size shows of a page."""
    width, height = size
    with tempfile.TemporaryDirectory() as profile:
        options = [
            f"--user-data-dir={profile}",
            f"--window-size={width},{height}",
            f"--screenshot={file}",
        ]
        subprocess.run([*CHROMIUM, *options, url], check=True, capture_output=True)


def main() -> None:
    """Take all pictures."""
    IMAGES.mkdir(exist_ok=True)
    with build_pages() as folder, serve(folder) as address:
        for name, (query, size) in PICTURES.items():
            take_picture(f"{address}{query}", size, IMAGES / name)


if __name__ == "__main__":
    main()
