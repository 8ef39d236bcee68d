"""Tables: rows and columns of figures, as Markdown, CSV and LaTeX.

All that turns scores and costs into a table or a page. What differs between tables is
which rows and columns are chosen::

    SeedResult    scores by topic and costs of one seed        costs
       │ scores   Layout: rows, columns, a baseline; marks from the tests of ``stats``
       ▼
    table         Table ──► Markdown, CSV, LaTeX
       ▲
    thesis  papers  comparison  benchmark  versions  report
"""

from mathamr_kedro.evaluation.tables.comparison import Outcome, ScoredSet
from mathamr_kedro.evaluation.tables.costs import Costs
from mathamr_kedro.evaluation.tables.papers import PaperTable
from mathamr_kedro.evaluation.tables.scores import (
    Layout,
    Results,
    SeedResult,
    best_seed_table,
    select_best_seed,
)
from mathamr_kedro.evaluation.tables.table import (
    Column,
    Figure,
    Table,
    format_p,
    list_columns,
)
from mathamr_kedro.evaluation.tables.thesis import LAYOUTS

__all__ = [
    "LAYOUTS",
    "Column",
    "Costs",
    "Figure",
    "Layout",
    "Outcome",
    "PaperTable",
    "Results",
    "ScoredSet",
    "SeedResult",
    "Table",
    "best_seed_table",
    "format_p",
    "list_columns",
    "select_best_seed",
]
