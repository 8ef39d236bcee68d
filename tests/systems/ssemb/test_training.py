"""Training: it goes on where it was stopped, on a bare machine, and it learns."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.formula import FormulaTree, FormulaTrees
from mathamr_kedro.systems import Collection
from mathamr_kedro.systems.ssemb import training
from mathamr_kedro.systems.ssemb.config import StructureConfig
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
    return torch.load(folder.model / training.WEIGHTS, weights_only=True)


def test_a_stopped_training_ends_with_the_same_weights(tmp_path, monkeypatch):
    whole = prepare(tmp_path / "whole")
    history = whole.train()
    assert [epoch["epoch"] for epoch in history] == [1, 2, 3]
    monkeypatch.setattr(training, "_SECONDS", -1.0)  # a checkpoint after each step
    stopped, steps = prepare(tmp_path / "stopped"), []
    step = training.StructureTraining._step

    def stop(self, *arguments):
        steps.append(arguments[:2])
        if len(steps) in (2, 6):
            raise KeyboardInterrupt
        return step(self, *arguments)

    monkeypatch.setattr(training.StructureTraining, "_step", stop)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            stopped.train()
    again = stopped.train()
    assert [e["loss"] for e in again] == [e["loss"] for e in history]
    assert steps[:3] == [(0, 0), (0, 1), (0, 1)]  # no step twice but the broken ones
    for name, value in read_weights(whole).items():
        assert torch.equal(value, read_weights(stopped)[name]), name


@pytest.mark.parametrize(
    ("limit", "saves"),
    [(9, [(1, 0)]), (1, [(0, 2), (1, 0)]), (0, [(0, 1), (0, 2), (0, 3), (1, 0)])],
)
def test_an_epoch_is_saved_as_often_as_time_asks(tmp_path, monkeypatch, limit, saves):
    """Each step takes a second; the end of an epoch is always saved."""
    steps, saved = [], []
    step = training.StructureTraining._step

    def take_a_second(self, *arguments):
        steps.append(arguments)
        return step(self, *arguments)

    def note(path, values):
        saved.append((values["epoch"], len(values["losses"])))

    folder = prepare(tmp_path, SMALL | {"num_epochs": 1})
    clock = SimpleNamespace(
        monotonic=lambda: 100 + len(steps), perf_counter=lambda: len(steps)
    )
    monkeypatch.setattr(training, "time", clock)
    monkeypatch.setattr(training, "_SECONDS", limit)
    monkeypatch.setattr(training, "write_checkpoint", note)
    monkeypatch.setattr(training.StructureTraining, "_step", take_a_second)
    (record,) = folder.train()
    assert saved == saves
    assert record["seconds"] == 3


@pytest.mark.slow
def test_a_killed_process_goes_on_to_the_same_weights(tmp_path):
    killed, whole = (prepare(tmp_path / name) for name in ("killed", "whole"))
    place = ("*/checkpoint.pt", 2)
    kill_module("mathamr_kedro.systems", str(killed.folder), after=place)
    assert not (killed.model / training.WEIGHTS).exists()
    command = [sys.executable, "-m", "mathamr_kedro.systems"]
    folders = [str(f.folder) for f in (killed, whole)]
    subprocess.run([*command, *folders], stderr=subprocess.DEVNULL, check=True)
    for name, value in read_weights(whole).items():
        assert torch.equal(value, read_weights(killed)[name]), name


def test_another_training_is_not_gone_on_with(tmp_path):
    folder = prepare(tmp_path)
    folder.train()
    prepared = folder.folder / "prepared"
    other = StructureConfig(8, min_label_count=1, batch_size=4, learning_rate=0.1)
    with pytest.raises(ConfigurationError, match="of the same training"):
        training.StructureTraining(other, prepared, 7).run(folder.model)


def test_too_few_graphs_are_refused(tmp_path):
    values = {"model": SMALL | {"min_nodes": 99}}
    folder = SystemFolder.create(tmp_path, "ssemb", values, 7, make_sources())
    assert folder.counts["graphs"] == 0
    with pytest.raises(ConfigurationError, match="at least 2 graphs of 99 nodes"):
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
    counts = found.counts
    assert (counts["formulas"], counts["visual_ids"], counts["graphs"]) == (14, 13, 12)


def test_training_needs_torch_and_numpy_alone():
    names = [
        "mathamr_kedro.systems.__main__",
        *(
            f"mathamr_kedro.systems.ssemb.{n}"
            for n in ("system", "training", "network", "views", "graphs", "config")
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
