"""Takes the pictures of docs/images: ``python docs/screenshots.py``.

Builds the static pages of Kedro-Viz, serves them on this machine alone and has a
headless Chromium (``apt-get install chromium``) take a picture of each; then starts
``mathamr serve`` over the demo (``make demo`` comes first) and takes those of the
search page, and one over a paper in LaTeX. ``--only`` takes a part; ``--data-root``
names the folder of the demo's data, if it is another one.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))  # the browser of the tests

from tests.serve.browser import Page, open_browser  # noqa: E402
from tests.test_statement_search import PAPER  # noqa: E402

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


@contextmanager
def index_paper() -> Iterator[str]:
    """Run the stages on a paper in LaTeX, in a folder that is removed afterwards."""
    stages = "ingestion,amr_parsing,graph_fusion,preprocessing,training,indexing"
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "notes").mkdir()
        (Path(folder) / "notes/primes.tex").write_text(PAPER, encoding="utf-8")
        values = f"raw_root={folder}/notes,data_root={folder}/data"
        command = ["kedro", "run", "--env", "own", "--pipelines", stages]
        subprocess.run([*command, "--params", values], cwd=PROJECT, check=True)
        yield f"{folder}/data"


@contextmanager
def run_server(data_root: str | None, env: str = "demo") -> Iterator[str]:
    """Run ``mathamr serve``."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mathamr_kedro", "serve", "--env", env]
    command += ["--port", str(port)]
    command += ["--data-root", data_root] if data_root else []
    address = f"http://127.0.0.1:{port}/"
    with subprocess.Popen(command, cwd=PROJECT) as server:
        try:
            while server.poll() is None:
                try:
                    urlopen(f"{address}health").close()
                except (URLError, ConnectionError):
                    time.sleep(0.2)
                else:
                    yield address
                    break
        finally:
            server.terminate()


QUESTION = r"is $\sqrt p$ irrational for a prime $p$?"
FORMULA = r"\sum_{i=1}^n i = \frac{n(n+1)}{2}"
ASKED = f"?q={quote(QUESTION)}"
FOUND = "document.querySelector('.card math')"
WHY = "document.querySelectorAll('#sheet .pair svg').length === 2"


def show_page(page: Page, address: str, name: str, query: str, condition: str) -> None:
    """Write the picture of an address when a condition holds."""
    for _ in range(2):  # the first search of a kind reads what others find read
        page.open(address + query)
        page.wait(condition)
    page.run("document.fonts.ready.then(() => true)")
    time.sleep(0.5)
    page.take_picture(IMAGES / f"serve_{name}.png")


def take_serve_pictures(page: Page, address: str) -> None:
    """Write the pictures of the search page."""
    show = partial(show_page, page, address)
    page.resize(1100, 820)
    page.prefer("light")
    show("start", "", "document.querySelector('#examples math')")
    show("results", ASKED, FOUND)
    page.click(".card .formula[data-partner=F0]")
    time.sleep(0.3)
    page.take_picture(IMAGES / "serve_menu.png")
    show("formula", f"?mode=formula&q={quote(FORMULA)}", FOUND)
    show("why", f"{ASKED}&why=33733", WHY)
    page.run("document.querySelectorAll('#sheet .fold').forEach(f => f.open = true)")
    page.run("document.querySelector('#sheet').scrollTop = 1e6")
    time.sleep(0.3)
    page.take_picture(IMAGES / "serve_graphs.png")
    page.prefer("dark")
    show("dark", ASKED, FOUND)
    page.prefer("light")
    page.resize(390, 780, phone=True)
    show("phone", ASKED, FOUND)


def main() -> None:
    """Take all pictures, or a part of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("viz", "serve", "statements"))
    parser.add_argument("--data-root")
    given = parser.parse_args()
    IMAGES.mkdir(exist_ok=True)
    if given.only in (None, "viz"):
        with build_pages() as folder, serve(folder) as address:
            for name, (query, size) in PICTURES.items():
                take_picture(f"{address}{query}", size, IMAGES / name)
    if given.only in (None, "serve"):
        with run_server(given.data_root) as address, open_browser() as page:
            take_serve_pictures(page, address)
    if given.only in (None, "statements"):
        with (
            index_paper() as root,
            run_server(root, "own") as address,
            open_browser() as page,
        ):
            page.resize(1100, 820)
            show_page(page, address, "statements", "?q=primes+that+divide", FOUND)


if __name__ == "__main__":
    main()
