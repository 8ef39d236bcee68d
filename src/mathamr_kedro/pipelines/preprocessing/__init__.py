"""Preprocessing: math graphs to vocabularies, tensor shards and training pairs."""

from mathamr_kedro.pipelines.preprocessing.parameters import PreprocessingParameters
from mathamr_kedro.pipelines.preprocessing.pipeline import create_pipeline

PARAMETERS = PreprocessingParameters

__all__ = ["PARAMETERS", "create_pipeline"]
