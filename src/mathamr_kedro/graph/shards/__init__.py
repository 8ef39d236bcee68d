"""Graphs in files, and batches of them for the encoder.

::

    layout     which files a folder has, what meta.json says       only NumPy
    blocks     GraphBlock: some graphs as these files hold them
    writer     BlockWriter, ShardWriter: graphs to files
    folder     GraphFolder: what is in the files
    texts      vectors of texts beside graphs
    reader     GraphShards: single graphs, batches on the host     torch from here on
               DeviceShards: the files on a GPU, batches of fixed size
    batches    GraphBatch: several graphs as one

Names are loaded when they are first asked for, so that writing needs no torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.graph.shards.batches import GraphBatch
    from mathamr_kedro.graph.shards.folder import GraphFolder
    from mathamr_kedro.graph.shards.reader import BatchSize, DeviceShards, GraphShards
    from mathamr_kedro.graph.shards.writer import ShardWriter, join_shards

__all__ = [
    "BatchSize",
    "DeviceShards",
    "GraphBatch",
    "GraphFolder",
    "GraphShards",
    "ShardWriter",
    "join_shards",
]

__getattr__, __dir__ = load_lazily(__name__, __file__)
