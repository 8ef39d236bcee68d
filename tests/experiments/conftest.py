"""One tiny collection for all tests of experiments, and one experiment on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from mathamr_kedro.project.cells import GridRun
from tests.experiments.world import ONE_SEED, open_grid, run_grid, write_world


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("world")
    write_world(folder)
    return folder


@pytest.fixture(scope="session")
def whole(data: Path) -> GridRun:
    """Two conditions with one seed, run without a stop."""
    grid = open_grid("edges", data, **ONE_SEED)
    assert set(run_grid(grid).values()) == {"finished"}
    return grid
