"""Training: prepared graphs and pairs to the best encoder."""

from mathamr_kedro.learning.config import TrainingConfig
from mathamr_kedro.pipelines.training.pipeline import create_pipeline

PARAMETERS = TrainingConfig

__all__ = ["PARAMETERS", "create_pipeline"]
