"""Training: prepared graphs and pairs to the best encoder."""

from mathamr_kedro.pipelines.training.parameters import TrainingStageConfig
from mathamr_kedro.pipelines.training.pipeline import create_pipeline

PARAMETERS = TrainingStageConfig

__all__ = ["PARAMETERS", "create_pipeline"]
