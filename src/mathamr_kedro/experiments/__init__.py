"""Experiments: conditions x seeds, what each cell reached, and the thesis' tables.

```
definition   an experiment: conditions, baseline, seeds, tables of the thesis
   │ grid        cells: a condition with a seed, named by a hash of its parameters
   │ scheduling  run what is missing, several at once where devices allow
   ▼
cells        one folder per finished cell: record, scores, metrics, efficiency, history
   │ results     per-topic scores and figures by condition and seed
   │ reports     tables and tests          figures  plots
   ▼
versions     what two versions of an experiment say differently
```
"""

from mathamr_kedro.experiments.cells import CellRecord, CellStore
from mathamr_kedro.experiments.definition import Experiment, read_experiment
from mathamr_kedro.experiments.grid import Cell, list_cells

__all__ = [
    "Cell",
    "CellRecord",
    "CellStore",
    "Experiment",
    "list_cells",
    "read_experiment",
]
