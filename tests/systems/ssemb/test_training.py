"""Training: it resumes where it was stopped, on a bare machine, and it learns."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mathamr_kedro.base.arrays import read_arrays
from mathamr_kedro.base.checksums import list_damage
from mathamr_kedro.base.errors import TrainingError
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.formula import FormulaTree, FormulaTrees
from mathamr_kedro.systems import Collection
from mathamr_kedro.systems.ssemb import training
from tests.kills import kill_module
from tests.systems.trained import SystemFolder
from tests.test_layering import _find_closure, _import_all, _list_modules

SMALL = {"dimension": 8, "batch_size": 4, "min_label_count": 1, "num_epochs": 3}


def make_sources(count=12):
    trees = {
        str(n): FormulaTree.from_string(
            f"[U!plus,0[V!x{n % 5}],1[O!SUP,0[V!y],1[N!{n}]]]", "opt"
        )
        for n in range(count)
    }
    return Collection(
        formulas=lambda: [FormulaInstance(i, i, i, "x") for i in trees],
        trees_of=lambda f: FormulaTrees(None, trees.get(f.visual_id), {}),
    )


def prepare(folder: Path, model=SMALL, seed=7) -> SystemFolder:
    values = {"model": model}
    return SystemFolder.create(folder, "ssemb", values, seed, make_sources())


def read_weights(folder: SystemFolder):
    return read_arrays(folder.model / training.WEIGHTS)


def test_a_stopped_training_ends_with_the_same_weights(tmp_path, monkeypatch):
    whole = prepare(tmp_path / "whole")
    history = whole.train()
    assert [epoch["epoch"] for epoch in history] == [1, 2, 3]
    stopped, steps = prepare(tmp_path / "stopped"), []
    compute = training.StructureTraining.compute

    def stop(self, batch):
        steps.append(batch.seed)
        if len(steps) in (2, 6):
            raise KeyboardInterrupt
        return compute(self, batch)

    monkeypatch.setattr(training.StructureTraining, "compute", stop)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            stopped.train()
    again = stopped.train()
    assert not [d for f in (whole, stopped) for d in list_damage(f.model, "")]
    assert [e["loss"] for e in again] == [e["loss"] for e in history]
    for name, value in read_weights(whole).items():
        assert np.array_equal(value, read_weights(stopped)[name]), name


@pytest.mark.slow
def test_a_killed_process_goes_on_to_the_same_weights(tmp_path):
    killed, whole = (prepare(tmp_path / name) for name in ("killed", "whole"))
    place = ("*/checkpoint.pt", 2)
    kill_module("mathamr_kedro.systems", *killed.arguments, after=place)
    assert not (killed.folder / "history.json").exists()
    for folder in (killed, whole):
        command = [sys.executable, "-m", "mathamr_kedro.systems", *folder.arguments]
        subprocess.run(command, stderr=subprocess.DEVNULL, check=True)
    for name, value in read_weights(whole).items():
        assert np.array_equal(value, read_weights(killed)[name]), name


def test_too_few_graphs_are_refused(tmp_path):
    one = make_sources(1)
    folder = SystemFolder.create(tmp_path, "ssemb", {"model": SMALL}, 7, one)
    assert folder.counts["graphs"] == 1
    with pytest.raises(TrainingError, match="at least 2 graphs"):
        folder.train()


def test_what_is_prepared_is_each_graph_once(tmp_path):
    sources = make_sources()
    twice = Collection(
        formulas=lambda: [
            *sources.formulas(),
            FormulaInstance("a", "0", "a", "x"),  # looks the same
            FormulaInstance("b", "77", "b", "x"),  # has no tree
        ],
        trees_of=sources.trees_of,
    )
    found = SystemFolder.create(tmp_path, "ssemb", {"model": SMALL}, 7, twice)
    assert (found.counts["visual_ids"], found.counts["graphs"]) == (13, 12)


def test_what_may_not_be_returned_may_be_learnt_from(tmp_path):
    whole = make_sources(20)
    formulas = list(whole.formulas())
    commented = [f._replace(comment_id="7") for f in formulas[5:8]]
    sources = replace(
        whole,
        formulas=lambda: [*formulas[:5], *commented],
        training_formulas=lambda: [*formulas[:3], *formulas[8:]],
    )
    learnt = SystemFolder.create(tmp_path, "ssemb", {"model": SMALL}, 7, sources)
    assert learnt.counts["graphs"] == 17  # comments are not learnt from (3.1.1)
    few = {"model": SMALL | {"max_formulas": 6}}
    sample = SystemFolder.create(tmp_path, "ssemb", few, 7, sources)
    assert sample.counts["graphs"] == 6
    assert len(list(sources.list_learnable())) == 20
    found = [f.visual_id for f in sources.list_learnable(6)]
    assert found == [f.visual_id for f in sources.list_learnable(6)]
    assert len(set(found)) == 6


def test_training_ends_when_held_out_graphs_get_no_better(tmp_path):
    model = SMALL | {"patience": 2, "num_epochs": 60, "learning_rate": 0.1}
    folder = prepare(tmp_path, model)
    history = folder.train()
    losses = [epoch["validation_loss"] for epoch in history]
    best = losses.index(min(losses))
    assert len(history) == min(best + 3, 60)


@pytest.mark.slow
def test_training_needs_torch_and_numpy_only():
    names = [
        "mathamr_kedro.systems.__main__",
        *(
            f"mathamr_kedro.systems.ssemb.{n}"
            for n in ("system", "training", "network", "graphs")
        ),
    ]
    assert set(names[1:]) <= set(_list_modules("systems"))
    allowed = sorted(_find_closure(("torch", "numpy")) | {"mathamr_kedro"})
    assert _import_all(names, [], allowed) == {}


def test_history_is_written_for_reports(tmp_path):
    folder = prepare(tmp_path)
    folder.train()
    (first, *_) = json.loads((folder.folder / "history.json").read_text())
    assert first["graphs"] == 12
    assert first["machine"]["device"] in {"CPU", "GPU"}
    assert first["seconds"] > 0
