"""A grid that is stopped in the middle resumes and ends with the same tables."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from mathamr_kedro.experiments.cells import RECORD, CellStore
from mathamr_kedro.project import cells as cell_runs
from tests.experiments.world import ONE_SEED, open_grid, run_grid, write_world
from tests.pipelines.graph_world import PROJECT

pytestmark = pytest.mark.slow


def read_tables(grid) -> dict[str, str]:
    """Return the tables without times and memory, which differ from run to run."""
    grid.run_stages(["significance"])
    tables = grid.context.catalog.load("significance_latex")
    return {name: load() for name, load in tables.items() if name != "efficiency"}


def list_records(grid) -> dict[str, int]:
    return {
        file.parent.name: file.stat().st_mtime_ns
        for file in grid.store.base.glob(f"[!.]*/{RECORD}")
    }


def test_stopped_grid_runs_no_finished_cell_again(whole, tmp_path, monkeypatch):
    write_world(tmp_path)
    grid = open_grid("edges", tmp_path, **ONE_SEED)
    run_stages, cells = cell_runs.GridRun.run_stages, []

    def stop_in_the_second_cell(self, stages, **changes):
        if "evaluation" in stages:
            cells.append(changes["output_root"])
            if len(cells) == 2:
                run_stages(self, ["preprocessing", "training"], **changes)
                raise KeyboardInterrupt
        run_stages(self, stages, **changes)

    monkeypatch.setattr(cell_runs.GridRun, "run_stages", stop_in_the_second_cell)
    with pytest.raises(KeyboardInterrupt):
        run_grid(grid)
    before = list_records(grid)
    assert len(before) == 1
    run_grid(grid)
    after = list_records(grid)
    assert len(after) == 2
    assert before.items() <= after.items()
    assert len(cells) == 3  # the second one twice
    assert read_tables(grid) == read_tables(whole)


def test_failing_cell_is_told_and_the_others_go_on(whole, monkeypatch):
    grid = open_grid("edges", Path(whole.settings["data_root"]), **ONE_SEED)
    monkeypatch.setattr(CellStore, "find", lambda self, key, data: None)
    graphs, bad, other = grid.plan(grid.list_cells(), grid.ensure_collection())
    broken = {**bad.parameters, "training": {"num_epochs": 0}}
    works = [
        graphs,
        replace(bad, parameters=broken),
        other,
    ]
    states = {e.work: e.state for e in grid.run(works, [])}
    assert states == {
        "graphs of with": "finished",
        "with, seed 7": "failed",
        "without, seed 7": "finished",
    }
    assert "num_epochs" in bad.log.read_text()


def test_what_cells_share_is_made_once_and_the_rest_side_by_side(data):
    grid = open_grid("ssemb_augmentations", data)
    works = {w.name: w for w in grid.plan(grid.list_cells([42, 43]), "any data")}
    first, *cells = [w for w in works.values() if w.name.endswith("seed 42")][1:]
    assert (first.name, first.after) == ("ssemb, seed 42", ())
    # StructEmb is searched otherwise, by the network that the first cell trains.
    assert {w.name: w.after for w in cells} == {
        "subs_attr, seed 42": ("ssemb, seed 42",),
        "subs, seed 42": (),
        "attr_node_edge, seed 42": (),
        "attr, seed 42": (),
    }
    encoder = works[first.needs]
    own = ("training.mathamr_plus", "indexing.mathamr_plus")
    assert encoder.stages == ("preprocessing", *own)
    assert {w.needs for w in cells} == {first.needs}
    assert encoder.needs == "graphs of ssemb"


@pytest.mark.timeout(1800)
def test_kill_ends_the_children_and_the_next_run_goes_on(data):
    """The command itself, with a child process per cell, killed with SIGKILL."""
    grid = open_grid(
        "retrieval_strategies", data, indexing={"engine": {"engine": "edge"}}
    )
    params = _as_options({k: v for k, v in grid.settings.items() if k != "data_root"})
    command = [
        sys.executable, "-m", "mathamr_kedro", "experiments", "run", grid.name,
        "--env", "test", "--data-root", str(data), "--devices", "cpu",
        "--seeds", "42,43", "--params", params,
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(PROJECT / "src")}
    first, second = grid.list_cells([42, 43])
    collection, store = grid.ensure_collection(), grid.store
    with subprocess.Popen(
        command, cwd=PROJECT, env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as run:  # fmt: skip
        _wait_for(lambda: store.find(first.key, collection), run)
        run_file = store.base.with_name("experiment_runs") / second.key / "run.yml"
        _wait_for(lambda: run_file.exists() and _find_children(run.pid), run)
        children = _find_children(run.pid)
        run.send_signal(signal.SIGKILL)
    assert run.returncode == -signal.SIGKILL
    _wait_for(lambda: not any(map(_is_alive, children)))
    done = store.find(first.key, collection)
    time_of_first = (done.folder / RECORD).stat().st_mtime_ns
    works = grid.plan([first, second], collection)
    assert [work.name for work in works][-1] == second.name
    assert [e.state for e in grid.run(works, [])] == ["finished"] * 2
    assert (done.folder / RECORD).stat().st_mtime_ns == time_of_first
    assert grid.plan([first, second], collection) == []


def _as_options(values: dict, place: str = "") -> str:
    parts = []
    for key, value in values.items():
        name = f"{place}{key}"
        nested = isinstance(value, dict)
        parts.append(
            _as_options(value, f"{name}.") if nested else f"{name}={json.dumps(value)}"
        )
    return ",".join(parts)


def _wait_for(is_true, run=None, seconds: float = 900) -> None:
    end = time.monotonic() + seconds
    while not is_true():
        assert run is None or run.poll() is None, run.stdout.read().decode()
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.1)


def _find_children(parent: int) -> list[int]:
    found = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(parent)], capture_output=True, text=True,
        check=False,  # it fails where there is none
    )  # fmt: skip
    return [int(pid) for pid in found.stdout.split()]


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
