"""Where systems of papers compute: training.compute, indexing.encoding and engine."""

from __future__ import annotations

import json
from typing import ClassVar

import pytest
import torch

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.datasets import BuiltIndex
from mathamr_kedro.model import (
    ComputeConfig,
    compute_with,
    current_compute,
    current_scan,
)
from mathamr_kedro.pipelines.training.pipeline import fit_systems
from mathamr_kedro.systems import Rankings, System
from mathamr_kedro.systems.__main__ import main
from mathamr_kedro.systems.ssemb.training import StructureTraining
from mathamr_kedro.systems.training import Prepared
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


def fit(training, **compute):
    """Let the node of the training stage train what was prepared."""
    (stage,) = (
        stage
        for stage in fit_systems({"systems": {"ssemb": training.values}})
        if "ssemb.model" in stage.outputs()
    )
    (node,) = (node for node in stage.nodes if node.short_name == "fit")
    parameters = {"seed": 7, "compute": compute}
    folders = {"models": str(training.folder.parent)}
    return node.func(Prepared(training.prepared), parameters, folders)


def test_training_computes_as_its_parameters_say(tmp_path, devices):
    fit(prepare(tmp_path), device="cpu", backend="torch")
    assert devices == [ComputeConfig("cpu", "torch")]
    assert current_compute() == ComputeConfig()


def test_a_gpu_that_is_not_here_is_refused_before_training(tmp_path, devices):
    training = prepare(tmp_path)
    with pytest.raises(ConfigurationError, match="'cuda:77' to be on this machine"):
        fit(training, device="cuda:77")
    assert main([*training.arguments, "--device", "cuda:77"]) == 1
    assert main([*training.arguments, "--device", "cpu"]) == 0
    assert [compute.device for compute in devices] == ["cpu"]


class Nothing(System):
    """Notes where it computes."""

    name = "nothing"
    finds = frozenset()
    index_reads = ()
    seen: ClassVar[list[tuple[str, str, str]]] = []

    def index(self, data, model, folder):
        self.note("index")
        return {"bytes": 0}

    def open(self, data, model, folder):
        self.note("open")
        return Rankings({})

    def note(self, what):
        self.seen.append((what, current_compute().device, current_scan().device))


def test_index_is_built_and_opened_where_it_was_asked_to(tmp_path, monkeypatch):
    monkeypatch.setattr(Nothing, "seen", [])
    values, cpu = {"class": f"{__name__}:Nothing"}, ComputeConfig("cpu")
    index = BuiltIndex.build(tmp_path, "nothing", values, {}, None, cpu, "cpu")
    index.open()
    assert Nothing.seen == [(what, "cpu", "cpu") for what in ("index", "open", "open")]
    # A root that comes from a machine with a GPU is opened by what is here.
    note = index.folder / "index.json"
    of_gpu = {"compute": {"device": "cuda:77"}, "scan": "cuda:77"}
    note.write_text(json.dumps(json.loads(note.read_text()) | of_gpu))
    BuiltIndex(index.folder).open()
    assert Nothing.seen[-1] == ("open", "auto", "auto")


def test_what_is_asked_for_ends_with_its_block():
    with compute_with(ComputeConfig("cpu"), "cpu"):
        assert current_scan().choose_device() == torch.device("cpu")
    assert current_scan() == ComputeConfig()
