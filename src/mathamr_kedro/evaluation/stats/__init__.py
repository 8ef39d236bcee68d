"""Tests, corrections and intervals: pure functions over scores by topic.

Every condition is tested against the baseline by t, by randomisation and by bootstrap;
p-values are corrected by Bonferroni or Holm over all tests of a table.
"""

from mathamr_kedro.evaluation.stats.significance import (
    QUERY_SECONDS,
    Comparison,
    FloatArray,
    TestConfig,
    compare_with_baseline,
    interval_over_sets,
)

__all__ = [
    "QUERY_SECONDS",
    "Comparison",
    "FloatArray",
    "TestConfig",
    "compare_with_baseline",
    "interval_over_sets",
]
