"""All conditions of an experiment against its baseline, on every measure.

Each condition and measure is one test, and all tests of the experiment form one family
for the correction: 3 conditions beside the baseline and 4 measures are m = 12 tests.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from mathamr_kedro.base.errors import ConfigurationError, InputError, suggest
from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.evaluation.stats.significance import (
    Correction,
    FloatArray,
    Interval,
    bootstrap_interval,
    correct_p_values,
    paired_t_test,
    randomisation_test,
)

QUERY_SECONDS = "seconds_per_query"
"""Time of each query: less is better. Tested in place of queries per second, which
have no value per topic: n / Σ t_i differs when the mean of the t_i does."""

TopicScores = Mapping[str, Mapping[str, FloatArray]]
"""Scores by condition and measure, one per topic, topics in the same order in all."""


@dataclass(frozen=True)
class TestConfig:
    """How differences are tested; the defaults are those of thesis section 4.2."""

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


def compare_with_baseline(
    scores: TopicScores, baseline: str, config: TestConfig | None = None
) -> list[Comparison]:
    """Test every other condition against the baseline on every measure.

    Args:
        scores: scores by condition and measure; a measure that the baseline has and a
            condition lacks is not tested for it.
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
        if measure in values
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
        correct_p_values(raw, "bonferroni"),
        correct_p_values(raw, "holm"),
        correct_p_values(raw, config.correction),
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
