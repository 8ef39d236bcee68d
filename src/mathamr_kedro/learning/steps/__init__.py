"""Steps of a training, and how they are launched.

::

    step      TrainingStep: augment, encode, compare, learn; the optimizer
    runners   make_runner: the fastest way that works here, for all steps of an epoch
    ├──            batches from the host, kernel by kernel, on any device
    └── resident   ResidentSteps: batches on the GPU, the whole step one CUDA graph
        └── buckets    fixed sizes for batches, since a CUDA graph needs them
"""

from mathamr_kedro.learning.steps.buckets import Buckets
from mathamr_kedro.learning.steps.resident import ResidentSteps
from mathamr_kedro.learning.steps.runners import Runner, make_runner
from mathamr_kedro.learning.steps.step import (
    MEASURES,
    OptimizerConfig,
    TrainingStep,
    split_pairs,
)

__all__ = [
    "MEASURES",
    "Buckets",
    "OptimizerConfig",
    "ResidentSteps",
    "Runner",
    "TrainingStep",
    "make_runner",
    "split_pairs",
]
