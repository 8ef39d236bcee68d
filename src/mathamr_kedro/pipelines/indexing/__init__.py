"""Indexing: graphs and the best encoder to vectors, vectors to an index."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily
from mathamr_kedro.pipelines.indexing.parameters import IndexingConfig

if TYPE_CHECKING:
    from mathamr_kedro.pipelines.indexing.pipeline import create_pipeline

PARAMETERS = IndexingConfig

__all__ = ["PARAMETERS", "create_pipeline"]

# Who only reads parameters need not wait for the nodes.
__getattr__, __dir__ = load_lazily(__name__, __file__)
