"""Notebooks as pages: ``python -m tools.site.notebooks`` runs them over the last run.

In git they have no outputs. Where the notebooks were run, pages show what they gave;
elsewhere only the code, with a note.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.project.catalog import LastRun

logger = logging.getLogger(__name__)

PROJECT = Path(__file__).resolve().parents[2]
RUN = PROJECT / "build/notebooks"
_NOTE = "*Outputs are shown where the site was built after `make demo`.*\n"


def write_notebook(path: Path, run: Path) -> str:
    """Return a notebook as Markdown, with the outputs of its run copy if there is."""
    notebook = nbformat.read(run if run.is_file() else path, as_version=4)
    parts: list[str] = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(re.sub(r"\]\(\.\./docs/", "](../", cell.source))
        else:
            parts.append(f"```python\n{cell.source}\n```")
            parts += [text for out in cell.outputs for text in _write_output(out)]
    if not run.is_file():
        parts.insert(1, _NOTE)
    return "\n\n".join(parts) + "\n"


def _write_output(output: Mapping[str, Any]) -> Iterator[str]:
    if output["output_type"] == "stream":
        if output["name"] == "stdout":
            yield f"```text\n{output['text'].rstrip()}\n```"
        return
    data = output.get("data", {})
    if "image/png" in data:
        yield _embed(base64.b64decode(data["image/png"]))
    elif "image/svg+xml" in data:
        yield f'<div class="output">{_join_lines(data["image/svg+xml"])}</div>'
    elif "text/markdown" in data:
        # Pictures of a report are beside it; its headings go below those here.
        text = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", data["text/markdown"])
        yield re.sub(r"^(#+) ", r"##\1 ", text, flags=re.M)
    elif "text/html" in data:
        yield f'<div class="output">{_join_lines(data["text/html"])}</div>'
    elif "text/plain" in data:
        yield f"```text\n{data['text/plain']}\n```"


def _embed(picture: bytes) -> str:
    return f"![figure](data:image/png;base64,{base64.b64encode(picture).decode()})"


def _join_lines(html: str) -> str:
    """Return HTML without the blank lines at which Markdown would end it."""
    html = re.sub(r"<style scoped.*?</style>", "", html, flags=re.S)  # of pandas
    html = re.sub(
        r"<style>(.*?)</style>", r"<style>.output{\1}</style>", html, flags=re.S
    )
    return "\n".join(line.strip() for line in html.splitlines() if line.strip())


def main() -> None:
    """Run every notebook that has changed since it was run."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        LastRun.find().open("posts")
    except MathAMRError as exc:
        logger.info("Notebooks are shown without outputs: %s", exc)
        return
    RUN.mkdir(parents=True, exist_ok=True)
    for path in sorted((PROJECT / "notebooks").glob("*.ipynb")):
        target = RUN / path.name
        if target.is_file() and target.stat().st_mtime > path.stat().st_mtime:
            continue
        logger.info("running %s", path.name)
        notebook = nbformat.read(path, as_version=4)
        client = NotebookClient(
            notebook, timeout=300, resources={"metadata": {"path": str(PROJECT)}}
        )
        try:
            asyncio.run(client.async_execute())
        except CellExecutionError as error:  # the last run lacks what it shows
            reason = str(error.evalue or error).strip().splitlines()[0]
            logger.info("%s is shown without outputs: %s", path.name, reason)
            target.unlink(missing_ok=True)
            continue
        nbformat.write(notebook, target)


if __name__ == "__main__":
    main()
