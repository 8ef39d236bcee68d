"""Training: prepared graphs and pairs to the best encoder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily
from mathamr_kedro.experiments.trainings import TrainingStageConfig

if TYPE_CHECKING:
    from mathamr_kedro.pipelines.training.pipeline import create_pipeline

PARAMETERS = TrainingStageConfig

__all__ = ["PARAMETERS", "create_pipeline"]

# Who only reads parameters need not wait for the nodes.
__getattr__, __dir__ = load_lazily(__name__, __file__)
