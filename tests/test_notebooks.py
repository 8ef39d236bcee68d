"""The notebooks run from top to bottom right after ``make demo``."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from mathamr_kedro.errors import MissingInputError
from tests.conftest import PROJECT

NOTEBOOKS = sorted((PROJECT / "notebooks").glob("*.ipynb"))

pytestmark = [
    pytest.mark.timeout(2400),  # the first of them waits for the demo
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning"),
]


@pytest.fixture(autouse=True)
def no_environment_is_named(monkeypatch):
    monkeypatch.delenv("KEDRO_ENV", raising=False)
    paths = [str(PROJECT / "src"), *os.environ.get("PYTHONPATH", "").split(":")]
    monkeypatch.setenv("PYTHONPATH", ":".join(filter(None, paths)))


def execute(path: Path, folder: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(notebook, timeout=120, resources=resources)
    asyncio.run(client.async_execute())
    return notebook


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_from_a_fresh_demo(path, demo):
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "strip the outputs"
    execute(path, demo)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_first_cell_takes_the_last_run_or_says_what_to_run(path, tmp_path, monkeypatch):
    """In a project where nothing was run."""
    (tmp_path / "src").mkdir()
    (tmp_path / "conf").symlink_to(PROJECT / "conf")
    (tmp_path / "pyproject.toml").write_text((PROJECT / "pyproject.toml").read_text())
    notebook = nbformat.read(path, as_version=4)
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingInputError, match="run `make demo`, or `kedro run"):
        exec(first.source, {})  # plain Python, so no kernel has to start
