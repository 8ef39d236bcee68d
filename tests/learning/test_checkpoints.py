"""Checkpoints: what they keep, and what is refused."""

from __future__ import annotations

import math

import pytest
import torch

from mathamr_kedro.base.checksums import replace_checked_file
from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    MalformedInputError,
)
from mathamr_kedro.learning import checkpoints
from mathamr_kedro.learning.checkpoints import (
    CHECKPOINT,
    TrainingState,
    read_checkpoint,
)


def make_tensors(weights: float = 1.0):
    return {"w": torch.tensor(weights)}


def test_a_file_that_is_no_checkpoint_is_named(tmp_path):
    path = tmp_path / CHECKPOINT
    assert read_checkpoint(path) is None
    with replace_checked_file(path) as part, part.open("wb") as file:
        torch.save({"epoch": 3}, file)
    with pytest.raises(MalformedInputError, match=r"checkpoint in .*start again"):
        read_checkpoint(path)


def test_damage_is_found(tmp_path):
    path = tmp_path / CHECKPOINT
    TrainingState().save(path, make_tensors(), "this")
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DamagedFileError, match="start again"):
        read_checkpoint(path)


def test_a_state_resumes_where_it_was_saved(tmp_path):
    path = tmp_path / CHECKPOINT
    state = TrainingState(2, 5, 7.5, 1, 0.25, measures=torch.ones(5, 4))
    state.save(path, make_tensors(3.0), "this")
    tensors = {}
    again = TrainingState.load(path, tensors.update, "this")
    assert tensors["w"] == 3.0
    assert (again.epoch, again.step, again.seconds) == (2, 5, 7.5)
    assert (again.best_epoch, again.best_loss, again.history) == (1, 0.25, [])
    assert torch.equal(again.measures, state.measures)


def test_a_state_of_another_training_or_version_is_refused(tmp_path, monkeypatch):
    path = tmp_path / CHECKPOINT
    assert TrainingState.load(path, dict, "this") is None
    TrainingState().save(path, make_tensors(), "this")
    with pytest.raises(ConfigurationError, match="choose another folder"):
        TrainingState.load(path, dict, "that")
    monkeypatch.setattr(checkpoints, "VERSION", 9)
    with pytest.raises(MalformedInputError, match=r"version 9 .*\(got 1\)"):
        TrainingState.load(path, dict, "this")


def test_a_new_state_has_done_nothing():
    state = TrainingState()
    assert (state.epoch, state.step, state.seconds, state.best_epoch) == (0, 0, 0.0, 0)
    assert (state.best_loss, state.measures.shape) == (math.inf, (0, 1))


@pytest.mark.parametrize(
    ("state", "patience", "is_finished"),
    [
        (TrainingState(epoch=2), 0, False),
        (TrainingState(epoch=3), 0, True),
        (TrainingState(epoch=3, step=1), 0, False),  # steps of an epoch are left
        (TrainingState(epoch=2, best_epoch=1), 1, True),
        (TrainingState(epoch=2, best_epoch=1), 2, False),
        (TrainingState(epoch=2, best_epoch=2), 1, False),
        (TrainingState(epoch=2, best_epoch=1, step=1), 1, False),
    ],
)
def test_a_training_ends_with_its_epochs_or_its_patience(state, patience, is_finished):
    assert state.is_finished(3, patience) == is_finished
