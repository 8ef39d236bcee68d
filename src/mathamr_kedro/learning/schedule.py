r"""The learning rate over a training.

.. math::
    \eta_t = \eta_{min} + \tfrac{1}{2} (\eta - \eta_{min})
             \left(1 + \cos\frac{\pi t}{T}\right)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.learning.step import OptimizerConfig


def cosine_rates(
    config: OptimizerConfig, first: int, count: int, total: int
) -> NDArray[np.float64]:
    """(count,) learning rates of the steps from ``first`` on, of ``total`` steps.

    >>> config = OptimizerConfig(learning_rate=1.0, min_learning_rate=0.0)
    >>> cosine_rates(config, 0, 5, 5).round(3).tolist()
    [1.0, 0.854, 0.5, 0.146, 0.0]
    """
    low, high = config.min_learning_rate, config.learning_rate
    share = np.arange(first, first + count) / max(total - 1, 1)
    return low + 0.5 * (high - low) * (1 + np.cos(np.pi * np.minimum(share, 1.0)))
