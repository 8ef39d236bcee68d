"""Filling the store."""

from __future__ import annotations

import pytest

from mathamr_kedro.formula import FormulaTrees
from mathamr_kedro.formula.tree_building import fill_batch
from mathamr_kedro.formula.tree_rows import build_trees
from mathamr_kedro.formula.tree_store import TreeStore
from mathamr_kedro.records import Formula


def formula(formula_id, visual_id, presentation="<math><mi>x</mi></math>"):
    place = ("3", "3", "question", None, None)
    return Formula(formula_id, *place, visual_id, "", "x", presentation, "")


@pytest.fixture
def store(tmp_path):
    with TreeStore(tmp_path / "trees.sqlite") as opened:
        yield opened


@pytest.fixture
def built():
    return []


@pytest.fixture
def build(built):
    """Builds rows and remembers from which formulas."""

    def make(item):
        built.append(item.formula_id)
        return build_trees(item, lambda latex: FormulaTrees(None, None, {"odd": 1}))

    return make


def test_each_visual_formula_is_built_once(store, build, built):
    batch = [formula("1", "a"), formula("2", "a"), formula("3", "b")]
    report = fill_batch(store, "first", batch, build)
    assert built == ["1", "3"]
    assert report[:4] == (3, 2, 0, 2)
    assert report.deviations == {"odd": 2}
    report = fill_batch(store, "second", [formula("4", "b"), formula("5", "c")], build)
    assert built == ["1", "3", "5"]
    assert report.new_visuals == 1
    assert store.row("4") == store.row("3")


def test_finished_batch_is_skipped(store, build, built):
    fill_batch(store, "first", [formula("1", "a")], build)
    assert fill_batch(store, "first", [formula("1", "a")], build) is None
    assert built == ["1"]


def test_empty_batch_is_finished_too(store, build):
    assert fill_batch(store, "first", [], build).formulas == 0
    assert store.finished_batches() == {"first"}
