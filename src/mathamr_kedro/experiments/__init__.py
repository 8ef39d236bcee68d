"""One grid: conditions × seeds × systems × collections.

A **cell** is one evaluation of parameters on data: scores of all its systems by topic,
recorded in a folder that is named by a checksum of both. Results are tables over cells.

```
grid           an experiment: conditions, seeds, a baseline, tables of the thesis
   │ experiment_runs   run the cells that are missing, several at once if devices allow
   ▼
cells          one folder per finished cell: record, scores, costs, history
   │ results       the cells of an experiment, by condition and seed
   ▼
outcomes       tables, tests and settings: one version of a result
   │ benchmark     systems × collections         figures     plots
   │ examples      of topics and results
   ▼
versions       how two versions differ

trainings      the parameters of a training in this project
```

Every run of the project looks here for an experiment in its parameters, so this page
imports what is light. What needs SciPy, matplotlib or torch is imported from its
module.
"""

from mathamr_kedro.experiments.cells import (
    COLLECTION,
    CellOutputs,
    CellRecord,
    CellStore,
    FinishedCell,
    checksum_code,
    checksum_collection,
)
from mathamr_kedro.experiments.grid import (
    GROUP,
    Cell,
    Experiment,
    describe_key,
    list_cells,
    read_experiment,
)

__all__ = [
    "COLLECTION",
    "GROUP",
    "Cell",
    "CellOutputs",
    "CellRecord",
    "CellStore",
    "Experiment",
    "FinishedCell",
    "checksum_code",
    "checksum_collection",
    "describe_key",
    "list_cells",
    "read_experiment",
]
