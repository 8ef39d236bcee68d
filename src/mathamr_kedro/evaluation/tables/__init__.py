"""Tables: rows and columns of figures, as Markdown, CSV and LaTeX.

Everything that turns scores and costs into a table or a page. What differs between
tables is which rows and columns are chosen::

    SeedResult    scores by topic and costs of one seed        costs
       │ scores   Layout: rows, columns, a baseline; marks from the tests of ``stats``
       ▼
    table         Table ──► Markdown, CSV, LaTeX
       ▲
    thesis  papers  comparison  benchmark  versions  report
"""

from mathamr_kedro.evaluation.tables.comparison import (
    ScoredSet,
    Tables,
    Tests,
    compare_systems,
    describe_results,
    list_bounds,
    plain_layouts,
    tabulate,
    tabulate_means,
)
from mathamr_kedro.evaluation.tables.costs import Costs
from mathamr_kedro.evaluation.tables.papers import PaperTable, fill_papers
from mathamr_kedro.evaluation.tables.scores import (
    Layout,
    Results,
    SeedResult,
    best_seed_table,
    describe_tests,
    mean_table,
    select_best_seed,
)
from mathamr_kedro.evaluation.tables.table import (
    MISSING,
    Column,
    Content,
    Figure,
    Row,
    Table,
    format_p,
    list_columns,
)
from mathamr_kedro.evaluation.tables.thesis import (
    EFFECTIVENESS,
    LAYOUTS,
    benchmark_table,
    efficiency_table,
)

__all__ = [
    "EFFECTIVENESS",
    "LAYOUTS",
    "MISSING",
    "Column",
    "Content",
    "Costs",
    "Figure",
    "Layout",
    "PaperTable",
    "Results",
    "Row",
    "ScoredSet",
    "SeedResult",
    "Table",
    "Tables",
    "Tests",
    "benchmark_table",
    "best_seed_table",
    "compare_systems",
    "describe_results",
    "describe_tests",
    "efficiency_table",
    "fill_papers",
    "format_p",
    "list_bounds",
    "list_columns",
    "mean_table",
    "plain_layouts",
    "select_best_seed",
    "tabulate",
    "tabulate_means",
]
