"""Significance: recorded results to tables with tests, and plots."""

from mathamr_kedro.pipelines.significance.parameters import SignificanceConfig
from mathamr_kedro.pipelines.significance.pipeline import create_pipeline

PARAMETERS = SignificanceConfig

__all__ = ["PARAMETERS", "create_pipeline"]
