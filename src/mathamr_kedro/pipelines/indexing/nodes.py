"""Nodes of the indexing stage: which graphs are encoded, and how they are indexed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.datasets.mathamr_plus import VectorIndexing
from mathamr_kedro.graph import PreparedStore, PreprocessingConfig
from mathamr_kedro.pipelines.indexing import IndexingConfig
from mathamr_kedro.systems.mathamr_plus import Encoder, Encoding, VectorStores


def encode(
    prepared: PreparedStore,
    model: Encoder,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> Encoding:
    """Encode all posts and topics, and the formulas that Task 2 may return."""
    config = IndexingConfig.read(parameters)
    graphs = prepared.open(PreprocessingConfig.read(preprocessing))
    trained = model.facts["prepared_graphs"]
    if graphs.folder.name != trained:
        raise ConfigurationError(
            f"Expected an encoder trained on the graphs {graphs.folder.name!r} (got "
            f"one trained on {trained!r}); run the stage 'training' with the same "
            "preprocessing parameters"
        )
    return Encoding(model, graphs.check(), config.encoding, config.dtype)


def index_vectors(
    model: Encoder,
    vectors: VectorStores,
    posts: ShardedTable,
    parameters: Mapping[str, Any],
) -> VectorIndexing:
    """Build or update the index of the vectors."""
    config = IndexingConfig.read(parameters)
    found = vectors.open(model.checksum)
    return VectorIndexing(found, posts, config.engine, config.strategy)
