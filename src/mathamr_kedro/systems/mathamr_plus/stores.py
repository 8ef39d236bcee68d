"""The vectors of a collection: of posts and topics, by one encoder or by several.

::

    06_models/
      post_vectors/9f3c.../     posts, and the formulas beside them; named by encoder
      topic_vectors/9f3c.../    topics: the queries of both tasks
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.shards import LIST_NAME
from mathamr_kedro.graph import FORMULA_TYPE, POST_TYPES, GraphShards, PreparedGraphs
from mathamr_kedro.systems.mathamr_plus.encoder import Encoder
from mathamr_kedro.systems.mathamr_plus.encoding import (
    CollectionGraphs,
    EncodeRanges,
    EncodingConfig,
    encode_collection,
)
from mathamr_kedro.vectors import Dtype, StoreWriter, VectorStore

logger = logging.getLogger(__name__)

_POSTS, _TOPICS = "post_vectors", "topic_vectors"


class CollectionVectors(NamedTuple):
    """All vectors of a collection by one encoder."""

    topics: VectorStore
    posts: VectorStore


class VectorStores:
    """All vectors below a folder, by the checksum of the encoder that made them."""

    def __init__(self, base: Path) -> None:
        self.base = Path(base)

    def __repr__(self) -> str:
        found = [f"{count_nouns(len(s), 'post')} by {s.encoder}" for s in self.list()]
        what = "; ".join(found) or "nothing encoded"
        return f"<{type(self).__name__}: {what}, in {self.base}>"

    def list(self) -> list[VectorStore]:
        """Return the vectors of posts by each encoder."""
        files = sorted(self.base.glob(f"{_POSTS}/*/{LIST_NAME}"))
        return [VectorStore(file.parent) for file in files]

    def open(self, encoder: str, verify: bool = True) -> CollectionVectors:
        """Open the complete vectors by an encoder.

        Args:
            encoder: its checksum.
            verify: read all files whole; their sizes are always looked at.

        Raises:
            MissingInputError: they are missing or unfinished.
            DamagedFileError: a file is not what was written.
        """
        posts = _open(self.base / _POSTS / encoder, verify)
        return CollectionVectors(_open(self.base / _TOPICS / encoder, verify), posts)

    def encode(
        self,
        encoder: Encoder,
        graphs: PreparedGraphs,
        config: EncodingConfig,
        dtype: Dtype = "float32",
    ) -> None:
        """Encode all posts and topics that are not encoded yet, shard by shard.

        Args:
            encoder: trained on these graphs.
            graphs: of posts and topics, and of formulas beside them that Task 2 may
                return.
            config: size of a shard, and where to run.
            dtype: of the vectors.

        Raises:
            MalformedInputError: a returnable formula has no vector.
        """
        flags = {part: graphs.load_returnable(part) for part in ("posts", "formulas")}
        types = _repeat_type(FORMULA_TYPE, graphs.formulas)
        posts = {
            "posts": CollectionGraphs(graphs.posts, graphs.post_type, flags["posts"]),
            "formulas": CollectionGraphs(graphs.formulas, types, flags["formulas"]),
        }
        writing = encoder, graphs, config, dtype
        store = self._write(_POSTS, posts, *writing)
        returnable = sum(int(part.sum()) for part in flags.values())
        logger.info(
            "%s formulas may be returned, %s have a vector",
            f"{returnable:,}",
            f"{store.num_formulas():,}",
        )
        if store.num_formulas() != returnable:
            _refuse_missing(_open(store.folder, verify=True), posts)
        types = _repeat_type("topic", graphs.topics)
        topics = {"topics": CollectionGraphs(graphs.topics, types)}
        self._write(_TOPICS, topics, *writing)

    def _write(
        self,
        kind: str,
        sources: Mapping[str, CollectionGraphs],
        encoder: Encoder,
        graphs: PreparedGraphs,
        config: EncodingConfig,
        dtype: Dtype,
    ) -> VectorStore:
        """Encode graphs, given by the name of their folder, into one store."""
        folder, width = (
            self.base / kind / encoder.checksum,
            encoder.config.projection_dim,
        )
        # Other topics are other shards of the same store.
        stems = {
            name: f"{name}-{graphs.topics_from}" if name == "topics" else name
            for name in sources
        }
        with StoreWriter(
            folder, encoder.checksum, width, dtype, stems.values()
        ) as writer:
            for name, source in sources.items():
                function = EncodeRanges(
                    encoder.model_folder, graphs.folder / name, config.compute
                )
                encode_collection(writer, function, stems[name], source, config)
            writer.complete()
        return _open(folder, verify=False)


def _open(folder: Path, verify: bool) -> VectorStore:
    store = VectorStore(folder)
    if verify:
        store.check()
    if not store.is_complete:
        raise MissingInputError(
            f"{str(store.folder)!r} is unfinished; run `kedro run --pipelines "
            "indexing` with the --env of your run: it resumes"
        )
    return store


def _repeat_type(name: str, shards: GraphShards) -> NDArray[np.uint8]:
    return np.full(len(shards), POST_TYPES.index(name), dtype=np.uint8)


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
