"""Nodes of the indexing stage: encode, build the index, report."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import ConfigurationError, MalformedInputError
from mathamr_kedro.base.machines import Machine
from mathamr_kedro.datasets import EncoderStore, IndexPlaces, VectorStores
from mathamr_kedro.graph import (
    FORMULA_TYPE,
    POST_TYPES,
    GraphShards,
    PreparedGraphs,
    PreparedStore,
    PreprocessingConfig,
)
from mathamr_kedro.learning.trainer import MODEL
from mathamr_kedro.pipelines.indexing.parameters import IndexingConfig
from mathamr_kedro.systems.mathamr_plus import (
    CollectionGraphs,
    EncodeRanges,
    checksum_encoder,
    encode_collection,
)
from mathamr_kedro.vectors import (
    IndexSize,
    VectorStore,
    compute_bytes,
    count_by_type,
    open_index,
)

logger = logging.getLogger(__name__)


def encode_posts(
    prepared_graphs: PreparedStore,
    encoders: EncoderStore,
    encoder: Mapping[str, Any],
    vectors: VectorStores,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> dict[str, Any]:
    """Encode all posts, and the formulas beside them that Task 2 may return."""
    graphs = _open_graphs(prepared_graphs, encoder, preprocessing)
    flags = {part: graphs.load_returnable(part) for part in ("posts", "formulas")}
    types = _repeat_type(FORMULA_TYPE, graphs.formulas)
    sources = {
        "posts": CollectionGraphs(graphs.posts, graphs.post_type, flags["posts"]),
        "formulas": CollectionGraphs(graphs.formulas, types, flags["formulas"]),
    }
    encoded = _encode(sources, graphs, encoders, encoder, vectors, parameters)
    returnable = sum(int(part.sum()) for part in flags.values())
    logger.info(
        "%s formulas may be returned, %s have a vector",
        f"{returnable:,}",
        f"{encoded['formulas']:,}",
    )
    if encoded["formulas"] != returnable:
        _refuse_missing(vectors.read(encoded["encoder"]), sources)
    return encoded | {"returnable_formulas": returnable}


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
    topics = CollectionGraphs(graphs.topics, _repeat_type("topic", graphs.topics))
    sources = {"topics": topics}
    return _encode(sources, graphs, encoders, encoder, vectors, parameters)


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
    changes = indexes.read_changes(settings.engine, name)
    index = open_index(
        settings.engine, store, folder, connect, verify=True, changes=changes
    )
    seconds = time.perf_counter() - started
    size = index.size()
    index.close()
    indexes.put_into_use(name)
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
        **_describe_size(store, size),
        "seconds": round(seconds, 3),
        "machine": asdict(Machine.find()),
    }


def _describe_size(store: VectorStore, size: IndexSize) -> dict[str, Any]:
    """Return what an index holds, with its bytes, and the same by type of post.

    Bytes of the whole are those that the engine tells; where it does not, and for each
    type of post, they are computed.
    """
    counts = count_by_type(store)
    computed = compute_bytes(counts, store.width, size.number_bytes)
    posts, formulas = size.post_bytes, size.formula_bytes
    if size.source == "unknown":
        posts = sum(of_posts for of_posts, _ in computed.values())
        formulas = sum(of_formulas for _, of_formulas in computed.values())
    names = ("post_bytes", "formula_bytes")
    return {
        "posts": size.posts,
        "formulas": size.formulas,
        "vectors": sum(found.vectors for found in counts.values()),
        "width": store.width,
        "bytes": posts + formulas,
        "post_bytes": posts,
        "formula_bytes": formulas,
        "bytes_from": "computed" if size.source == "unknown" else size.source,
        "post_types": {
            name: found._asdict() | dict(zip(names, computed[name], strict=True))
            for name, found in counts.items()
        },
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
    return graphs.check()


def _repeat_type(name: str, shards: GraphShards) -> NDArray[np.uint8]:
    return np.full(len(shards), POST_TYPES.index(name), dtype=np.uint8)


def _encode(
    sources: Mapping[str, CollectionGraphs],
    graphs: PreparedGraphs,
    encoders: EncoderStore,
    encoder: Mapping[str, Any],
    vectors: VectorStores,
    parameters: Mapping[str, Any],
) -> dict[str, Any]:
    """Encode graphs, given by the name of their folder, into one store."""
    settings = IndexingConfig.read(parameters).encoding
    model_folder = encoders.base / str(encoder["folder"]) / MODEL
    mark = checksum_encoder(model_folder, graphs.encoded_from)
    width = encoders.open(str(encoder["folder"])).config.projection_dim
    dtype = IndexingConfig.read(parameters).dtype
    # Other topics are other shards of the same store.
    stems = {
        name: f"{name}-{graphs.topics_from}" if name == "topics" else name
        for name in sources
    }
    with vectors.write(mark, width, dtype, stems.values()) as writer:
        for name, source in sources.items():
            folder = graphs.folder / name
            function = EncodeRanges(model_folder, folder, settings.compute)
            encode_collection(writer, function, stems[name], source, settings)
        writer.complete()
    store = vectors.read(mark, verify=False)
    return {
        "encoder": mark,
        "posts": len(store),
        "vectors": sum(shard.vectors for shard in store.shards),
        "formulas": store.num_formulas(),
        "width": width,
    }


def _refuse_missing(
    store: VectorStore, sources: Mapping[str, CollectionGraphs]
) -> None:
    """Refuse a store without a vector of a returnable formula."""
    found = {
        name
        for posts in store.parts
        for name in posts.formula_ids.take(np.flatnonzero(posts.returnable))
    }
    missing = [
        formula_id
        for source in sources.values()
        for formula_id in source.list_returnable()
        if formula_id not in found
    ]
    raise MalformedInputError(
        f"Expected a vector in {str(store.folder)!r} for each formula that Task 2 may "
        f"return (got none for {len(missing):,}, e.g. {', '.join(missing[:5])}); "
        "delete the folder and run the stage 'indexing' again"
    )
