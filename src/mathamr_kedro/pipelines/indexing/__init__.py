"""Indexing: graphs and the best encoder to vectors, vectors to an index."""

from mathamr_kedro.pipelines.indexing.parameters import IndexingConfig
from mathamr_kedro.pipelines.indexing.pipeline import create_pipeline

PARAMETERS = IndexingConfig

__all__ = ["PARAMETERS", "create_pipeline"]
