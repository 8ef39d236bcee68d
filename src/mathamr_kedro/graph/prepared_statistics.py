"""What a folder of prepared graphs holds, in numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mathamr_kedro.graph.prepared import PreparedGraphs
from mathamr_kedro.graph.tensor_files import GROUPS
from mathamr_kedro.graph.vocabulary import UNK


def describe_prepared(prepared: PreparedGraphs) -> dict[str, Any]:
    """Return sizes per graph of the posts, with the report of the stage."""
    folder = prepared.folder / "posts"
    sizes = np.load(folder / "sizes.npy").astype(np.int64)
    graphs = max(len(sizes), 1)
    totals = dict(zip(GROUPS, sizes.sum(axis=0).tolist(), strict=True))
    written = sum(file.stat().st_size for file in folder.iterdir())
    content = totals["node"] - totals["virtual"]
    types = np.load(folder / "node_type.npy", mmap_mode="r")
    unknown = int(np.count_nonzero(types == prepared.types.find(UNK)))
    return {
        "folder": prepared.folder.name,
        "configuration": prepared.configuration,
        **prepared.report,
        "coverage_of_posts": 1 - unknown / max(content, 1),
        "bytes_per_graph": written / graphs,
        "bytes_per_156_nodes": written / max(content, 1) * 156,
        "nodes_per_graph": content / graphs,
        "edges_per_graph": totals["edge"] / graphs,
        "virtual_nodes_per_graph": totals["virtual"] / graphs,
        "members_per_graph": totals["member"] / graphs,
        "representatives_per_graph": totals["representative"] / graphs,
    }
