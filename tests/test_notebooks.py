"""The notebooks run from top to bottom right after ``make demo``."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from jupyter_client import AsyncKernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell

from mathamr_kedro.base.errors import MissingInputError
from tests.conftest import PATIENCE, PROJECT

NOTEBOOKS = sorted((PROJECT / "notebooks").glob("*.ipynb"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(2400),  # the first of them waits for the demo
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning"),
]


@pytest.fixture(scope="module")
def kernel(demo: Path) -> Iterator[AsyncKernelManager]:
    """One for all notebooks: to start and to import torch takes longer than a run."""
    manager = AsyncKernelManager(kernel_name="python3")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("KEDRO_ENV", raising=False)
        paths = [str(PROJECT / "src"), *os.environ.get("PYTHONPATH", "").split(":")]
        patch.setenv("PYTHONPATH", ":".join(filter(None, paths)))
        asyncio.run(manager.start_kernel(cwd=str(demo)))
    yield manager
    asyncio.run(manager.shutdown_kernel(now=True))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_from_a_fresh_demo(path, kernel):
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "strip the outputs"
    notebook.cells.insert(0, new_code_cell("%reset -f"))  # names of the one before
    asyncio.run(execute(NotebookClient(notebook, kernel, timeout=PATIENCE)))
    outputs = [o for c in notebook.cells for o in c.get("outputs", ())]
    for data in (o["data"] for o in outputs if "data" in o):
        # figures are part of it, wherever nbconvert writes it to
        assert "image/png" in data or not data["text/plain"].startswith("<Figure")
        assert not re.search(r"!\[[^\]]*\]\((?!data:)", data.get("text/markdown", ""))


async def execute(client: NotebookClient) -> None:
    try:
        await client.async_execute()
    finally:
        client.kc.stop_channels()  # the kernel is not its own


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_first_cell_takes_the_last_run_or_says_what_to_run(path, tmp_path, monkeypatch):
    """In a project where nothing was run."""
    monkeypatch.delenv("KEDRO_ENV", raising=False)
    (tmp_path / "src").mkdir()
    (tmp_path / "conf").symlink_to(PROJECT / "conf")
    (tmp_path / "pyproject.toml").write_text((PROJECT / "pyproject.toml").read_text())
    notebook = nbformat.read(path, as_version=4)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingInputError, match="run `make demo`, or `kedro run"):
        exec(first.source, {})  # plain Python, so no kernel has to start
