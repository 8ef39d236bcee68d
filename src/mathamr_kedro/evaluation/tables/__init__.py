"""Tables: rows and columns of figures, as Markdown, CSV and LaTeX.

```
SeedResult (scores by topic and costs of one seed)
   │ scores     Layout: which rows and columns; marks from the tests of ``stats``
   ▼
table           Table ──► Markdown, CSV, LaTeX
   ▲
thesis          layouts of the thesis' tables          papers    those of other papers
```
"""

from mathamr_kedro.evaluation.tables.papers import PaperTable
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
    "Figure",
    "Layout",
    "PaperTable",
    "Results",
    "Row",
    "SeedResult",
    "Table",
    "benchmark_table",
    "best_seed_table",
    "describe_tests",
    "efficiency_table",
    "mean_table",
    "select_best_seed",
]
