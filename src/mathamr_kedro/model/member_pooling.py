"""Means over the members of virtual nodes, by autograd.

Used beside the convolution, by the ``mean`` initialisations and the readout. Gathering
goes through an embedding lookup, whose backward pass sorts instead of adding
atomically, so gradients repeat bit by bit on GPUs too.
"""

from __future__ import annotations

from importlib import import_module

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from mathamr_kedro.graph import GraphBatch
from mathamr_kedro.model.backends import can_use_triton


def gather_rows(rows: Tensor, index: Tensor) -> Tensor:
    """``rows[index]``; spare entries of ``index`` read the last row."""
    return F.embedding(index.clamp(max=max(len(rows) - 1, 0)), rows)


def look_up(table: Tensor, index: Tensor) -> Tensor:
    """``table[index]`` if many share a row: on CUDA its gradient is summed in tiles.

    torch sums the uses of one row sequentially, and common node types have tens of
    thousands in a large batch.
    """
    if table.dtype == torch.float32 and can_use_triton(table.device, table.shape[1]):
        kernels = import_module("mathamr_kedro.model.triton_sums")
        found: Tensor = kernels.look_up_rows(table, index)
        return found
    return F.embedding(index, table)


def place_rows(rows: Tensor, index: Tensor, count: int) -> Tensor:
    """(count, d) zeros with ``rows`` at distinct ``index``; spare ones are dropped."""
    # One more row takes the spare entries; their number is not known on the host.
    out = rows.new_zeros(count + 1, rows.shape[1])
    return out.index_copy(0, index.long(), rows)[:count]


def _sum_members(values: Tensor, batch: GraphBatch) -> Tensor:
    """(V, d) sum one value per member to one per virtual node."""
    count = batch.virtual_node.numel()
    steps = torch.arange(count + 1, device=values.device, dtype=batch.member_of.dtype)
    starts = torch.searchsorted(batch.member_of, steps)
    # One more segment takes the spare members.
    ends = torch.cat([starts, starts.new_full((1,), len(values))])
    return torch.segment_reduce(values, "sum", offsets=ends, unsafe=True)[:-1]


def _count_members(batch: GraphBatch) -> Tensor:
    """(V, 1) number of members, at least 1."""
    count = batch.virtual_node.numel()
    steps = torch.arange(count + 1, device=batch.member_of.device, dtype=torch.int32)
    return torch.searchsorted(batch.member_of, steps).diff().clamp(min=1)[:, None]


def mean_members(values: Tensor, batch: GraphBatch) -> Tensor:
    """(V, d) mean over the members of each virtual node, of one value per member."""
    total = _sum_members(values, batch)
    return total / _count_members(batch).to(values.dtype)
