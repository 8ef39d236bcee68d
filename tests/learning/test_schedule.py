"""The learning rate falls along a cosine to its minimum."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.learning.schedule import cosine_rates
from mathamr_kedro.learning.step import OptimizerConfig


def test_rates_fall_from_the_first_to_the_minimum():
    rates = cosine_rates(OptimizerConfig(), 0, 101, 101)
    assert rates[0] == pytest.approx(1e-4)
    assert rates[-1] == pytest.approx(1e-5)
    assert rates[50] == pytest.approx(5.5e-5)
    assert (np.diff(rates) < 0).all()


def test_epochs_are_parts_of_one_cosine():
    whole = cosine_rates(OptimizerConfig(), 0, 12, 12)
    parts = [cosine_rates(OptimizerConfig(), first, 4, 12) for first in (0, 4, 8)]
    assert np.concatenate(parts).tolist() == whole.tolist()
