"""Bootstrap intervals against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mathamr_kedro.base.errors import InputError
from mathamr_kedro.evaluation.stats.significance import bootstrap_interval

VALUES = np.random.default_rng(2).normal(0.03, 0.1, 78)


@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_interval_is_that_of_scipy_up_to_the_draw(confidence):
    theirs = stats.bootstrap(
        (VALUES,), np.mean, n_resamples=20_000, confidence_level=confidence,
        method="percentile", rng=np.random.default_rng(0),
    ).confidence_interval  # fmt: skip
    ours = bootstrap_interval(VALUES, confidence, num_samples=20_000, seed=1)
    assert ours == pytest.approx(tuple(theirs), abs=0.001)


def test_interval_depends_on_the_seed_alone():
    assert bootstrap_interval(VALUES, seed=3) == bootstrap_interval(VALUES, seed=3)
    assert bootstrap_interval(VALUES, seed=3) != bootstrap_interval(VALUES, seed=4)
    assert bootstrap_interval(VALUES) == bootstrap_interval(VALUES, 0.95, 10_000, 0)


def test_interval_covers_the_true_mean_as_often_as_it_says():
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(300):
        low, high = bootstrap_interval(rng.normal(1, 1, 60), num_samples=500)
        hits += low <= 1 <= high
    assert 0.90 <= hits / 300 <= 0.98


def test_one_topic_has_no_width_and_none_is_refused():
    assert bootstrap_interval(np.array([0.5])) == (0.5, 0.5)
    with pytest.raises(InputError, match="at least one topic"):
        bootstrap_interval(np.array([]))
