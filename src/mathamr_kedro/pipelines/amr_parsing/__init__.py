"""AMR parsing: clean texts to one graph per post, or the reason why there is none."""

from mathamr_kedro.pipelines.amr_parsing.parameters import AmrParsingConfig
from mathamr_kedro.pipelines.amr_parsing.pipeline import create_pipeline

PARAMETERS = AmrParsingConfig

__all__ = ["PARAMETERS", "create_pipeline"]
