"""Training: it goes on after a kill, and refuses what it cannot use."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from mathamr_kedro.base.errors import ConfigurationError, TrainingError
from mathamr_kedro.systems.formula_rgcn import trainer
from mathamr_kedro.systems.formula_rgcn.config import PAIRINGS, RgcnConfig
from mathamr_kedro.systems.formula_rgcn.forest import ForestWriter
from mathamr_kedro.systems.formula_rgcn.preparation import write_forests
from mathamr_kedro.systems.formula_rgcn.trainer import Trainer
from tests.systems.formula_rgcn.conftest import SMALL

CONFIG = RgcnConfig(**{**SMALL, "hidden_dim": 8, "batch_size": 16, "num_epochs": 2})


@pytest.fixture(scope="module")
def prepared(sample, tmp_path_factory):
    folder = tmp_path_factory.mktemp("prepared")
    counts = write_forests(sample.sources, replace(CONFIG, max_formulas=60), folder)
    assert counts["formulas"] == 60 - sum(
        counts[name] for name in ("without_trees", "too_large", "alike")
    )
    return folder


class KilledError(Exception):
    pass


@pytest.mark.parametrize("steps", [1, 3, 5])
def test_a_killed_training_ends_with_the_same_weights(
    prepared, tmp_path, monkeypatch, steps
):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    for folder in (whole, parts):
        folder.mkdir()
    expected = Trainer(CONFIG, prepared, whole, 7).run()
    monkeypatch.setattr(trainer, "_SECONDS", 0.0)
    taken = []
    step = Trainer._take_step

    def die(self, rows, draws):
        if len(taken) == steps:
            raise KilledError
        taken.append(rows)
        return step(self, rows, draws)

    monkeypatch.setattr(Trainer, "_take_step", die)
    with pytest.raises(KilledError):
        Trainer(CONFIG, prepared, parts, 7).run()
    monkeypatch.setattr(Trainer, "_take_step", step)
    again = Trainer(CONFIG, prepared, parts, 7)
    assert again._state.epoch * 4 + again._state.step == steps
    history = again.run()
    assert [e["loss"] for e in history] == [e["loss"] for e in expected]
    mine, theirs = (torch.load(f / "weights.pt") for f in (whole, parts))
    assert all(torch.equal(mine[name], theirs[name]) for name in theirs)
    assert not (parts / "checkpoint.pt").exists()


def test_history_has_means_over_the_steps(prepared, tmp_path, monkeypatch):
    taken = []
    step = Trainer._take_step

    def note(self, rows, draws):
        taken.append(step(self, rows, draws))
        return taken[-1]

    monkeypatch.setattr(Trainer, "_take_step", note)
    made = Trainer(CONFIG, prepared, tmp_path, 7)
    first, second = made.run()
    assert len(taken) == 8
    for record, steps in ((first, taken[:4]), (second, taken[4:])):
        loss, accuracy = torch.stack(steps).mean(0).tolist()
        assert record["loss"] == pytest.approx(loss)
        assert record["accuracy"] == pytest.approx(accuracy)
        assert record["formulas"] == made.count


@pytest.mark.parametrize(("limit", "inside"), [(9, []), (2, [2, 4]), (1, [1, 2, 3, 4])])
def test_a_checkpoint_is_written_when_its_time_has_come(
    prepared, tmp_path, monkeypatch, limit, inside
):
    """Each step takes a second; the end of an epoch has a checkpoint of its own."""
    taken, saved = [], []

    def take_a_second(self, rows, draws):
        taken.append(rows)
        return torch.tensor([0.5, 0.25], dtype=torch.float64)

    def note(self):
        saved.append((self._state.epoch, self._state.step, self._state.seconds))

    clock = SimpleNamespace(monotonic=lambda: 10.0 + len(taken))
    monkeypatch.setattr(trainer, "time", clock)
    monkeypatch.setattr(trainer, "_SECONDS", limit)
    monkeypatch.setattr(Trainer, "_take_step", take_a_second)
    monkeypatch.setattr(Trainer, "_save", note)
    made = Trainer(replace(CONFIG, num_epochs=1), prepared, tmp_path, 7)
    (record,) = made.run()
    assert saved == [*((0, step, step) for step in inside), (1, 0, 0.0)]
    assert (record["seconds"], record["loss"], record["accuracy"]) == (4.0, 0.5, 0.25)
    sizes = [len(rows) for rows in taken]
    assert sizes == [16, 16, 16, made.count - 48]
    assert sorted(np.concatenate(taken)) == list(range(made.count))


def test_time_before_a_stop_counts(prepared, tmp_path, monkeypatch):
    taken = []
    clock = SimpleNamespace(monotonic=lambda: 10.0 + len(taken))

    def take_a_second(self, rows, draws):
        if len(taken) == 2 and self is first:
            raise KilledError
        taken.append(rows)
        return torch.zeros(2, dtype=torch.float64)

    monkeypatch.setattr(trainer, "time", clock)
    monkeypatch.setattr(trainer, "_SECONDS", 1.0)
    monkeypatch.setattr(Trainer, "_take_step", take_a_second)
    config = replace(CONFIG, num_epochs=1)
    first = Trainer(config, prepared, tmp_path, 7)
    with pytest.raises(KilledError):
        first.run()
    (record,) = Trainer(config, prepared, tmp_path, 7).run()
    assert (len(taken), record["seconds"]) == (4, 4.0)


@pytest.mark.parametrize("pairs", PAIRINGS)
def test_every_pairing_learns(prepared, tmp_path, pairs):
    config = replace(CONFIG, pairs=pairs, num_epochs=3)
    history = Trainer(config, prepared, tmp_path, 7).run()
    assert [record["epoch"] for record in history] == [1, 2, 3]
    assert history[-1]["loss"] < history[0]["loss"]
    assert {f.stem for f in tmp_path.glob("?*g.json")} == set(config.kinds)


def test_another_training_is_not_gone_on_with(prepared, tmp_path, monkeypatch):
    monkeypatch.setattr(Trainer, "run", lambda self: self._run_epoch())
    Trainer(CONFIG, prepared, tmp_path, 7).run()
    with pytest.raises(ConfigurationError, match="same training"):
        Trainer(CONFIG, prepared, tmp_path, 8)
    assert Trainer(CONFIG, prepared, tmp_path, 7)._state.epoch == 1


def test_seeds_differ_and_repeat(prepared, tmp_path):
    losses = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / name).mkdir()
        history = Trainer(CONFIG, prepared, tmp_path / name, seed).run()
        losses.append(history[-1]["loss"])
    assert losses[0] == losses[1] != losses[2]


def test_no_epochs_leave_the_first_weights(prepared, tmp_path):
    made = Trainer(replace(CONFIG, num_epochs=0), prepared, tmp_path, 7)
    assert made.run() == []
    assert (tmp_path / "weights.pt").is_file()


def test_a_loss_that_is_no_number_ends_the_training(prepared, tmp_path):
    made = Trainer(CONFIG, prepared, tmp_path, 7)
    with torch.no_grad():
        made.encoders["slg"].bias.fill_(torch.nan)
    with pytest.raises(TrainingError, match="finite loss in epoch 1"):
        made.run()


def test_one_formula_is_not_enough(tmp_path):
    for kind in ("slg", "opg"):
        ForestWriter(tmp_path, kind).close(1)
    with pytest.raises(TrainingError, match="at least two formulas"):
        Trainer(CONFIG, tmp_path, tmp_path, 7)


def test_a_formula_left_over_is_passed_over(prepared, tmp_path):
    count = Trainer(CONFIG, prepared, tmp_path, 7).count
    config = replace(CONFIG, batch_size=count - 1, num_epochs=1)
    history = Trainer(config, prepared, tmp_path, 7).run()
    assert np.isfinite(history[0]["loss"])


@pytest.mark.gpu
def test_a_gpu_computes_what_the_cpu_does(prepared, tmp_path):
    """Kernels and search for partners: loss and gradients of a batch of real trees."""
    found = []
    config = replace(CONFIG, hidden_dim=128)
    for device in ("cpu", "cuda"):
        made = Trainer(config, prepared, tmp_path, 7)
        made._device = torch.device(device)
        made.encoders.to(device)
        order, draws = made._draw(0)
        loss = made.compare(order[:32], draws[:, order[:32]]).loss
        loss.backward()
        grads = [p.grad.cpu() for p in made.encoders.parameters()]
        found.append((loss.item(), grads))
    (mine, my_grads), (theirs, their_grads) = found
    assert mine == pytest.approx(theirs, rel=1e-4)
    for a, b in zip(my_grads, their_grads, strict=True):
        assert (a - b).norm() <= 1e-2 * a.norm() + 1e-6
