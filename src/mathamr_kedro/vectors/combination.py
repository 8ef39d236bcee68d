r"""Two scores of the same posts as one: each in its own standard deviations, added.

::

    post    MaxSim   standardised    documents   standardised    combined (weight 1)
    a        .62         +1.22          .40          -0.27          +0.96
    b        .50          0             .70          +1.34          +1.34
    c        .38         -1.22          .25          -1.07          -2.29

.. math::
    \frac{S_d - \bar{S}}{\sigma_S} + \lambda \frac{C_d - \bar{C}}{\sigma_C}

:math:`S` is MaxSim (Eq. 3.7), :math:`C` the cosine of document vectors, :math:`\lambda`
the ``document_weight``. Means and deviations are those of the candidates of one query:
the best posts by either score, of which both scores are known. Over all posts of an
index they would be others, yet in nearly the same proportion to each other, and only an
engine that scans everything could tell them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.hits import DECIMALS

_EQUAL = 10.0**-DECIMALS
"""Deviation of scores that only rounding sets apart."""


class _Standard(NamedTuple):
    """Mean and standard deviation of the scores of some posts."""

    mean: float
    deviation: float
    """0 where all scores are equal."""

    @classmethod
    def of(cls, scores: NDArray[np.float64]) -> _Standard:
        """Measure scores; none at all have the mean 0."""
        if not len(scores):
            return cls(0.0, 0.0)
        deviation = float(scores.std())
        return cls(float(scores.mean()), deviation if deviation > _EQUAL else 0.0)

    def standardise(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how many deviations scores are above the mean.

        Scores that are all equal say nothing about the posts, and become 0.
        """
        if not self.deviation:
            return np.zeros(len(scores))
        return (scores - self.mean) / self.deviation


class Combination(NamedTuple):
    """How the two scores of a query's candidates are combined."""

    maxsim: _Standard
    documents: _Standard
    weight: float = 1.0

    @classmethod
    def of(
        cls,
        maxsim: NDArray[np.float64],
        documents: NDArray[np.float64],
        weight: float = 1.0,
    ) -> Combination:
        """Measure both scores of the candidates of one query."""
        return cls(_Standard.of(maxsim), _Standard.of(documents), weight)

    def add(
        self, maxsim: NDArray[np.float64], documents: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the combined scores of some of the candidates.

        >>> both = np.array([0.2, 0.4]), np.array([0.5, 0.5])
        >>> Combination.of(*both).add(*both).round(6).tolist()
        [-1.0, 1.0]
        """
        similar = self.documents.standardise(documents)
        return self.maxsim.standardise(maxsim) + self.weight * similar

    def slack(self, maxsim: float, documents: float) -> float:
        """Return how far a sum may be off where its parts are off by so much."""
        parts = (self.maxsim, maxsim, 1.0), (self.documents, documents, self.weight)
        return sum(w * s / p.deviation for p, s, w in parts if p.deviation)
