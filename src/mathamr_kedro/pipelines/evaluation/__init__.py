"""Evaluation: an index, baselines and judgments to runs, scores and a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily
from mathamr_kedro.pipelines.evaluation.parameters import EvaluationConfig

if TYPE_CHECKING:
    from mathamr_kedro.pipelines.evaluation.pipeline import create_pipeline

PARAMETERS = EvaluationConfig

__all__ = ["PARAMETERS", "create_pipeline"]

# Who only reads parameters need not wait for the nodes.
__getattr__, __dir__ = load_lazily(__name__, __file__)
