"""Parameters of the preprocessing stage, which later stages read too."""

from __future__ import annotations

from mathamr_kedro.graph import PreprocessingConfig

__all__ = ["PreprocessingConfig"]
