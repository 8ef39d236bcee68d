"""One function over partitions, on the processes of this machine or a Ray cluster.

```
partitions ─> batches of items ─> workers ─> results ─> partitions, in their order
                                     │ dies, hangs or raises
                                     └─> item by item; only the bad one is Failed
```

A stage gives a function from a batch of items to one result per item:

>>> def square(numbers):
...     return [number**2 for number in numbers]
>>> partitions = [Partition("a", [1, 2, 3]), Partition("b", [4])]
>>> for done in run_partitions(square, partitions, WorkerConfig(workers=1)):
...     print(done.name, done.results)
a [1, 4, 9]
b [16]

The function travels to each worker once, so it must be importable there (a function of
a module, or an object of a class of a module). An optional method ``prepare()`` is
called once in each worker before the first batch: the place to load a model.
"""

from mathamr_kedro.base.workers.job import (
    RayConfig,
    WorkerConfig,
    current_slot,
    explain_error,
)
from mathamr_kedro.base.workers.run import (
    Failed,
    Partition,
    PartitionResult,
    run_each,
    run_partitions,
)

__all__ = [
    "Failed",
    "Partition",
    "PartitionResult",
    "RayConfig",
    "WorkerConfig",
    "current_slot",
    "explain_error",
    "run_each",
    "run_partitions",
]
