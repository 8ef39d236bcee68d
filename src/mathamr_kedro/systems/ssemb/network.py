r"""StructEmb: a graph isomorphism network over shared operator graphs.

::

    labels ─► embedding ─► GIN ─► GIN ─► head ─► z      (training only)
                            │      │
                            └──────┴── sums over the nodes, side by side ─► h

One layer (Xu et al. 2019) is

.. math::
    h_v^{(k)} = \text{MLP}^{(k)}\Big((1 + \epsilon^{(k)})\, h_v^{(k-1)}
        + \sum_{u \in \mathcal{N}(v)} h_u^{(k-1)}\Big)

whose neighbours are those along edges in both directions.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from mathamr_kedro.systems.ssemb.graphs import GraphBatch

_LAYERS = 2
"""As in the paper."""


class StructureEncoder(nn.Module):
    """Formulas to vectors."""

    def __init__(self, dimension: int, num_labels: int) -> None:
        super().__init__()
        width = dimension // _LAYERS
        self.embedding = nn.Embedding(num_labels, width)
        self.layers = nn.ModuleList(_Layer(width) for _ in range(_LAYERS))
        self.head = nn.Sequential(
            nn.Linear(dimension, dimension),
            nn.BatchNorm1d(dimension),
            nn.ReLU(),
            nn.Linear(dimension, dimension),
        )

    def forward(self, batch: GraphBatch) -> Tensor:
        """(G, k) vectors h of the graphs."""
        neighbours = _Neighbours(batch)
        x, sums = self.embedding(batch.labels), []  # (N, k / layers)
        for layer in self.layers:
            x = layer(x, neighbours)
            sums.append(_SumNodes.apply(x, batch.ptr, batch.graph_of))
        return torch.cat(sums, dim=1)


class _Layer(nn.Module):
    """One layer, with the batch norm and the activation that GraphCL puts behind."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.epsilon = nn.Parameter(torch.zeros(()))
        self.mlp = nn.Sequential(
            nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)
        )
        self.norm = nn.BatchNorm1d(width)

    def forward(self, x: Tensor, neighbours: _Neighbours) -> Tensor:
        message: Tensor = _SumNeighbours.apply(x, neighbours)
        x = self.mlp((1 + self.epsilon) * x + message)
        normed: Tensor = self.norm(torch.relu(x))
        return normed


class _Neighbours:
    """Neighbours of each node, along edges and against them, sorted by node."""

    def __init__(self, batch: GraphBatch) -> None:
        ends = torch.cat([batch.edges, batch.edges.flip(0)], dim=1)
        node, order = ends[0].sort(stable=True)
        self.index = ends[1][order]
        count = torch.bincount(node, minlength=len(batch.labels))
        self.ptr = F.pad(count.cumsum(0), (1, 0))

    def sum(self, x: Tensor) -> Tensor:
        """(N, k) sum over the neighbours."""
        return F.embedding_bag(
            self.index, x, self.ptr, mode="sum", include_last_offset=True
        )


class _SumNeighbours(torch.autograd.Function):
    """Neighbourhood is mutual: the gradient is the same sum, in a fixed order."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, neighbours: _Neighbours) -> Tensor:
        ctx.neighbours = neighbours
        return neighbours.sum(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        return ctx.neighbours.sum(grad.contiguous()), None


class _SumNodes(torch.autograd.Function):
    """(G, k) sums over the nodes of each graph."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, ptr: Tensor, graph_of: Tensor) -> Tensor:
        ctx.save_for_backward(graph_of)
        nodes = torch.arange(len(x), device=x.device)
        return F.embedding_bag(nodes, x, ptr, mode="sum", include_last_offset=True)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        (graph_of,) = ctx.saved_tensors
        return grad.index_select(0, graph_of), None, None
