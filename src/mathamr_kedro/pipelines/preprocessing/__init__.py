"""Preprocessing: math graphs to vocabularies, shards of arrays and training pairs."""

from mathamr_kedro.pipelines.preprocessing.parameters import PreprocessingStageConfig
from mathamr_kedro.pipelines.preprocessing.pipeline import create_pipeline

PARAMETERS = PreprocessingStageConfig

__all__ = ["PARAMETERS", "create_pipeline"]
