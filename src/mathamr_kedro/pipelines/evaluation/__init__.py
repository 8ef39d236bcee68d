"""Evaluation: an index, baselines and judgments to runs, scores and a report."""

from mathamr_kedro.pipelines.evaluation.parameters import EvaluationConfig
from mathamr_kedro.pipelines.evaluation.pipeline import create_pipeline

PARAMETERS = EvaluationConfig

__all__ = ["PARAMETERS", "create_pipeline"]
