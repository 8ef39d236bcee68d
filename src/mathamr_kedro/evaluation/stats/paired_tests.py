"""Tests of two systems over the same topics.

Both look at the differences d_i = a_i - b_i, one per topic, and are two-tailed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mathamr_kedro.base.errors import InputError

FloatArray = npt.NDArray[np.float64]

_CHUNK = 8_192
_TOLERANCE = 1e-12


class PairedTest(NamedTuple):
    """Outcome of a paired test."""

    statistic: float
    p_value: float


def paired_t_test(a: FloatArray, b: FloatArray) -> PairedTest:
    """Test whether the mean difference is zero with Student's t.

        t = mean(d) / (s / √n),   s² = Σ (d_i - mean(d))² / (n - 1),   n - 1 degrees

    Two systems with the same score on every topic have t = 0 and p = 1; a difference
    that is the same on every topic has an infinite t and p = 0.

    >>> t, p = paired_t_test(np.array([0.5, 0.7, 0.9]), np.array([0.4, 0.5, 0.6]))
    >>> round(t, 4), round(p, 4)
    (3.4641, 0.0742)

    Raises:
        InputError: fewer than two topics, or arrays of different length.
    """
    from scipy.special import stdtr  # noqa: PLC0415 -- the only need of scipy here

    d = _differences(a, b)
    if not d.any():
        return PairedTest(0.0, 1.0)
    mean, error = d.mean(), d.std(ddof=1) / np.sqrt(d.size)
    if error <= _TOLERANCE * abs(mean):
        return PairedTest(float(np.copysign(np.inf, mean)), 0.0)
    t = mean / error
    return PairedTest(float(t), float(2 * stdtr(d.size - 1, -abs(t))))


def randomisation_test(
    a: FloatArray, b: FloatArray, num_samples: int = 100_000, seed: int = 0
) -> PairedTest:
    """Test whether the systems could be swapped on any topic (Fisher; Smucker 2007).

    Under the null hypothesis each d_i has either sign with the same probability:

        p = P(|mean(± d)| ≥ |mean(d)|)

    All signs are tried if they are no more than ``num_samples``; else that many are
    drawn, and p = (hits + 1) / (num_samples + 1).

    Args:
        a: scores of one system, one per topic.
        b: scores of the other, same topics in the same order.
        num_samples: how many sign vectors are tried.
        seed: of the draw.

    >>> randomisation_test(np.array([0.5, 0.7, 0.9]), np.array([0.4, 0.5, 0.6])).p_value
    0.25

    Raises:
        InputError: fewer than two topics, or arrays of different length.
    """
    d = _differences(a, b)
    observed = float(d.mean())
    moving = d[d != 0]  # a zero stays zero under either sign
    bound = abs(moving.sum()) * (1 - _TOLERANCE)
    if 2**moving.size <= num_samples:
        hits, total = _count_all_signs(moving, bound), 2**moving.size
        return PairedTest(observed, hits / total)
    hits = _count_drawn_signs(moving, bound, num_samples, seed)
    return PairedTest(observed, (hits + 1) / (num_samples + 1))


def _differences(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return ``a - b`` for two arrays with one score per topic.

    Raises:
        InputError: fewer than two topics, or arrays of different length.
    """
    if a.shape != b.shape or a.ndim != 1:
        raise InputError(
            f"Expected scores of the same topics (got shapes {a.shape} and {b.shape})"
        )
    if a.size < 2:
        raise InputError(f"Expected at least two topics to test (got {a.size})")
    return np.asarray(a - b, dtype=np.float64)


def _count_all_signs(d: FloatArray, bound: float) -> int:
    sums = np.zeros(1)
    for value in d:
        sums = np.concatenate((sums + value, sums - value))
    return int(np.count_nonzero(np.abs(sums) >= bound))


def _count_drawn_signs(d: FloatArray, bound: float, num_samples: int, seed: int) -> int:
    rng = np.random.default_rng(seed)
    num_bytes = -(-d.size // 8)
    total = d.sum()
    hits = 0
    for start in range(0, num_samples, _CHUNK):
        rows = min(_CHUNK, num_samples - start)
        drawn = np.frombuffer(rng.bytes(rows * num_bytes), dtype=np.uint8)
        flips = np.unpackbits(drawn.reshape(rows, num_bytes), axis=1, count=d.size)
        sums = total - 2 * (flips @ d)
        hits += int(np.count_nonzero(np.abs(sums) >= bound))
    return hits
