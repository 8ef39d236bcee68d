"""Preprocessing: math graphs to vocabularies, shards of arrays and training pairs."""

from mathamr_kedro.pipelines.preprocessing.parameters import PreprocessingConfig
from mathamr_kedro.pipelines.preprocessing.pipeline import create_pipeline

PARAMETERS = PreprocessingConfig

__all__ = ["PARAMETERS", "create_pipeline"]
