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
)
from mathamr_kedro.evaluation.stats.significance import (
    QUERY_SECONDS,
    Comparison,
    FloatArray,
    TestConfig,
    compare_with_baseline,
    interval_over_sets,
)
from mathamr_kedro.evaluation.stats.tables import Column, Figure, Row, Table
from mathamr_kedro.evaluation.stats.thesis_tables import (
    EFFECTIVENESS,
    LAYOUTS,
    benchmark_table,
    efficiency_table,
)

__all__ = [
    "EFFECTIVENESS",
    "LAYOUTS",
    "QUERY_SECONDS",
    "Column",
    "Comparison",
    "Figure",
    "FloatArray",
    "Layout",
    "PaperTable",
    "Row",
    "SeedResult",
    "Table",
    "TestConfig",
    "benchmark_table",
    "best_seed_table",
    "compare_with_baseline",
    "efficiency_table",
    "interval_over_sets",
    "mean_table",
    "select_best_seed",
]
