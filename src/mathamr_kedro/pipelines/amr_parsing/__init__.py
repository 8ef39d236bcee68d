"""AMR parsing: clean texts to one graph per post, or the reason why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily
from mathamr_kedro.pipelines.amr_parsing.parameters import AmrParsingConfig

if TYPE_CHECKING:
    from mathamr_kedro.pipelines.amr_parsing.pipeline import create_pipeline

PARAMETERS = AmrParsingConfig

__all__ = ["PARAMETERS", "create_pipeline"]

# Who only reads parameters need not wait for the nodes.
__getattr__, __dir__ = load_lazily(__name__, __file__)
