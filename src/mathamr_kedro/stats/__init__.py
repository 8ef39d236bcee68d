"""Significance and result tables: pure functions over per-topic scores.

```
SeedResult (per-topic scores of one seed)
   │ seeds          best seed, mean ± std
   │ comparisons    every condition against the baseline: t, randomisation, bootstrap
   │ corrections    Bonferroni, Holm over all tests of the experiment
   ▼
result_tables ──► Table ──► Markdown, CSV, LaTeX        layouts: thesis_tables
```
"""

from mathamr_kedro.stats.bootstrap import Interval, bootstrap_interval
from mathamr_kedro.stats.comparisons import (
    Comparison,
    TestSettings,
    compare_with_baseline,
)
from mathamr_kedro.stats.corrections import bonferroni, holm
from mathamr_kedro.stats.paired_tests import (
    PairedTest,
    paired_t_test,
    randomisation_test,
)
from mathamr_kedro.stats.result_tables import Layout, best_seed_table, mean_table
from mathamr_kedro.stats.seeds import SeedResult, select_best_seed, summarise_seeds
from mathamr_kedro.stats.tables import (
    Table,
    render_csv,
    render_latex,
    render_markdown,
)

__all__ = [
    "Comparison",
    "Interval",
    "Layout",
    "PairedTest",
    "SeedResult",
    "Table",
    "TestSettings",
    "best_seed_table",
    "bonferroni",
    "bootstrap_interval",
    "compare_with_baseline",
    "holm",
    "mean_table",
    "paired_t_test",
    "randomisation_test",
    "render_csv",
    "render_latex",
    "render_markdown",
    "select_best_seed",
    "summarise_seeds",
]
