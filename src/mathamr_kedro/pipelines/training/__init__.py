"""Training: prepared graphs and pairs to the best encoder."""

from mathamr_kedro.pipelines.training.parameters import TrainingParameters
from mathamr_kedro.pipelines.training.pipeline import create_pipeline

PARAMETERS = TrainingParameters

__all__ = ["PARAMETERS", "create_pipeline"]
