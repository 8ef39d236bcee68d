"""Weights come back as they were written, and damage is found."""

from __future__ import annotations

import pytest
import torch

from mathamr_kedro.base.errors import DamagedFileError, MissingInputError
from mathamr_kedro.systems.weights import load_weights, save_weights


def make():
    return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))


@pytest.mark.parametrize("half", [False, True])
def test_weights_are_read_as_written_and_damage_is_found(tmp_path, half):
    path = tmp_path / "model" / "weights.arrays"
    path.parent.mkdir()
    again = make()
    with pytest.raises(MissingInputError, match="stage 'training'"):
        load_weights(again, path)
    module = make()
    save_weights(module, path, half)
    load_weights(again, path)
    for name, value in module.state_dict().items():
        expected = value.half().to(value.dtype) if half else value
        assert torch.equal(again.state_dict()[name], expected), name
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DamagedFileError, match="train again"):
        load_weights(again, path)
