"""Whole trainings: they learn, stop, resume, and do what each option says."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from itertools import count
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from mathamr_kedro.base.errors import (
    ConfigurationError,
    TrainingError,
)
from mathamr_kedro.base.machines import Machine
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.learning.augmentation import AugmentationConfig
from mathamr_kedro.learning.checkpoints import CHECKPOINT, EpochRecord, TrainingState
from mathamr_kedro.learning.pairs import TrainingPairs
from mathamr_kedro.learning.steps import OptimizerConfig
from mathamr_kedro.learning.trainer import train
from mathamr_kedro.model.config import ComputeConfig
from mathamr_kedro.model.weights import load_model

CPU = ComputeConfig(device="cpu")


@pytest.fixture
def pairs(shards):
    return TrainingPairs.of_rows(np.arange(40).reshape(20, 2), shards)


def weights_of(result):
    return load_model(result.model_dir, CPU).state_dict()


def same(one, two):
    return all(torch.equal(one[n], two[n]) for n in one)


def read_last(folder):
    return torch.load(folder / CHECKPOINT, weights_only=True)


def test_training_learns_its_pairs(shards, pairs, config, tmp_path):
    config = replace(
        config,
        optimizer=OptimizerConfig(learning_rate=2e-2, min_learning_rate=1e-3),
        augmentation=AugmentationConfig(0, 0),
        num_epochs=25,
        patience=0,
    )
    pairs = replace(pairs, validation=np.zeros(len(pairs), dtype=bool))
    history = train(shards, pairs, config, tmp_path).history
    assert len(history) == 25
    assert history[-1].train_loss < 0.6 * history[0].train_loss
    assert history[-1].accuracy > 0.6 > 2 * history[0].accuracy
    assert history[0].validation_loss is None


def test_history_tells_of_each_epoch(shards, pairs, config, tmp_path):
    result = train(shards, pairs, config, tmp_path)
    written = json.loads((tmp_path / "history.json").read_text())
    assert written == [asdict(r) for r in result.history]
    assert [r.epoch for r in result.history] == [1, 2, 3]
    assert [r.step for r in result.history] == [4, 8, 12]
    rates = [r.learning_rate for r in result.history]
    assert rates[0] > rates[1] > rates[2] == pytest.approx(1e-4)
    last = result.history[-1]
    assert last.seconds > 0 and last.memory_mib > 0 and last.grad_norm > 0
    assert last.pairs_per_second == pytest.approx(16 / last.seconds)
    assert last.validation_loss is not None
    assert last.machine == Machine.find("cpu")
    assert written[0]["machine"]["device"] == "CPU"


def test_history_of_an_older_version_has_no_machine():
    values = dict.fromkeys(EpochRecord.__dataclass_fields__, 1.0)
    values |= {"epoch": 1, "step": 4, "machine": {"device": "GPU", "gpu": "H200"}}
    record = read_parameters(EpochRecord, values, where="history")
    assert record.machine == Machine("GPU", gpu="H200")
    del values["machine"]
    record = read_parameters(EpochRecord, values, where="history")
    assert record.machine == Machine()


def test_progress_counts_down(shards, pairs, config, tmp_path):
    told = []
    train(shards, pairs, config, tmp_path, progress=told.append)
    assert [(p.epoch, p.step, len(p.history)) for p in told[:6]] == [
        (1, 1, 0),
        (1, 2, 0),
        (1, 3, 0),
        (1, 4, 0),
        (1, 4, 1),  # the epoch has ended, and was validated
        (2, 1, 1),
    ]
    assert told[-1].seconds_left == 0 < told[0].seconds_left
    assert all(p.steps == 4 and p.items_per_second > 0 for p in told)


@pytest.fixture
def clock(monkeypatch):
    """Every look at it takes a second: two in each step that is told of."""
    ticks = count()
    monkeypatch.setattr(
        "mathamr_kedro.learning.loop.time",
        SimpleNamespace(perf_counter=lambda: float(next(ticks)), monotonic=float),
    )


def test_speed_counts_the_steps_since_the_start(shards, pairs, config, tmp_path, clock):
    def kill(progress):
        if (progress.epoch, progress.step) == (2, 3):
            raise Killed

    with pytest.raises(Killed):
        train(shards, pairs, config, tmp_path, kill)
    told = []
    result = train(shards, pairs, config, tmp_path, told.append)
    assert [(p.epoch, p.step) for p in told[:2]] == [(2, 3), (2, 4)]
    for p in told:
        left = 4 * (3 - p.epoch) + 4 - p.step
        assert p.epochs == 3
        assert p.items_per_second == 2.0  # batches of four pairs
        assert p.seconds_left == 2.0 * left
    # The seconds of the steps before the kill count as well.
    assert [r.seconds for r in result.history] == [8.0, 8.0, 8.0]


def test_steps_are_told_and_saved_as_often_as_asked(
    shards, pairs, config, tmp_path, clock, monkeypatch
):
    saved = []
    save = TrainingState.save

    def note(state, *args):
        saved.append((state.epoch, state.step))
        save(state, *args)

    monkeypatch.setattr(TrainingState, "save", note)
    told = []
    config = replace(config, num_epochs=1, log_seconds=3, checkpoint_seconds=2)
    train(shards, pairs, config, tmp_path, told.append)
    # Steps end after 1, 2, 4 and 6 seconds: those nobody asks about take one.
    assert saved == [(0, 2), (0, 3), (1, 0)]
    assert [p.step for p in told] == [3, 4]


def test_parameters_are_counted_in_the_log(shards, pairs, config, tmp_path, caplog):
    caplog.set_level("INFO")
    train(shards, pairs, replace(config, num_epochs=1), tmp_path)
    assert "relation weights" in caplog.text
    assert "pairs/s" in caplog.text


class Killed(BaseException):
    pass


@pytest.mark.slow
@pytest.mark.parametrize("killed_at", [(1, 2), (1, 4), (2, 1), (3, 4)])
def test_killed_training_ends_with_the_same_bits(
    shards, pairs, config, tmp_path, killed_at
):
    def kill(progress):
        if (progress.epoch, progress.step) == killed_at:
            raise Killed

    whole = train(shards, pairs, config, tmp_path / "whole")
    with pytest.raises(Killed):
        train(shards, pairs, config, tmp_path / "killed", kill)
    resumed = train(shards, pairs, config, tmp_path / "killed")
    assert same(weights_of(whole), weights_of(resumed))
    ends = [read_last(tmp_path / name)["tensors"] for name in ("whole", "killed")]
    assert same(ends[0]["model"], ends[1]["model"])
    assert same(ends[0]["loss"], ends[1]["loss"])
    for one, two in zip(ends[0]["optimizer"], ends[1]["optimizer"], strict=True):
        assert same(one, two)
    timed = {"seconds": 0.0, "pairs_per_second": 0.0, "memory_mib": 0.0}
    records = [[replace(r, **timed) for r in x.history] for x in (whole, resumed)]
    assert records[0] == records[1]


def test_finished_training_does_nothing_more(shards, pairs, config, tmp_path):
    first = train(shards, pairs, config, tmp_path)
    told = []
    assert train(shards, pairs, config, tmp_path, told.append) == first
    assert told == []


def test_seeds_decide_the_weights(shards, pairs, config, tmp_path):
    ends = [
        weights_of(train(shards, pairs, replace(config, seed=seed), tmp_path / name))
        for name, seed in (("a", 0), ("b", 0), ("c", 1))
    ]
    assert same(ends[0], ends[1])
    assert not same(ends[0], ends[2])


def test_training_stops_when_nothing_gets_better(shards, pairs, config, tmp_path):
    still = OptimizerConfig(learning_rate=0, min_learning_rate=0, weight_decay=0)
    config = replace(config, optimizer=still, num_epochs=9, patience=2)
    result = train(shards, pairs, config, tmp_path)
    assert result.stopped_early
    assert result.best_epoch == 1
    assert len(result.history) == 3


def test_best_model_is_kept(shards, pairs, config, tmp_path):
    """A rate that breaks the model after the first epoch."""
    wild = OptimizerConfig(learning_rate=1.0, min_learning_rate=1.0)
    config = replace(config, optimizer=wild, num_epochs=4)
    result = train(shards, pairs, config, tmp_path)
    best = min(result.history, key=lambda r: r.validation_loss)
    assert (result.best_epoch, result.best_loss) == (best.epoch, best.validation_loss)
    if result.best_epoch < len(result.history):
        assert not same(weights_of(result), read_last(tmp_path)["tensors"]["model"])


def test_checkpoint_of_another_training_is_refused(shards, pairs, config, tmp_path):
    train(shards, pairs, config, tmp_path)
    with pytest.raises(ConfigurationError, match="of the same training"):
        train(shards, pairs, replace(config, seed=5), tmp_path)


def test_where_it_runs_does_not_make_another_training(shards, pairs, config, tmp_path):
    train(shards, pairs, config, tmp_path)
    slow = replace(config, compute=ComputeConfig("cpu", backend="reference"))
    assert len(train(shards, pairs, slow, tmp_path).history) == 3


def test_infinite_loss_is_named(shards, pairs, config, tmp_path):
    config = replace(
        config,
        optimizer=OptimizerConfig(learning_rate=1e30),
        num_epochs=9,
    )
    with pytest.raises(TrainingError, match="finite loss"):
        train(shards, pairs, config, tmp_path)


@pytest.mark.parametrize(
    ("part", "changes"),
    [
        ("loss", {"both_directions": True}),
        ("loss", {"beta": 0.3}),
        ("loss", {"objective": "single_vector"}),
        ("augmentation", {"node_mask": 0.0}),
        ("augmentation", {"edge_dropout": 0.0}),
        ("optimizer", {"weight_decay": 0.5}),
        ("model", {"virtual_init": "mean"}),
        ("model", {"decomposition": "none"}),
        ("model", {"readout_dim": 24}),
        ("model", {"content_edges": False}),
    ],
)
def test_each_option_changes_the_training(
    shards, pairs, config, tmp_path, part, changes
):
    config = replace(config, num_epochs=1)
    changed = replace(config, **{part: replace(getattr(config, part), **changes)})
    plain = train(shards, pairs, config, tmp_path / "plain")
    other = train(shards, pairs, changed, tmp_path / "other")
    one, two = weights_of(plain), weights_of(other)
    assert one.keys() != two.keys() or not same(one, two)


def test_formulas_that_look_the_same_are_learned(shards, config, tmp_path):
    """Each post is paired with itself, so all its formulas have a partner."""
    pairs = TrainingPairs.of_rows(np.repeat(np.arange(40), 2).reshape(40, 2), shards)
    still = OptimizerConfig(learning_rate=0, min_learning_rate=0)
    config = replace(
        config, optimizer=still, num_epochs=1, augmentation=AugmentationConfig(0, 0)
    )
    losses = []
    for weight in (0.0, 0.5, 1.0):
        changed = replace(config, loss=replace(config.loss, formula_weight=weight))
        result = train(shards, pairs, changed, tmp_path / str(weight))
        losses.append(result.history[0].train_loss)
    assert losses[0] < losses[1] < losses[2]
    assert losses[2] - losses[1] == pytest.approx(losses[1] - losses[0], rel=1e-3)


@pytest.mark.gpu
def test_killed_training_on_the_gpu_ends_with_the_same_bits(
    shards, pairs, config, tmp_path
):
    config = replace(
        config,
        model=replace(config.model, projection_dim=16),
        compute=ComputeConfig(device="cuda"),
    )

    def kill(progress):
        if (progress.epoch, progress.step) == (2, 2):
            raise Killed

    whole = train(shards, pairs, config, tmp_path / "whole")
    with pytest.raises(Killed):
        train(shards, pairs, config, tmp_path / "killed", kill)
    resumed = train(shards, pairs, config, tmp_path / "killed")
    assert same(weights_of(whole), weights_of(resumed))
    on_cpu = replace(config, compute=CPU)
    slow = train(shards, pairs, on_cpu, tmp_path / "cpu")
    assert whole.history[0].train_loss == pytest.approx(
        slow.history[0].train_loss, rel=1e-2
    )
