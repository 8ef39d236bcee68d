"""Graph arrays as PyTorch Geometric data, and back."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch_geometric.data import Data

from mathamr_kedro.graph import GraphArrays, GraphSchema
from mathamr_kedro.graph.arrays import Ids


def to_pyg(graph: GraphArrays, schema: GraphSchema) -> Data:
    """Turn a graph into a ``torch_geometric.data.Data`` with every directed edge.

    ``x`` holds node types, ``edge_type`` relations, ``virtual`` marks virtual nodes.
    """
    source, target, relation = graph.directed_edges(schema)
    extra = {
        name: torch.from_numpy(getattr(graph, name).astype(np.int64))
        for name in vars(graph)
        if name.startswith("representative")
    }
    return Data(
        x=torch.from_numpy(graph.node_type.astype(np.int64)),
        edge_index=torch.from_numpy(np.stack([source, target])),
        edge_type=torch.from_numpy(relation),
        virtual=torch.arange(graph.num_nodes) >= graph.num_content,
        **extra,
    )


def _to_ids(values: NDArray[np.int64]) -> Ids:
    return values.astype(np.uint32)


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
    graph = GraphArrays(
        node_type=_to_ids(node_type),
        source=_to_ids(source[is_content]),
        target=_to_ids(target[is_content]),
        relation=_to_ids(relation[is_content]),
        member_count=_to_ids(count),
        member=_to_ids(target[is_virtual][order]),
        representative=_to_ids(data.representative.numpy()),
        representative_kind=_to_ids(data.representative_kind.numpy()),
        representative_number=_to_ids(data.representative_number.numpy()),
        representative_label=_to_ids(data.representative_label.numpy()),
    )
    graph.check(schema)
    return graph
