"""Vectors of posts: stored once, searched by one of three engines.

::

    store         the vectors of all posts; commits that survive kills
      snapshots     all of one commit, whatever a writer does meanwhile
      store_state   store.json: the files that count, with their seals
      store_files   segments and changes
      store_mending damage: finding it, leaving it out
      post_vectors  several vectors of each post, with kinds and ids
    sizes         vectors and bytes by type of post
    living        add, replace and delete posts of an index
    index         an index of a store by one of three engines
      exact         every vector is looked at, on a CPU or GPU
      edge          Qdrant inside the process
      server        a Qdrant server or cluster

::

    store = VectorStore(folder)
    index = open_index(EngineConfig("exact"), store, folder)
    hits = index.search_maxsim([query.vectors], depth=10)
"""

from mathamr_kedro.vectors.exact import ExactIndex
from mathamr_kedro.vectors.index import EngineConfig, open_index
from mathamr_kedro.vectors.living import AddedPosts, LivingIndex
from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors, Vectors
from mathamr_kedro.vectors.protocol import (
    EXACT,
    HnswConfig,
    IndexSize,
    PostTypes,
    QuantisationConfig,
    SearchMode,
    ServerConfig,
    VectorIndex,
)
from mathamr_kedro.vectors.scan import ExactSpace
from mathamr_kedro.vectors.sizes import compute_bytes, count_by_type
from mathamr_kedro.vectors.store import VectorStore
from mathamr_kedro.vectors.store_mending import verify_store
from mathamr_kedro.vectors.store_state import Dtype

__all__ = [
    "EXACT",
    "AddedPosts",
    "Dtype",
    "EngineConfig",
    "ExactIndex",
    "ExactSpace",
    "HnswConfig",
    "IndexSize",
    "LivingIndex",
    "PostEntry",
    "PostTypes",
    "PostVectors",
    "QuantisationConfig",
    "SearchMode",
    "ServerConfig",
    "VectorIndex",
    "VectorStore",
    "Vectors",
    "compute_bytes",
    "count_by_type",
    "open_index",
    "verify_store",
]
