"""Confidence intervals of a mean over topics, and of a mean over sets of topics."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from mathamr_kedro.base.errors import InputError
from mathamr_kedro.evaluation.stats.paired_tests import FloatArray

_CHUNK = 8_192
_FEWEST = 2
"""Topics that have a variance."""


class Interval(NamedTuple):
    """A confidence interval."""

    low: float
    high: float


def bootstrap_interval(
    values: FloatArray,
    confidence: float = 0.95,
    num_samples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Return the percentile interval of the mean (Efron 1979).

    Topics are drawn with replacement ``num_samples`` times; the interval holds the
    middle ``confidence`` of the means.

    Args:
        values: one value per topic: scores, or differences of two systems.
        confidence: share of the means inside the interval.
        num_samples: how many samples of topics are drawn.
        seed: of the draw.

    >>> bootstrap_interval(np.array([0.5, 0.5, 0.5]))
    Interval(low=0.5, high=0.5)

    Raises:
        InputError: there is no value.
    """
    if values.size == 0:
        raise InputError("Expected at least one topic to draw from (got none)")
    rng = np.random.default_rng(seed)
    means = np.empty(num_samples)
    for start in range(0, num_samples, _CHUNK):
        rows = min(_CHUNK, num_samples - start)
        drawn = rng.integers(0, values.size, size=(rows, values.size))
        means[start : start + rows] = values[drawn].mean(axis=1)
    tail = (1 - confidence) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return Interval(float(low), float(high))


def interval_over_sets(
    sets: Sequence[FloatArray], confidence: float = 0.95
) -> tuple[float, Interval]:
    """Return the mean of the means of K sets, each weighing the same, and its interval.

    Topics of different sets are independent, so that its standard error is
    ``sqrt(sum(s_k^2 / n_k)) / K``; with hundreds of topics it is normally distributed.

    >>> interval_over_sets([np.array([0.2, 0.2]), np.array([0.6, 0.6, 0.6])])
    (0.4, Interval(low=0.4, high=0.4))

    Raises:
        InputError: a set has fewer than two topics.
    """
    if not sets or min(values.size for values in sets) < _FEWEST:
        raise InputError(f"Expected sets of at least {_FEWEST} topics")
    mean = float(np.mean([values.mean() for values in sets]))
    errors = [values.var(ddof=1) / values.size for values in sets]
    width = NormalDist().inv_cdf((1 + confidence) / 2)
    half = float(width * np.sqrt(np.sum(errors)) / len(sets))
    return mean, Interval(mean - half, mean + half)
