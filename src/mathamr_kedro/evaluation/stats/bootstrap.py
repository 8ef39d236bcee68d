"""Bootstrap confidence intervals of a mean over topics."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mathamr_kedro.base.errors import InputError
from mathamr_kedro.evaluation.stats.paired_tests import FloatArray

_CHUNK = 8_192


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
