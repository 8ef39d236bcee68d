"""The training loop, with a line that learns its slope."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from torch import nn

from mathamr_kedro.base.errors import ConfigurationError, TrainingError
from mathamr_kedro.learning.checkpoints import TrainingState
from mathamr_kedro.learning.loop import ModuleLearner, Training


class Killed(BaseException):
    pass


def draw_batches(epoch):
    rng = np.random.default_rng([3, epoch])
    return [torch.from_numpy(rng.random((4, 1))).float() for _ in range(5)]


def make_learner(**changes):
    torch.manual_seed(0)
    line = nn.Sequential(nn.Linear(1, 8), nn.Dropout(0.0), nn.Linear(8, 1))

    def compute(batch):
        error = line(batch) - 2 * batch
        return error.square().mean(), error.abs().mean()

    given = {
        "name": "line",
        "module": line,
        "optimizer": torch.optim.Adam(line.parameters(), lr=0.05),
        "draw_batches": draw_batches,
        "compute": compute,
        "measures": ("loss", "error"),
        "batch_size": 4,
        "unit": "points",
    }
    return ModuleLearner(**given | changes)


def make_training(learner, folder, **changes):
    given = {"num_epochs": 4, "checkpoint_seconds": 0.0, "log_seconds": 0.0}
    return Training(learner, folder / "checkpoint.pt", "line", **given | changes)


def weights_of(learner):
    return torch.cat([p.detach().flatten() for p in learner.module.parameters()])


def test_the_loss_falls_and_the_history_says_so(tmp_path):
    learner = make_learner(facts={"points": 20})
    history = make_training(learner, tmp_path).run()
    assert [r["epoch"] for r in history] == [1, 2, 3, 4]
    assert history[-1]["loss"] < history[0]["loss"]
    assert {*history[0]} == {"epoch", "loss", "error", "seconds", "points"}


@pytest.mark.parametrize("place", [(1, 2), (1, 5), (3, 1), (4, 5)])
def test_a_killed_training_ends_with_the_same_bits(tmp_path, place):
    def kill(progress):
        if (progress.epoch, progress.step) == place:
            raise Killed

    whole = make_learner(rate=lambda step, total: 1 - step / total)
    expected = make_training(whole, tmp_path).run()
    folder = tmp_path / "killed"
    folder.mkdir()
    with pytest.raises(Killed):
        make_training(make_learner(rate=whole.rate), folder).run(kill)
    resumed = make_learner(rate=whole.rate)
    found = make_training(resumed, folder).run()
    assert torch.equal(weights_of(resumed), weights_of(whole))
    timeless = [[{**r, "seconds": 0} for r in h] for h in (expected, found)]
    assert timeless[0] == timeless[1]


def test_short_epochs_of_large_models_share_a_checkpoint(tmp_path, monkeypatch):
    """Writing one takes two seconds here, an epoch less."""
    seconds, save, written = itertools.count(step=2), TrainingState.save, []

    def note(state, *given):
        written.append(state.epoch)
        save(state, *given)

    monkeypatch.setattr("time.monotonic", lambda: next(seconds))
    monkeypatch.setattr(TrainingState, "save", note)
    make_training(make_learner(), tmp_path, checkpoint_seconds=300).run()
    assert written == [1, 4]


def test_a_training_that_has_ended_does_nothing_more(tmp_path):
    first = make_training(make_learner(), tmp_path).run()
    assert make_training(make_learner(draw_batches=None), tmp_path).run() == first


def test_the_checkpoint_of_another_training_is_refused(tmp_path):
    make_training(make_learner(), tmp_path).run()
    other = Training(make_learner(), tmp_path / "checkpoint.pt", "curve", 4)
    with pytest.raises(ConfigurationError, match="of the same training"):
        other.run()


@pytest.mark.parametrize(
    ("losses", "beats_start", "kept", "epochs", "best"),
    [
        ([3.0, 1.0, 2.0, 4.0], False, [0, 1], 4, 2),
        ([3.0, 3.0, 3.0, 1.0], False, [0], 3, 1),
        ([3.0, 4.0, 2.0, 5.0, 6.0], True, [0, 2], 4, 2),
        ([3.0, 4.0, 4.0, 4.0], True, [0], 2, 0),  # no epoch beats the start
    ],
)
def test_the_best_epoch_is_kept_and_patience_ends(
    tmp_path, losses, beats_start, kept, epochs, best
):
    asked, noted = [], []

    def validate():
        asked.append(not learner.module.training and not torch.is_grad_enabled())
        return {"validation_loss": losses[len(asked) - 1]}

    learner = make_learner(
        validate=validate,
        keep_best=lambda: noted.append(len(asked) - 1),
        beats_start=beats_start,
    )
    training = make_training(learner, tmp_path, patience=2)
    history = training.run()
    assert (noted, len(history)) == (kept, epochs)
    assert training.state.best_epoch == best
    assert all(asked)


def test_without_validation_the_last_epoch_is_the_best(tmp_path):
    kept = []
    learner = make_learner(keep_best=lambda: kept.append(1))
    training = make_training(learner, tmp_path, patience=1)
    assert len(training.run()) == len(kept) == training.state.best_epoch == 4


def test_rates_are_as_asked(tmp_path):
    rates = []

    def rate(step, total):
        rates.append((step, total))
        return 0.0

    learner = make_learner(rate=rate)
    before = weights_of(learner)
    make_training(learner, tmp_path, num_epochs=2).run()
    assert rates == [(step, 10) for step in range(10)]
    assert torch.equal(weights_of(learner), before)


def test_no_step_is_longer_than_the_norm_of_clipped_gradients(tmp_path):
    learner = make_learner(clip_norm=1e-3)
    learner.optimizer = torch.optim.SGD(learner.module.parameters(), lr=1.0)
    before = weights_of(learner)
    make_training(learner, tmp_path, num_epochs=1).run()
    moved = (weights_of(learner) - before).norm()
    assert 1e-3 < moved < 5.01e-3  # five steps


def test_a_loss_that_is_not_finite_is_named(tmp_path):
    losses = iter([1.0, math.nan])

    def compute(batch):
        return torch.tensor(next(losses)), torch.tensor(0.0)

    with pytest.raises(TrainingError, match=r"of line \(got nan in epoch 1, step 2\)"):
        make_training(make_learner(compute=compute), tmp_path).run()


def test_progress_is_logged_with_its_unit(tmp_path, caplog):
    caplog.set_level("INFO")
    make_training(make_learner(), tmp_path, num_epochs=1).run()
    assert "line: epoch 1/1, step 1/5: loss" in caplog.text
    assert "points/s" in caplog.text
    assert "line: epoch 1/1: loss" in caplog.text
