"""Graphs as data of PyTorch Geometric and back; prepared graphs as its dataset."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Data, Dataset

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.graph import (
    KIND_NAMES,
    GraphArrays,
    GraphBatch,
    GraphSchema,
    PreparedGraphs,
)
from mathamr_kedro.graph.prepared import CONFIGURATION


def to_pyg(graph: GraphArrays, schema: GraphSchema) -> Data:
    """Turn a graph into a ``torch_geometric.data.Data`` with every directed edge.

    ``x`` holds node types, ``edge_type`` relations, ``virtual`` marks virtual nodes.
    """
    source, target, relation = GraphBatch.of_graph(graph, schema).list_edges()
    extra = {
        name: torch.from_numpy(getattr(graph, name).astype(np.int64))
        for name in vars(graph)
        if name.startswith("representative")
    }
    return Data(
        x=torch.from_numpy(graph.node_type.astype(np.int64)),
        edge_index=torch.stack([source, target]),
        edge_type=relation,
        virtual=torch.arange(graph.num_nodes) >= graph.num_content,
        **extra,
    )


def from_pyg(data: Data, schema: GraphSchema) -> GraphArrays:
    """Read back what :func:`to_pyg` made, also after PyG reordered the edges."""
    node_type = data.x.numpy()
    num_content = int((~data.virtual).sum())
    source, target = data.edge_index.numpy()
    relation = data.edge_type.numpy()
    is_virtual = np.isin(relation, schema.virtual_relations)
    is_content = (relation < schema.num_forward) & ~is_virtual
    order = np.argsort(source[is_virtual], kind="stable")
    owner = source[is_virtual][order] - num_content
    count = np.bincount(owner, minlength=len(node_type) - num_content)
    found = {
        "node_type": node_type,
        "source": source[is_content],
        "target": target[is_content],
        "relation": relation[is_content],
        "member_count": count,
        "member": target[is_virtual][order],
    }
    found |= {n: v.numpy() for n, v in data if n.startswith("representative")}
    graph = GraphArrays(**{n: v.astype(np.uint32) for n, v in found.items()})
    graph.check(schema)
    return graph


_PREPARED = "05_model_input/mathamr_plus"


class MathGraphDataset(Dataset):
    """The fused graphs of posts or topics, read from the disk one by one.

    ``dataset[0]`` is a ``Data`` with node types in ``x``, relations in ``edge_type``,
    ``virtual`` for virtual nodes and ``representative`` for those whose vectors a post
    has. ``key`` is the id of the post; ``node_names`` and ``edge_names`` say what the
    numbers mean, and ``dataset.type_names`` and ``relation_names`` say it of all.

    Args:
        root: a folder of prepared graphs, or the data root of an environment that has
            prepared graphs once.
        part: ``posts``, ``topics`` or ``formulas``.
        transform: of PyG, applied to each graph.

    Raises:
        MissingInputError: there are no prepared graphs, or several.
    """

    def __init__(
        self,
        root: str | Path,
        part: str = "posts",
        transform: Callable[[Data], Data] | None = None,
    ) -> None:
        super().__init__(None, transform)
        self.prepared = _open_graphs(Path(root))
        self.shards = getattr(self.prepared, part)
        self.type_names = (*self.prepared.types.names, *KIND_NAMES)
        self.relation_names = self.prepared.relations.directed_roles

    def len(self) -> int:
        """Return the number of graphs."""
        return len(self.shards)

    def get(self, idx: int) -> Data:
        """Return one graph."""
        data = to_pyg(self.shards.graph(idx), self.shards.schema)
        data.key = self.shards.keys[idx]
        data.node_names = [self.type_names[n] for n in data.x.tolist()]
        data.edge_names = [self.relation_names[n] for n in data.edge_type.tolist()]
        return data


def _open_graphs(root: Path) -> PreparedGraphs:
    base = root / _PREPARED
    if not base.is_dir():
        return PreparedGraphs(root)
    files = sorted(base.glob(f"[!.]*/{CONFIGURATION}"))
    found = [PreparedGraphs(file.parent) for file in files]
    if len(found) != 1:
        names = [graphs.folder.name for graphs in found]
        raise MissingInputError(
            f"Expected one folder of prepared graphs in {str(base)!r} (got {names}); "
            "name one of them, or run the stage 'preprocessing'"
        )
    return found[0]
