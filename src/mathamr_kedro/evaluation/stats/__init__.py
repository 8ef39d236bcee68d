"""Significance and result tables: pure functions over per-topic scores.

```
SeedResult (per-topic scores of one seed)
   │ significance   every condition against the baseline: t, randomisation, bootstrap;
   │                Bonferroni, Holm over all tests of the experiment
   ▼
result_tables ──► Table ──► Markdown, CSV, LaTeX        layouts: thesis_tables
```
"""

from mathamr_kedro.evaluation.stats.paper_tables import PaperTable
from mathamr_kedro.evaluation.stats.result_tables import (
    Layout,
    SeedResult,
    best_seed_table,
    mean_table,
    select_best_seed,
    summarise_seeds,
)
from mathamr_kedro.evaluation.stats.significance import (
    QUERY_SECONDS,
    Comparison,
    FloatArray,
    Interval,
    PairedTest,
    TestConfig,
    bootstrap_interval,
    compare_with_baseline,
    correct_p_values,
    interval_over_sets,
    paired_t_test,
    randomisation_test,
)
from mathamr_kedro.evaluation.stats.tables import Column, Figure, Row, Table
from mathamr_kedro.evaluation.stats.thesis_tables import (
    BPREF,
    EFFECTIVENESS,
    EFFICIENCY,
    LAYOUTS,
    MAP,
    NDCG,
    P10,
    QPS,
    benchmark_table,
    efficiency_table,
)

__all__ = [
    "BPREF",
    "EFFECTIVENESS",
    "EFFICIENCY",
    "LAYOUTS",
    "MAP",
    "NDCG",
    "P10",
    "QPS",
    "QUERY_SECONDS",
    "Column",
    "Comparison",
    "Figure",
    "FloatArray",
    "Interval",
    "Layout",
    "PairedTest",
    "PaperTable",
    "Row",
    "SeedResult",
    "Table",
    "TestConfig",
    "benchmark_table",
    "best_seed_table",
    "bootstrap_interval",
    "compare_with_baseline",
    "correct_p_values",
    "efficiency_table",
    "interval_over_sets",
    "mean_table",
    "paired_t_test",
    "randomisation_test",
    "select_best_seed",
    "summarise_seeds",
]
