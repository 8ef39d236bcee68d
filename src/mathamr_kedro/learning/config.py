"""Configuration of a training; the defaults are Table 4.5's."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from mathamr_kedro.base.errors import (
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.parameters import check_range, read_parameters
from mathamr_kedro.learning.augmentation import AugmentationConfig
from mathamr_kedro.learning.distillation import DistillationConfig
from mathamr_kedro.learning.losses import LossConfig
from mathamr_kedro.learning.steps import OptimizerConfig
from mathamr_kedro.model import ComputeConfig, ModelConfig


@dataclass(frozen=True)
class TrainingConfig:
    """One training."""

    model: ModelConfig = field(default_factory=ModelConfig)
    loss: LossConfig = field(default_factory=LossConfig)
    distillation: DistillationConfig = field(default_factory=DistillationConfig)
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    augmentation: AugmentationConfig = field(default_factory=AugmentationConfig)
    compute: ComputeConfig = field(default_factory=ComputeConfig)
    batch_size: int = 32
    """Pairs of a step; the others are the negatives of each."""
    num_epochs: int = 7
    patience: int = 3
    """Epochs without a better validation loss before training stops; 0: never."""
    seed: int = 0
    checkpoint_seconds: float = 300.0
    """Time between checkpoints within an epoch; each epoch ends with one."""
    log_seconds: float = 10.0
    """Time between two log lines."""

    def __post_init__(self) -> None:
        check_range(self, "batch_size", least=2)
        check_range(self, "num_epochs", "patience", "seed", least=0)
        check_range(self, "checkpoint_seconds", "log_seconds", least=0)

    def describe_result(self) -> dict[str, object]:
        """The values that determine the weights, without devices and time-outs."""
        values = asdict(self)
        for name in ("compute", "checkpoint_seconds", "log_seconds"):
            del values[name]
        return values

    @classmethod
    def read_json(cls, path: Path) -> TrainingConfig:
        """Read a training configuration from a JSON file."""
        try:
            values = json.loads(Path(path).read_text(encoding="utf-8"))
        except FileNotFoundError as exc:
            raise MissingInputError(
                f"Expected a configuration in {str(path)!r}"
            ) from exc
        except ValueError as exc:
            raise MalformedInputError(
                f"Expected JSON in {str(path)!r} ({exc})"
            ) from exc
        return read_parameters(cls, values, where="training")
