"""Trees from workers: the batches of one file after the other."""

from __future__ import annotations

import os

import pytest

from mathamr_kedro.base.records import Formula
from mathamr_kedro.base.workers import WorkerConfig
from mathamr_kedro.formula import TreeStore, tree_batches
from mathamr_kedro.formula.tree_batches import TreeBatches
from mathamr_kedro.formula.tree_store import build_rows
from tests.formula.batches import build_batch


def make_file(first: int, visual_ids: str) -> list[Formula]:
    return [
        Formula(str(n), "1", visual_id, "answer", latex=f"x_{visual_id}")
        for n, visual_id in enumerate(visual_ids, start=first)
    ]


# "b" and "f" are in files that are with the workers at the same time.
FILES = {
    "one": make_file(0, "abacb"),
    "two": make_file(10, "bdbef"),
    "three": make_file(20, "fab"),
    "four": [],
    "five": make_file(30, "gfh"),
}


def build_batches(store, config, function=build_rows, names=None):
    def open_files():
        for name in names or FILES:
            formulas = FILES[name]
            ids = [formula.visual_id for formula in formulas]
            yield name, ids, lambda places, own=formulas: (own[p] for p in places)

    made = {}
    batches = TreeBatches(store.missing_visuals)
    for name, batch in batches.build(open_files(), config, function):
        store.add_batch(name, batch)
        made[name] = batch
    return made


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("at_once", [1, 2, 100])
def test_workers_build_what_one_file_after_the_other_gives(
    tmp_path, monkeypatch, workers, at_once
):
    monkeypatch.setattr(tree_batches, "AT_ONCE", at_once)
    with TreeStore(tmp_path / "slow.sqlite") as store:
        expected = {}
        for name, formulas in FILES.items():
            expected[name] = build_batch(formulas, store.missing_visuals)
            store.add_batch(name, expected[name])
    with TreeStore(tmp_path / "fast.sqlite") as store:
        made = build_batches(store, WorkerConfig(workers=workers, batch_size=2))
    assert list(made.items()) == list(expected.items())
    assert [row.visual_id for row in made["two"]] == ["d", "e", "f"]


def die_of_d(formulas):
    if any(formula.visual_id == "d" for formula in formulas):
        os._exit(9)
    return build_rows(formulas)


def test_a_formula_that_kills_workers_has_no_trees_and_a_reason(tmp_path):
    with TreeStore(tmp_path / "trees.sqlite") as store:
        build_batches(store, WorkerConfig(workers=2, batch_size=2), die_of_d)
        assert store.row("d").deviations == "worker_died=1"
        assert store.row("d").slt is None
        assert all(store.row(visual_id).slt for visual_id in "abcefgh")


@pytest.mark.slow
def test_the_next_run_tries_a_formula_again_whose_worker_died(tmp_path):
    config = WorkerConfig(workers=2, batch_size=2)
    with TreeStore(tmp_path / "slow.sqlite") as store:
        build_batches(store, config)
        expected = list(store)
    with TreeStore(tmp_path / "trees.sqlite") as store:
        build_batches(store, config, die_of_d)
        assert store.list_failures() == ["d"]
        assert store.finished_batches() == FILES.keys() - {"two"}
        made = build_batches(store, config, names=["two"])
        assert [row.visual_id for row in made["two"]] == ["d"]
        assert store.list_failures() == []
        assert store.finished_batches() == FILES.keys()
        assert list(store) == expected


@pytest.mark.slow
def test_what_failed_in_one_file_is_not_tried_again_by_the_next_file(
    tmp_path, monkeypatch
):
    monkeypatch.setitem(FILES, "six", make_file(40, "d"))
    with TreeStore(tmp_path / "trees.sqlite") as store:
        made = build_batches(store, WorkerConfig(workers=2, batch_size=2), die_of_d)
        assert made["six"] == []
        assert "six" in store.finished_batches()
        assert store.row("d").formula_id == "11"
