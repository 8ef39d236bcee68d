"""Two processes (gloo) against one with the same batches."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.learning import distillation
from mathamr_kedro.learning.augmentation import AugmentationConfig
from mathamr_kedro.learning.checkpoints import CHECKPOINT, HISTORY
from mathamr_kedro.learning.config import TrainingConfig
from mathamr_kedro.learning.distillation import DistillationConfig
from mathamr_kedro.learning.losses import LossConfig
from mathamr_kedro.learning.pairs import TrainingPairs
from mathamr_kedro.learning.processes import Processes
from mathamr_kedro.learning.steps import OptimizerConfig
from mathamr_kedro.learning.trainer import TrainingResult, train
from mathamr_kedro.model.config import ComputeConfig
from mathamr_kedro.model.mathamr_plus import MathAMRPlus
from tests.conftest import PATIENCE
from tests.learning.prepared import write_prepared
from tests.learning.process_work import TEACHER_WIDTH, Job, run_two


@pytest.fixture(scope="module")
def pairs(shards):
    return TrainingPairs.of_rows(np.arange(40).reshape(20, 2), shards)


@pytest.fixture(scope="module")
def plain(model_config):
    """Eight steps of Table 4.5's losses; each process would augment otherwise."""
    return TrainingConfig(
        model=model_config,
        optimizer=OptimizerConfig(learning_rate=1e-3, min_learning_rate=1e-3),
        augmentation=AugmentationConfig(0, 0),
        compute=ComputeConfig(device="cpu"),
        batch_size=4,
        num_epochs=2,
        checkpoint_seconds=0,
    )


@pytest.fixture(scope="module")
def rich(plain, shards, tmp_path_factory):
    """All losses and teachers, as the released encoder was trained."""
    texts = np.random.default_rng(5).normal(size=(len(shards), 6)).astype(np.float32)
    texts[[1, 4, 8]] = 0  # posts without a vector
    file = tmp_path_factory.mktemp("texts") / "texts.npy"
    np.save(file, texts)
    return replace(
        plain,
        model=replace(plain.model, virtual_init="mean", readout_dim=24),
        loss=LossConfig(beta=0.5, both_directions=True, formula_weight=0.3),
        distillation=DistillationConfig(
            weight=5.0,
            trees="both",
            temperature=0.03,
            document_weight=0.5,
            score_weight=3.0,
            document_vectors=str(file),
        ),
    )


@pytest.fixture(scope="module")
def rich_end(shards, pairs, rich, tmp_path_factory) -> Path:
    """Where two processes have trained with all losses."""
    folder = tmp_path_factory.mktemp("rich")
    assert run_two(Job(shards.folder, pairs, rich, folder)) == [0, 0]
    return folder


def read_ranks(folder: Path):
    return [torch.load(folder / f"rank_{r}.pt", weights_only=True) for r in (0, 1)]


def read_last(folder: Path):
    return torch.load(folder / CHECKPOINT, weights_only=True)


def flatten(state) -> dict[str, torch.Tensor]:
    moments = {
        f"{name} {number}": value
        for number, values in enumerate(state["optimizer"])
        for name, value in values.items()
    }
    return state["model"] | state["loss"] | moments


def same(one, two) -> bool:
    one, two = flatten(one), flatten(two)
    return one.keys() == two.keys() and all(torch.equal(one[n], two[n]) for n in one)


def differ(one, two, start) -> float:
    """How far apart two ends are, as a share of the way from the start."""
    ways = [
        torch.cat([(end[n] - start[n]).flatten() for n in start]) for end in (one, two)
    ]
    return float((ways[0] - ways[1]).norm() / ways[0].norm())


def check_as_one(
    shards, config: TrainingConfig, alone: TrainingResult, two: Path
) -> None:
    """Compare losses, gradients and weights of two trainings."""
    together = json.loads((two / HISTORY).read_text())
    for mine, theirs in zip(alone.history, together, strict=True):
        for name in ("train_loss", "validation_loss", "accuracy", "grad_norm"):
            assert theirs[name] == pytest.approx(getattr(mine, name), rel=1e-3), name
    single, double = (
        read_last(folder)["tensors"] for folder in (alone.model_dir.parent, two)
    )
    torch.manual_seed(config.seed)
    start = MathAMRPlus(config.model, shards.schema).state_dict()
    # Rounding differs, and Adam makes whole steps of the smallest gradients.
    assert differ(single["model"], double["model"], start) < 0.01
    assert single["loss"]["log_temperature"] == pytest.approx(
        double["loss"]["log_temperature"].item(), abs=1e-5
    )
    means = [[m["exp_avg"] for m in x["optimizer"]] for x in (single, double)]
    for mine, theirs in zip(*means, strict=True):
        assert float((mine - theirs).norm()) <= 1e-3 * float(mine.norm()) + 1e-7


@pytest.mark.parametrize("other", ["b after epoch 1", "a after epoch 2"])
def test_processes_hear_what_the_others_go_on_with(monkeypatch, other):
    def gather(said, own):
        said[:] = [own, other]

    monkeypatch.setattr(torch.distributed, "all_gather_object", gather)
    Processes(0, 2).check_agreement(other)
    with pytest.raises(ConfigurationError, match="process 1 has a after epoch 1"):
        Processes(1, 2).check_agreement("a after epoch 1")


def test_a_process_alone_asks_nobody():
    """There is no group here that it could ask."""
    alone, values = Processes(), torch.ones(2)
    alone.check_agreement("a after epoch 1")
    alone.wait()
    alone.sum_gradients([values], [values])
    assert alone.sum_values(values).tolist() == [1.0, 1.0]
    assert alone.leads and not Processes(1, 2).leads


def test_two_processes_train_as_one(
    shards, pairs, rich, rich_end, tmp_path, monkeypatch
):
    """With every loss; and both have the same weights and moments."""
    # Its principal axes take the cube of the width.
    monkeypatch.setattr(distillation, "_WIDTH", TEACHER_WIDTH)
    check_as_one(shards, rich, train(shards, pairs, rich, tmp_path), rich_end)
    assert same(*read_ranks(rich_end))


@pytest.mark.slow
def test_torchrun_trains_as_one_process(shards, pairs, plain, tmp_path):
    """The command itself, with the losses that are on by default."""
    write_prepared(shards, tmp_path / "prepared")
    validation = np.arange(20) >= 15
    pairs = replace(pairs, validation=validation)
    (tmp_path / "config.json").write_text(json.dumps(asdict(plain)))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", "2", "-m", "mathamr_kedro.learning"]
    command += ["--data", str(tmp_path / "prepared")]
    command += ["--config", str(tmp_path / "config.json"), "--out", str(tmp_path / "2")]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    alone = train(shards, pairs, plain, tmp_path / "1")
    check_as_one(shards, plain, alone, tmp_path / "2")


def test_a_killed_training_of_two_processes_goes_on(
    shards, pairs, rich, rich_end, tmp_path
):
    """It ends with the bits of one that was not killed, whichever process was."""
    job = Job(shards.folder, pairs, rich, tmp_path)
    for killed, place in (((1, 3), (0, 3)), ((0, 2), (1, 1))):
        assert -9 in run_two(job._replace(killed=killed))
        stopped = read_last(tmp_path)
        assert (stopped["epoch"], stopped["step"]) == place
    assert run_two(job) == [0, 0]
    for mine, theirs in zip(read_ranks(tmp_path), read_ranks(rich_end), strict=True):
        assert same(mine, theirs)


def test_processes_without_a_common_folder_cannot_go_on(
    shards, pairs, rich, rich_end, tmp_path
):
    """The second would start again, unnoticed."""
    (tmp_path / "0").mkdir()
    for file in (*rich_end.glob("checkpoint*"), *rich_end.glob("seals*")):
        shutil.copy(file, tmp_path / "0")
    job = Job(shards.folder, pairs, rich, tmp_path, has_common_folder=False)
    assert run_two(job) == [1, 1]
    for rank in (0, 1):
        said = (tmp_path / f"error_{rank}").read_text()
        assert "Expected all processes to resume the same training" in said
        assert f"process {rank} has" in said
