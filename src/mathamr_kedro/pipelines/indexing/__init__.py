"""Indexing: graphs and the best encoder to vectors, vectors to an index."""

from mathamr_kedro.pipelines.indexing.nodes import IndexingParameters
from mathamr_kedro.pipelines.indexing.pipeline import create_pipeline

PARAMETERS = IndexingParameters

__all__ = ["PARAMETERS", "create_pipeline"]
