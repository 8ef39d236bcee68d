"""Nodes of the indexing stage: encode, build the index, report."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from mathamr_kedro.corpus import VisualIndex
from mathamr_kedro.datasets import EncoderStore, IndexPlaces, VectorStores
from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.graph import (
    POST_TYPES,
    PreparedGraphs,
    PreparedStore,
    PreprocessingConfig,
)
from mathamr_kedro.learning.trainer import MODEL
from mathamr_kedro.pipelines.indexing.parameters import IndexingConfig
from mathamr_kedro.search import (
    CollectionGraphs,
    EncodeRanges,
    encode_collection,
    fingerprint_encoder,
    open_index,
)

logger = logging.getLogger(__name__)


def encode_posts(
    prepared_graphs: PreparedStore,
    encoders: EncoderStore,
    encoder: Mapping[str, Any],
    visual_index: VisualIndex,
    vectors: VectorStores,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> dict[str, Any]:
    """Encode all posts to vectors; mark formulas that the formula index withholds."""
    graphs = _open_graphs(prepared_graphs, encoder, preprocessing)

    def is_returnable(formula_id: str) -> bool:
        # A collection without a formula index may return all its formulas.
        is_known = not len(visual_index) or visual_index(formula_id) is not None
        return is_known and visual_index.is_retrievable(formula_id)

    posts = CollectionGraphs(graphs.posts, graphs.post_type, is_returnable)
    return _encode("posts", graphs, encoders, encoder, posts, vectors, parameters)


def encode_topics(
    prepared_graphs: PreparedStore,
    encoders: EncoderStore,
    encoder: Mapping[str, Any],
    vectors: VectorStores,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> dict[str, Any]:
    """Encode all topics to vectors: the queries of both tasks."""
    graphs = _open_graphs(prepared_graphs, encoder, preprocessing)
    types = np.full(len(graphs.topics), POST_TYPES.index("topic"), dtype=np.uint8)
    topics = CollectionGraphs(graphs.topics, types, lambda formula_id: True)
    return _encode("topics", graphs, encoders, encoder, topics, vectors, parameters)


def build_index(
    encoded_posts: Mapping[str, Any],
    encoded_topics: Mapping[str, Any],
    vectors: VectorStores,
    indexes: IndexPlaces,
    parameters: Mapping[str, Any],
) -> dict[str, Any]:
    """Build or update the vector index of the encoded posts."""
    settings = IndexingConfig.read(parameters)
    name = str(encoded_posts["encoder"])
    if name != encoded_topics["encoder"]:
        raise ConfigurationError(
            f"Expected posts and topics of one encoder (got {name!r} and "
            f"{encoded_topics['encoder']!r}); run the stage 'indexing' again"
        )
    store = vectors.read(name)
    started = time.perf_counter()
    folder, connect = indexes.folder(name), indexes.connect
    index = open_index(settings.engine, store, folder, connect, verify=True)
    seconds = time.perf_counter() - started
    size = index.size()
    index.close()
    size.check(len(store), store.num_formulas())
    logger.info(
        "index of %s posts and %s formulas in %.1f s",
        size.posts,
        size.formulas,
        seconds,
    )
    return {
        "encoder": name,
        "engine": settings.engine.engine,
        "strategy": settings.strategy.name,
        "generation": store.generation,
        "posts": size.posts,
        "formulas": size.formulas,
        "vectors": int(encoded_posts["vectors"]),
        "bytes": size.num_bytes,
        "seconds": round(seconds, 3),
    }


def _open_graphs(
    prepared: PreparedStore,
    encoder: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> PreparedGraphs:
    graphs = prepared.open(PreprocessingConfig.read(preprocessing))
    if graphs.folder.name != encoder["prepared_graphs"]:
        raise ConfigurationError(
            f"Expected an encoder trained on the graphs {graphs.folder.name!r} (got "
            f"one trained on {encoder['prepared_graphs']!r}); run the stage 'training' "
            "with the same preprocessing parameters"
        )
    return graphs


def _encode(
    name: str,
    graphs: PreparedGraphs,
    encoders: EncoderStore,
    encoder: Mapping[str, Any],
    source: CollectionGraphs,
    vectors: VectorStores,
    parameters: Mapping[str, Any],
) -> dict[str, Any]:
    settings = IndexingConfig.read(parameters)
    model_folder = encoders.base / str(encoder["folder"]) / MODEL
    mark = fingerprint_encoder(model_folder, graphs.made_from)
    width = encoders.open(str(encoder["folder"])).config.projection_dim
    # Other topics are other shards of the same store.
    stem = f"{name}-{graphs.topics_from}" if name == "topics" else name
    function = EncodeRanges(
        model_folder, graphs.folder / name, settings.encoding.compute
    )
    with vectors.write(mark, width, settings.dtype) as store:
        encode_collection(store, function, stem, source, settings.encoding)
        total = sum(entry.vectors for entry in store.state.segments)
        return {
            "encoder": mark,
            "posts": len(store),
            "vectors": total,
            "formulas": store.num_formulas(),
            "width": width,
        }
