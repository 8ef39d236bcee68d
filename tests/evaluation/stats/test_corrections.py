"""Corrections against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.evaluation.stats.significance import (
    bonferroni,
    correct_p_values,
    holm,
)


@pytest.mark.parametrize("count", [1, 4, 12])
@pytest.mark.parametrize(
    ("ours", "theirs"), [(bonferroni, "bonferroni"), (holm, "holm")]
)
def test_corrected_p_values_are_those_of_statsmodels(monkeypatch, count, ours, theirs):
    # statsmodels looks for garbage at every call: seconds, beside all other tests.
    monkeypatch.setattr("gc.collect", lambda: 0)
    rng = np.random.default_rng(1)
    p_values = rng.choice([1e-12, 0.001, 0.004, 0.02, 0.04, 0.3, 1.0], count)
    expected = multipletests(p_values, method=theirs)[1]
    np.testing.assert_allclose(ours(p_values), expected, rtol=1e-12)


def test_holm_is_never_stricter_than_bonferroni():
    p_values = np.random.default_rng(1).random(50) ** 4
    assert (holm(p_values) <= bonferroni(p_values)).all()
    assert (holm(p_values) < bonferroni(p_values)).any()


def test_correction_by_name():
    p_values = np.array([0.01, 0.04])
    assert correct_p_values(p_values, "bonferroni").tolist() == [0.02, 0.08]
    assert correct_p_values(p_values, "holm").tolist() == [0.02, 0.04]
    assert correct_p_values(p_values, "none").tolist() == [0.01, 0.04]
    with pytest.raises(ConfigurationError, match="did you mean 'holm'"):
        correct_p_values(p_values, "hulm")


def test_no_tests_need_no_correction():
    assert holm(np.array([])).size == 0
