"""Tests of systems over the same topics, corrections for several, and intervals.

Both tests look at the differences d_i = a_i - b_i, one per topic, and are two-tailed. A
corrected p-value is compared with the same level as a single one.

All conditions of an experiment are compared with its baseline on every measure. Each
condition and measure is one test, and all tests of the experiment form one family for
the correction: 3 conditions beside the baseline and 4 measures are m = 12 tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from mathamr_kedro.base.errors import ConfigurationError, InputError, suggest
from mathamr_kedro.base.parameters import check_range

FloatArray = npt.NDArray[np.float64]

_CHUNK = 8_192
_TOLERANCE = 1e-12
_FEWEST = 2
"""Minimum number of topics for a variance."""

Correction = Literal["bonferroni", "holm", "none"]

QUERY_SECONDS = "seconds_per_query"
"""Time of each query: less is better. Tested instead of queries per second, which have
no value per topic: n / Σ t_i differs if the mean of the t_i does."""

TopicScores = Mapping[str, Mapping[str, FloatArray]]
"""Scores by condition and measure, one per topic, topics in the same order in all."""


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

    >>> randomisation_test(np.array([0.5, 0.7, 0.9]), np.array([0.4, 0.5, 0.6])).p_value
    0.25
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
    """Return ``a - b`` for two arrays with one score per topic."""
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

    >>> bootstrap_interval(np.array([0.5, 0.5, 0.5]))
    Interval(low=0.5, high=0.5)
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
    """
    if not sets or min(values.size for values in sets) < _FEWEST:
        raise InputError(f"Expected sets of at least {_FEWEST} topics")
    mean = float(np.mean([values.mean() for values in sets]))
    errors = [values.var(ddof=1) / values.size for values in sets]
    width = NormalDist().inv_cdf((1 + confidence) / 2)
    half = float(width * np.sqrt(np.sum(errors)) / len(sets))
    return mean, Interval(mean - half, mean + half)


def bonferroni(p_values: FloatArray) -> FloatArray:
    """Multiply each of the m p-values by m: min(1, m · p).

    p < α/m, as the thesis puts it, is the same as m · p < α.

    >>> bonferroni(np.array([0.01, 0.04, 0.5]))
    array([0.03, 0.12, 1.  ])
    """
    return np.minimum(1.0, p_values * p_values.size)


def holm(p_values: FloatArray) -> FloatArray:
    """Correct step by step (Holm 1979); never stricter than Bonferroni.

    The k-th smallest of m p-values is multiplied by m - k + 1, and is at least as large
    as the corrected ones before it.

    >>> holm(np.array([0.01, 0.04, 0.5]))
    array([0.03, 0.08, 0.5 ])
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(p_values.size, 0, -1)
    corrected = np.empty_like(p_values)
    stepped = np.maximum.accumulate(p_values[order] * factors)
    corrected[order] = np.minimum(1.0, stepped)
    return corrected


_CORRECTIONS: Mapping[Correction, Callable[[FloatArray], FloatArray]] = {
    "bonferroni": bonferroni,
    "holm": holm,
    "none": np.copy,
}


@dataclass(frozen=True)
class TestConfig:
    """Configuration of tests; the defaults are those of thesis section 4.2."""

    __test__ = False  # not a test class for pytest

    alpha: float = 0.05
    """Level below which a corrected p-value is significant."""
    test: Literal["t", "randomisation"] = "t"
    """Test that decides; the other one is reported as well."""
    correction: Correction = "bonferroni"
    confidence: float = 0.95
    """Of the bootstrap interval."""
    num_samples: int = 10_000
    """Draws of the randomisation test and of the bootstrap."""
    seed: int = 0

    def __post_init__(self) -> None:
        check_range(self, "alpha", "confidence", least=0, most=1)
        check_range(self, "num_samples", least=1)
        check_range(self, "seed", least=0)

    def describe(self, number: int | str) -> str:
        """Describe how differences are tested, with the number of tests of a family.

        >>> TestConfig().describe(12)
        'two-tailed paired t-test over topics, Bonferroni correction over 12 tests'
        """
        test = {"t": "t-test", "randomisation": "randomisation test"}[self.test]
        correction = "not corrected"
        if self.correction != "none":
            title = self.correction.capitalize()
            correction = f"{title} correction over {number} tests"
        return f"two-tailed paired {test} over topics, {correction}"


class Comparison(NamedTuple):
    """One condition against the baseline on one measure."""

    condition: str
    baseline: str
    measure: str
    mean: float
    baseline_mean: float
    difference: float
    interval: Interval
    """Bootstrap interval of the difference."""
    t: float
    p_t: float
    """Two-tailed paired t-test, uncorrected."""
    p_randomisation: float
    """Two-tailed paired randomisation test, uncorrected."""
    p_bonferroni: float
    """The deciding test, corrected."""
    p_holm: float
    wins: int
    """Topics on which the condition is better."""
    ties: int
    losses: int
    significant: bool

    def p_values(self, config: TestConfig) -> tuple[float, float]:
        """Return the p-value of the deciding test, and the corrected one."""
        p = self.p_t if config.test == "t" else self.p_randomisation
        corrected = {"bonferroni": self.p_bonferroni, "holm": self.p_holm, "none": p}
        return p, corrected[config.correction]

    def to_record(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {**self._asdict(), "interval": list(self.interval)}


def compare_with_baseline(
    scores: TopicScores, baseline: str, config: TestConfig | None = None
) -> list[Comparison]:
    """Test every other condition against the baseline on every measure.

    Args:
        scores: scores by condition and measure; a measure that the baseline has and a
            condition lacks is not tested for it, nor one of fewer than two topics.
        baseline: one of the conditions.
        config: how to test.

    Raises:
        ConfigurationError: the baseline is not among the conditions.
        InputError: two conditions have different numbers of topics.
    """
    config = config or TestConfig()
    if baseline not in scores:
        raise ConfigurationError(
            f"Expected one of {list(scores)} as baseline (got {baseline!r})"
            f"{suggest(baseline, scores)}"
        )
    found = [
        _compare(condition, baseline, measure, (values[measure], base), config)
        for condition, values in scores.items()
        if condition != baseline
        for measure, base in scores[baseline].items()
        if measure in values and base.size >= _FEWEST
    ]
    return _correct(found, config)


def _compare(
    condition: str,
    baseline: str,
    measure: str,
    pair: tuple[FloatArray, FloatArray],
    config: TestConfig,
) -> Comparison:
    try:
        t, p_t = paired_t_test(*pair)
    except InputError as exc:
        raise InputError(f"{condition} against {baseline}, {measure}: {exc}") from exc
    d = pair[0] - pair[1]
    drawn = randomisation_test(*pair, config.num_samples, config.seed)
    interval = bootstrap_interval(d, config.confidence, config.num_samples, config.seed)
    wins, ties, losses = count_wins(-d if measure == QUERY_SECONDS else d)
    return Comparison(
        condition, baseline, measure, float(pair[0].mean()), float(pair[1].mean()),
        float(d.mean()), interval, t, p_t, drawn.p_value, 1.0, 1.0, wins, ties, losses,
        significant=False,
    )  # fmt: skip


def count_wins(d: FloatArray) -> tuple[int, int, int]:
    """Return how many differences are above, at and below 0; up to 1e-9 is a tie.

    >>> count_wins(np.array([0.1, 1e-12, -0.2, 0.3, 1e-9, -1e-9]))
    (2, 3, 1)
    """
    wins, losses = int(np.sum(d > 1e-9)), int(np.sum(d < -1e-9))
    return wins, d.size - wins - losses, losses


def _correct(found: list[Comparison], config: TestConfig) -> list[Comparison]:
    raw = np.array([c.p_t if config.test == "t" else c.p_randomisation for c in found])
    columns = zip(
        found,
        bonferroni(raw),
        holm(raw),
        _CORRECTIONS[config.correction](raw),
        strict=True,
    )
    return [
        comparison._replace(
            p_bonferroni=float(by_bonferroni),
            p_holm=float(by_holm),
            significant=bool(deciding < config.alpha),
        )
        for comparison, by_bonferroni, by_holm, deciding in columns
    ]
