from __future__ import annotations

import shutil

import pytest

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.evaluation.tables import Costs
from mathamr_kedro.experiments.cells import RECORD, CellStore, checksum_code
from mathamr_kedro.experiments.grid import list_cells
from tests.experiments.cells import PARAMETERS, save_cell
from tests.experiments.test_grid import EXPERIMENT


@pytest.fixture
def store(tmp_path):
    return CellStore(tmp_path / "cells")


@pytest.fixture
def cell():
    return list_cells(EXPERIMENT, PARAMETERS)[0]


def test_save_and_load(store, cell):
    save_cell(store, cell, {"mathamr_plus": 0.5})
    found = store.find(cell.key, "data")
    assert found.record.parameters == cell.parameters
    assert found.record.seed == 1
    assert found.record.finished > "2026"
    assert found.scores.num_rows == 2 * 20 * 4
    assert found.metrics[0]["topics"] == 20
    assert found.efficiency["index"]["posts"] == 100
    assert found.history[0]["epoch"] == 1


def test_missing_cell_is_none(store, cell):
    assert store.find(cell.key, "data") is None
    assert store.list() == []


def test_other_data_is_another_cell(store, cell):
    save_cell(store, cell, {"mathamr_plus": 0.5}, "old")
    save_cell(store, cell, {"mathamr_plus": 0.5}, "new")
    assert store.find(cell.key, "data") is None
    assert [c.record.collection for c in store.list(cell.key)] == ["old", "new"]


def test_unfinished_folder_is_no_cell(store, cell):
    folder = save_cell(store, cell, {"mathamr_plus": 0.5})
    shutil.copytree(folder, store.base / f".{folder.name}.7.part")
    (folder / RECORD).unlink()
    assert store.find(cell.key, "data") is None
    assert store.list(cell.key) == store.list() == []


def test_broken_record_says_what_to_do(store, cell):
    folder = save_cell(store, cell, {"mathamr_plus": 0.5})
    (folder / RECORD).write_text("{}")
    with pytest.raises(MalformedInputError, match="delete the folder"):
        _ = store.find(cell.key, "data").record
    (folder / RECORD).write_text("{")
    with pytest.raises(MalformedInputError, match="Expected JSON"):
        _ = store.find(cell.key, "data").record


def test_topics_that_one_system_was_not_asked_are_skipped_for_all():
    rows = [
        {"task": 1, "system": s, "query_seconds": times}
        for s, times in {"a": {"A.1": 1.0, "A.2": 2.0}, "b": {"A.2": 3.0}}.items()
    ]
    found = Costs({"search": rows}, 1).time_queries(["a", "b"], ["A.1", "A.2", "A.3"])
    assert {s: t.tolist() for s, t in found.items()} == {"a": [2.0], "b": [3.0]}
    assert Costs({"search": rows}, 1).time_queries(["a", "c"], ["A.2"]) == {}


def test_cell_records_the_code_that_computed_it(store, cell):
    save_cell(store, cell, {"mathamr_plus": 0.5})
    assert store.find(cell.key, "data").record.code == checksum_code()
