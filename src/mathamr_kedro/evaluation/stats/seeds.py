"""Results of one condition over several seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from mathamr_kedro.base.errors import InputError, suggest
from mathamr_kedro.base.machines import Machine
from mathamr_kedro.evaluation.stats.paired_tests import FloatArray


@dataclass(frozen=True)
class SeedResult:
    """Scores of one trained model."""

    seed: int
    per_topic: Mapping[str, FloatArray]
    """One score per topic by measure; topics in the same order everywhere."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """Figures that are no mean over topics: time per epoch, memory, index size. A
    figure with the name of a measure is shown instead of its mean."""
    machines: Mapping[str, Machine] = field(default_factory=dict)
    """Where values were measured that depend on it, by their names: times, memory."""

    def value(self, name: str) -> float:
        """Return a figure, or the mean of a measure over topics.

        Raises:
            InputError: there is neither.
        """
        if name in self.figures:
            return self.figures[name]
        if name in self.per_topic:
            return float(np.mean(self.per_topic[name]))
        known = [*self.per_topic, *self.figures]
        raise InputError(
            f"No value {name!r} for seed {self.seed}{suggest(name, known)}; "
            f"known: {', '.join(known)}"
        )

    def has(self, name: str) -> bool:
        """Return whether the figure or measure exists."""
        return name in self.figures or name in self.per_topic


class _Spread(NamedTuple):
    """Mean and standard deviation over seeds."""

    mean: float
    std: float | None
    """``None``: one seed has no spread."""
    num_seeds: int


def select_best_seed(results: Sequence[SeedResult], by: str = "nDCG'") -> SeedResult:
    """Return the result with the highest value, of several the smallest seed.

    Raises:
        InputError: there is no result.
    """
    if not results:
        raise InputError("Expected the result of at least one seed (got none)")
    return min(results, key=lambda result: (-result.value(by), result.seed))


def summarise_seeds(results: Sequence[SeedResult], name: str) -> _Spread:
    """Return mean and sample standard deviation (n - 1) over seeds; none for one seed.

    >>> summarise_seeds([SeedResult(s, {}, {"QPS": q}) for s, q in ((1, 9), (2, 11))],
    ...                 "QPS")
    _Spread(mean=10.0, std=1.4142135623730951, num_seeds=2)

    Raises:
        InputError: there is no result, or one lacks the value.
    """
    if not results:
        raise InputError("Expected the result of at least one seed (got none)")
    values = np.array([result.value(name) for result in results], dtype=np.float64)
    std = float(values.std(ddof=1)) if values.size > 1 else None
    return _Spread(float(values.mean()), std, values.size)
