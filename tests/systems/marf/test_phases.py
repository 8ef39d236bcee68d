"""One training of MaRF on a module of one number: what each step and epoch does."""

from __future__ import annotations

import logging
import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import nn

from mathamr_kedro.base.errors import ConfigurationError, TrainingError
from mathamr_kedro.systems.marf import phases
from mathamr_kedro.systems.marf.config import PhaseConfig
from mathamr_kedro.systems.marf.phases import Phase

CONFIG = PhaseConfig(epochs=2, learning_rate=0.1, batch_size=4)


class Number(nn.Module):
    """Its loss on a batch is its distance from a target."""

    def __init__(self) -> None:
        super().__init__()
        self.value = nn.Parameter(torch.zeros(()))
        self.fixed = nn.Parameter(torch.zeros(()), requires_grad=False)
        self.batches: list[tuple[bool, np.ndarray]] = []

    def find_loss(self, rows, rng):
        self.batches.append((self.training, rows))
        return (self.value - 3.0).abs()


def make_phase(module=None, pairs=10, held_out=5, config=CONFIG, loss=None, **changes):
    module = module or Number()
    rows = np.arange(2 * (pairs + held_out)).reshape(-1, 2)
    return Phase(
        "formula", module, config, 7, rows[:pairs], rows[pairs:],
        loss or module.find_loss, **changes,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (8, [0.25, 0.5, *(0.5 * k / 18 for k in range(18, 0, -1))]),
        # a tenth of fifteen is one and a half: never above the rate itself
        (6, [0.5 / 1.5, 0.5, *(0.5 * k / 13.5 for k in range(13, 0, -1))]),
    ],
)
def test_the_rate_rises_in_a_tenth_of_the_steps_and_falls_to_the_end(
    tmp_path, monkeypatch, pairs, expected
):
    rates = []
    step = torch.optim.AdamW.step

    def note(self, *args):
        rates.append(self.param_groups[0]["lr"])
        return step(self, *args)

    monkeypatch.setattr(torch.optim.AdamW, "step", note)
    config = PhaseConfig(epochs=5, learning_rate=0.5, batch_size=2)
    make_phase(pairs=pairs, config=config).run(tmp_path)
    assert rates == pytest.approx(expected)


def test_a_training_of_one_step_has_the_whole_rate(tmp_path):
    phase = make_phase(pairs=2, config=PhaseConfig(1, 0.5, 2))
    phase.run(tmp_path)
    assert phase.module.value.item() == pytest.approx(0.5, abs=1e-3)  # one of Adam's


def test_each_pair_is_seen_once_in_an_epoch_and_a_rest_of_one_is_left(tmp_path):
    phase = make_phase(pairs=9)
    phase.run(tmp_path)
    learned = [rows for is_training, rows in phase.module.batches if is_training]
    assert [len(rows) for rows in learned] == [4, 4] * 2
    for epoch in (learned[:2], learned[2:]):
        assert len(np.unique(np.concatenate(epoch), axis=0)) == 8
    assert learned[0].tolist() != learned[2].tolist()  # another order
    held_out = [rows for is_training, rows in phase.module.batches if not is_training]
    assert [len(rows) for rows in held_out] == [4] * 3  # before, and after each epoch


def test_held_out_batches_count_by_their_pairs():
    module = Number()
    phase = make_phase(
        module, held_out=6, loss=lambda rows, rng: torch.tensor(float(len(rows)))
    )
    assert phase._validate() == pytest.approx((4 * 4 + 2 * 2) / 6)
    assert not module.training
    assert math.isnan(make_phase(held_out=1)._validate())
    assert math.isnan(make_phase(held_out=0)._validate())


def test_the_best_epoch_is_kept(tmp_path, caplog):
    module = Number()
    held_out = iter([0.5, 0.2, 0.2, 0.9])  # at first, then after each epoch
    values = []

    def find_loss(rows, rng):
        if module.training:
            return module.find_loss(rows, rng)
        values.append(module.value.item())
        return torch.tensor(next(held_out))

    config = PhaseConfig(epochs=3, learning_rate=0.1, batch_size=5)
    history = make_phase(module, config=config, loss=find_loss).run(tmp_path)
    assert [r["best"] for r in history] == [True, False, False]
    assert [r["validation_loss"] for r in history] == pytest.approx([0.2, 0.2, 0.9])
    assert [(r["epoch"], r["part"]) for r in history] == [
        (1, "formula"), (2, "formula"), (3, "formula"),
    ]  # fmt: skip
    assert module.value.item() == values[1] != values[3]
    assert [r for r in caplog.records if r.levelno > logging.INFO] == []


def test_a_start_that_nothing_betters_is_kept_aloud(tmp_path, caplog):
    module = Number()

    def find_loss(rows, rng):
        return module.find_loss(rows, rng) if module.training else torch.tensor(0.5)

    history = make_phase(module, loss=find_loss).run(tmp_path)
    assert [r["best"] for r in history] == [False, False]
    assert module.value.item() == 0.0
    assert "formula: no epoch was better than the start" in caplog.text


def test_without_held_out_pairs_the_last_epoch_is_taken(tmp_path):
    phase = make_phase(held_out=0)
    history = phase.run(tmp_path)
    assert [r["best"] for r in history] == [True, True]
    assert [r["validation_loss"] for r in history] == [None, None]
    losses = [r["loss"] for r in history]
    assert 3.0 > losses[0] > losses[1] > 0
    last = torch.load(tmp_path / "formula.pt", weights_only=True)["module"]["value"]
    assert phase.module.value.item() == last.item() > 0


@pytest.mark.parametrize(("factor", "norm"), [(100, 1.0), (0.25, 0.25)])
def test_gradients_of_each_step_are_clipped_and_fixed_weights_stay(
    tmp_path, monkeypatch, factor, norm
):
    norms = []
    step = torch.optim.AdamW.step

    def note(self, *args):
        norms.append([p.grad.item() for g in self.param_groups for p in g["params"]])
        return step(self, *args)

    monkeypatch.setattr(torch.optim.AdamW, "step", note)
    module = Number()
    phase = make_phase(module, loss=lambda r, rng: factor * module.find_loss(r, rng))
    phase.run(tmp_path)
    assert norms == [[pytest.approx(-norm, abs=1e-4)]] * 6
    assert module.fixed.item() == 0.0


def test_what_is_drawn_in_a_step_follows_from_the_seed_alone(tmp_path):
    drawn = []
    for number in (1, 2):
        torch.manual_seed(number)
        folder = tmp_path / str(number)
        folder.mkdir()
        module = Number()

        def find_loss(rows, rng, module=module):
            return module.find_loss(rows, rng) + torch.rand(()) + rng.random()

        history = make_phase(module, held_out=0, loss=find_loss).run(folder)
        drawn.append([r["loss"] for r in history])
    assert drawn[0] == drawn[1]


def test_a_batch_that_teaches_nothing_is_passed_over(tmp_path):
    phase = make_phase(loss=lambda rows, rng: torch.tensor(0.5))
    history = phase.run(tmp_path)
    assert [r["loss"] for r in history] == [0.5, 0.5]
    assert phase.module.value.item() == 0.0


def test_a_loss_that_is_no_number_ends_the_training(tmp_path):
    phase = make_phase(held_out=0, loss=lambda rows, rng: torch.tensor(math.nan))
    with pytest.raises(TrainingError, match="no number in epoch 1, step 1"):
        phase.run(tmp_path)


def test_two_pairs_are_enough_and_one_is_not(tmp_path):
    assert len(make_phase(pairs=2).run(tmp_path)) == 2
    with pytest.raises(ConfigurationError, match=r"at least 2 pairs .*\(got 1\)"):
        make_phase(pairs=1).run(tmp_path)
    assert make_phase(pairs=1, config=PhaseConfig(epochs=0)).run(tmp_path) == []


@pytest.mark.parametrize(("seconds", "inside"), [(9, []), (2, [2]), (1, [1, 2, 3])])
def test_a_checkpoint_is_written_when_its_time_has_come(
    tmp_path, monkeypatch, seconds, inside
):
    """Each step takes a second; the end of an epoch has a checkpoint of its own."""
    module, saved = Number(), []
    clock = SimpleNamespace(
        perf_counter=lambda: (
            50.0 + sum(is_training for is_training, _ in module.batches)
        )
    )
    monkeypatch.setattr(phases, "time", clock)
    monkeypatch.setattr(
        phases,
        "write_checkpoint",
        lambda path, values: saved.append(
            (values["done"]["epoch"], values["done"]["step"], values["done"]["seconds"])
        ),
    )
    config = PhaseConfig(epochs=1, learning_rate=0.1, batch_size=4)
    phase = make_phase(module, config=config, checkpoint_seconds=seconds)
    (record,) = phase.run(tmp_path)
    assert saved == [*((0, step, step) for step in inside), (1, 0, 0.0)]
    assert record["seconds"] == 3.0


def test_time_and_losses_before_a_stop_count(tmp_path, monkeypatch):
    (tmp_path / "whole").mkdir()
    whole = make_phase(Number()).run(tmp_path / "whole")
    modules = [Number(), Number()]
    clock = SimpleNamespace(
        perf_counter=lambda: float(
            sum(training for m in modules for training, _ in m.batches)
        )
    )
    monkeypatch.setattr(phases, "time", clock)

    def stop(rows, rng, module=modules[0]):
        if len(module.batches) == 3:  # held out pairs, then two steps
            raise KeyboardInterrupt
        return module.find_loss(rows, rng)

    with pytest.raises(KeyboardInterrupt):
        make_phase(modules[0], loss=stop, checkpoint_seconds=1).run(tmp_path)
    history = make_phase(modules[1], checkpoint_seconds=1).run(tmp_path)
    assert [r["loss"] for r in history] == [r["loss"] for r in whole]
    assert [r["seconds"] for r in history] == [3.0, 3.0]


def test_another_training_is_not_gone_on_with(tmp_path):
    make_phase().run(tmp_path)
    with pytest.raises(ConfigurationError, match="of the same training"):
        make_phase(pairs=9).run(tmp_path)
    assert len(make_phase().run(tmp_path)) == 2
