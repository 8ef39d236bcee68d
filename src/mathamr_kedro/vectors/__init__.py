"""Vectors of posts: stored once, searched by one of three engines.

::

    post_vectors  several vectors of each post, with kinds and ids
    store         the vectors of a collection; written once, read by memory map;
                  given posts compared with a query, sizes by type of post
    protocol      what every index can do
    index         the index of a store by one of three engines (config), built once
      exact         every vector is looked at, on a CPU or GPU
        scan          a space of items, scanned (scan_torch, scan_int8, scan_triton)
        rescoring     the best of them in the true order
      qdrant        posts as points of Qdrant
        edge          its engine inside the process, in a folder
        server        a server or cluster
    updated       an index with posts added, replaced and deleted after indexing

::

    store = VectorStore(folder)
    index = open_index(EngineConfig("exact"), store, folder)
    hits = index.search_maxsim([query.vectors], depth=10)
"""

from mathamr_kedro.vectors.config import EngineConfig, HnswConfig, ServerConfig
from mathamr_kedro.vectors.exact import ExactIndex
from mathamr_kedro.vectors.index import BuiltIndex, build_index, open_index
from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors
from mathamr_kedro.vectors.protocol import SearchMode, VectorIndex
from mathamr_kedro.vectors.scan import ExactSpace
from mathamr_kedro.vectors.store import (
    Dtype,
    GraphRange,
    PostParts,
    PostReader,
    StoreWriter,
    VectorStore,
    compute_bytes,
    count_by_type,
)
from mathamr_kedro.vectors.updated import UpdatedIndex, UpdatedPosts

__all__ = [
    "BuiltIndex",
    "Dtype",
    "EngineConfig",
    "ExactIndex",
    "ExactSpace",
    "GraphRange",
    "HnswConfig",
    "PostEntry",
    "PostParts",
    "PostReader",
    "PostVectors",
    "SearchMode",
    "ServerConfig",
    "StoreWriter",
    "UpdatedIndex",
    "UpdatedPosts",
    "VectorIndex",
    "VectorStore",
    "build_index",
    "compute_bytes",
    "count_by_type",
    "open_index",
]
