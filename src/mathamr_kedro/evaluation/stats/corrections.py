"""Corrections of p-values for several tests.

A corrected p-value is compared with the same level as a single one.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.evaluation.stats.paired_tests import FloatArray

Correction = Literal["bonferroni", "holm", "none"]


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


def correct_p_values(p_values: FloatArray, method: Correction) -> FloatArray:
    """Correct p-values by the named method.

    Raises:
        ConfigurationError: there is no such method.
    """
    match method:
        case "bonferroni":
            return bonferroni(p_values)
        case "holm":
            return holm(p_values)
        case "none":
            return p_values.copy()
    raise ConfigurationError(
        f"Expected one of ['bonferroni', 'holm', 'none'] for correction "
        f"(got {method!r}){suggest(method, ['bonferroni', 'holm', 'none'])}"
    )
