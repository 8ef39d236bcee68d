"""Parameters of the preprocessing stage, which later stages read too."""

from __future__ import annotations

from mathamr_kedro.graph.configuration import PreprocessingParameters

__all__ = ["PreprocessingParameters"]
