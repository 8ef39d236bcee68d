"""Where systems of papers compute: training.compute, indexing.encoding and engine."""

from __future__ import annotations

import json

import pytest
import torch

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.datasets.systems import IndexDataset, Indexing
from mathamr_kedro.model import (
    ComputeConfig,
    compute_with,
    current_compute,
    current_scan,
)
from mathamr_kedro.pipelines.training.pipeline import fit
from mathamr_kedro.systems import System
from mathamr_kedro.systems.__main__ import main
from mathamr_kedro.systems.ssemb.training import StructureTraining
from tests.systems.ssemb.test_training import prepare


@pytest.fixture
def devices(monkeypatch) -> list[ComputeConfig]:
    """What trainings of SSEmb were asked to compute with."""
    seen: list[ComputeConfig] = []
    run = StructureTraining.run

    def watch(self, folder):
        seen.append(current_compute())
        return run(self, folder)

    monkeypatch.setattr(StructureTraining, "run", watch)
    return seen


def test_training_computes_as_its_parameters_say(tmp_path, devices):
    values = {"compute": {"device": "cpu", "backend": "torch"}}
    fit(prepare(tmp_path), values).train()
    assert devices == [ComputeConfig("cpu", "torch")]
    assert current_compute() == ComputeConfig()


def test_a_gpu_that_is_not_here_is_refused_before_training(tmp_path, devices):
    training = prepare(tmp_path)
    with pytest.raises(ConfigurationError, match="'cuda:77' to be on this machine"):
        fit(training, {"compute": {"device": "cuda:77"}})
    assert main([str(training.folder), "--device", "cuda:77"]) == 1
    assert main([str(training.folder), "--device", "cpu"]) == 0
    assert [compute.device for compute in devices] == ["cpu"]


def test_index_is_built_and_opened_where_it_was_asked_to(tmp_path, monkeypatch):
    from mathamr_kedro.datasets import systems

    seen = []

    class Nothing(System):
        finds = frozenset()
        name, index_reads = "nothing", ()

        def index(self, data, model, folder):
            seen.append(("index", current_compute().device, current_scan().device))
            return {"bytes": 0}

        def open(self, data, model, folder):
            seen.append(("open", current_compute().device, current_scan().device))
            return self

        def list_rankings(self, target):
            return []

    # It only notes where it computes; no registry is needed.
    monkeypatch.setattr(systems, "_open_system", lambda *stated: Nothing())
    dataset = IndexDataset(filepath=str(tmp_path / "i.json"), path=str(tmp_path))
    dataset.save(Indexing("nothing", {}, {}, None, ComputeConfig("cpu"), "cpu"))
    dataset.load().open()
    assert seen == [(what, "cpu", "cpu") for what in ("index", "open", "open")]
    # A root that comes from a machine with a GPU is opened by what is here.
    note = json.loads((tmp_path / "i.json").read_text())
    note |= {"compute": {"device": "cuda:77"}, "scan": "cuda:77"}
    (tmp_path / "i.json").write_text(json.dumps(note))
    dataset.load().open()
    assert seen[-1] == ("open", "auto", "auto")


def test_what_is_asked_for_ends_with_its_block():
    with compute_with(ComputeConfig("cpu"), "cpu"):
        assert current_scan().choose_device() == torch.device("cpu")
    assert current_scan() == ComputeConfig()
