"""Experiments: conditions x seeds, what each cell reached, and the thesis' tables.

```
grid         an experiment: conditions, baseline, seeds, tables of the thesis;
   │         its cells: a condition with a seed, named by a hash of its parameters
   │ scheduling  run what is missing, several at once where devices allow
   ▼
costs        times, memory and sizes of a cell
cells        one folder per finished cell: record, scores, metrics, efficiency, history
   │ results     per-topic scores and figures by condition and seed
   │ reports     tables and tests
   ▼
outcomes     all of it together: one version of the result
   │ figures     plots          tracking   the cells as runs of MLflow
   ▼
versions     how two versions of an experiment differ

trainings    the parameters of a training in this project
released_settings   those that a released encoder makes void
```

Every run of the project looks here for an experiment in its parameters, so this page
imports what is light. What needs SciPy, Plotly or torch (results to trainings) is
imported from its module.
"""

from mathamr_kedro.experiments.cells import (
    COLLECTION,
    CellOutputs,
    CellRecord,
    CellStore,
    FinishedCell,
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
from mathamr_kedro.experiments.scheduling import Ending, Task, run_tasks

__all__ = [
    "COLLECTION",
    "GROUP",
    "Cell",
    "CellOutputs",
    "CellRecord",
    "CellStore",
    "Ending",
    "Experiment",
    "FinishedCell",
    "Task",
    "checksum_collection",
    "describe_key",
    "list_cells",
    "read_experiment",
    "run_tasks",
]
