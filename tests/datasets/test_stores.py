"""Stores in the catalog, as that of recorded evaluations."""

from __future__ import annotations

import pytest

from mathamr_kedro.datasets.stores import StoreDataset
from mathamr_kedro.experiments.cells import CellOutputs
from mathamr_kedro.experiments.grid import list_cells
from tests.experiments.cells import PARAMETERS, save_cell
from tests.experiments.test_grid import EXPERIMENT


def open_dataset(folder):
    store = "mathamr_kedro.experiments.CellStore"
    return StoreDataset(filepath=str(folder), store=store)


@pytest.fixture
def dataset(tmp_path):
    return open_dataset(tmp_path / "cells")


def test_save_and_load(dataset, tmp_path):
    cell = list_cells(EXPERIMENT, PARAMETERS)[0]
    store = dataset.load()
    save_cell(store, cell, {"mathamr_plus": 0.5})
    (found,) = store.list()
    outputs = CellOutputs(
        found.record,
        found.scores,
        found.results,
        found.metrics,
        found.efficiency,
        found.history,
    )
    other = open_dataset(tmp_path / "others")
    other.save(outputs)
    again = other.load().find(cell.key, "data")
    assert again.record.key == found.record.key
    assert again.scores.equals(found.scores)


def test_exists(dataset):
    assert not dataset.exists()
    cell = list_cells(EXPERIMENT, PARAMETERS)[0]
    save_cell(dataset.load(), cell, {"mathamr_plus": 0.5})
    assert dataset.exists()


def test_load_missing_folder(dataset):
    assert dataset.load().list() == []
