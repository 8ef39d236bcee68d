"""Graph shards in the memory of a GPU, and batches of fixed size from them.

All training graphs of ARQMath take about 2 GB, so they are copied once. A batch is then
assembled on the device without asking the host: every tensor has a fixed size, and what
is left of it is spare (see :class:`~mathamr_kedro.graph.shards.batches.GraphBatch`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.graph.shards.batches import GraphBatch
from mathamr_kedro.graph.shards.layout import GROUPS
from mathamr_kedro.graph.shards.reader import GraphShards

_SIGNED = {1: np.uint8, 2: np.int16, 4: np.int32}
_TORCH_TYPES = {1: torch.uint8, 2: torch.int16, 4: torch.int32}
_STAGING = 1 << 24
"""Bytes of pinned memory for each half of a copy to a GPU."""


class BatchSize(NamedTuple):
    """Room for that many of each in a batch, in the order of ``sizes``."""

    node: int
    edge: int
    virtual: int
    member: int
    representative: int


class DeviceShards:
    """The arrays of :class:`GraphShards` on a device."""

    def __init__(self, shards: GraphShards, device: torch.device) -> None:
        self.schema = shards.schema
        names = [name for names in GROUPS.values() for name in names]
        names.remove("representative_number")  # the encoder has no use for it
        self._arrays = {name: _copy(shards.whole(name), device) for name in names}
        self._texts: Tensor | None = None
        if shards.texts is not None:
            self._texts = torch.from_numpy(shards.texts.copy()).to(device)
        self._offsets = {
            group: torch.from_numpy(offsets).to(device)
            for group, offsets in shards.offsets.items()
        }

    @staticmethod
    def count_bytes(shards: GraphShards) -> int:
        """Memory that the copy of these shards would take."""
        names = [name for names in GROUPS.values() for name in names]
        arrays = sum(shards.whole(name).nbytes for name in names)
        arrays += 0 if shards.texts is None else shards.texts.nbytes
        return arrays + sum(offsets.nbytes for offsets in shards.offsets.values())

    def assemble(self, positions: Tensor, size: BatchSize) -> GraphBatch:
        """Put the graphs at ``positions`` side by side, as the shards do.

        Nothing waits for the device; a batch that does not fit is cut, so ``size`` must
        be checked before (:meth:`GraphShards.measure`).
        """
        room = size._asdict()
        parts = {g: self._spread(g, positions, room[g]) for g in GROUPS}
        node, edge, virtual = parts["node"], parts["edge"], parts["virtual"]
        member, representative = parts["member"], parts["representative"]
        first = node.ptr[:-1]
        edges = self._arrays["edge"][edge.element]
        # Virtual nodes end each graph: its end, less those of all graphs so far.
        virtual_node = virtual.number + (node.ptr[1:] - virtual.ptr[1:])[virtual.graph]
        return GraphBatch(
            schema=self.schema,
            node_type=node.pick(_unsigned(self._arrays["node_type"][node.element]), 0),
            node_ptr=node.ptr,
            source=edge.pick(_unsigned(edges[:, 0]) + first[edge.graph], size.node),
            target=edge.pick(_unsigned(edges[:, 1]) + first[edge.graph], size.node),
            relation=edge.pick(_unsigned(edges[:, 2]), 0),
            virtual_node=virtual.pick(virtual_node, size.node),
            member=member.pick(
                _unsigned(self._arrays["member"][member.element]) + first[member.graph],
                size.node,
            ),
            member_of=self._owners(virtual, size),
            representative=representative.pick(
                _unsigned(self._arrays["representative"][representative.element])
                + first[representative.graph],
                size.node,
            ),
            representative_kind=representative.pick(
                self._arrays["representative_kind"][representative.element], 0
            ),
            representative_label=representative.pick(
                self._arrays["representative_label"][representative.element], 0
            ),
            representative_row=representative.pick(representative.element, 0),
            representative_ptr=representative.ptr,
            text=None if self._texts is None else self._texts[positions].float(),
        )

    def _spread(self, group: str, positions: Tensor, room: int) -> _Spread:
        offsets = self._offsets[group]
        start = offsets[positions]
        return _spread(start, offsets[positions + 1] - start, room)

    def _owners(self, virtual: _Spread, size: BatchSize) -> Tensor:
        """(M,) the virtual node of each member; spare ones have the next number."""
        count = self._arrays["member_count"][virtual.element].long()
        ends = torch.cumsum(virtual.pick(count, 0).long(), 0)
        number = torch.arange(size.member, device=ends.device)
        return torch.searchsorted(ends, number, right=True, out_int32=True)


class _Spread(NamedTuple):
    """The elements of some graphs in one file, with spare ones behind."""

    element: Tensor
    """Place of each element in the file; 0 for spare ones."""
    graph: Tensor
    """The graph of each element, as a number in the batch."""
    number: Tensor
    is_real: Tensor
    ptr: Tensor
    """Where each graph starts in the batch."""

    def pick(self, values: Tensor, spare: int) -> Tensor:
        """The values as int32, with another value for spare elements."""
        return torch.where(self.is_real, values.int(), spare)


def _spread(start: Tensor, count: Tensor, room: int) -> _Spread:
    # Element ``n`` of the batch belongs to the first graph that ends behind it; what
    # is behind the last graph is spare.
    ends = torch.cumsum(count, 0)
    number = torch.arange(room, device=start.device)
    graph = torch.searchsorted(ends, number, right=True)
    is_real = graph < count.numel()
    graph = graph.clamp(max=count.numel() - 1)
    # From the place in the batch to the place in the file: both start with the graph.
    element = (start - (ends - count))[graph] + number
    ptr = torch.cat([ends.new_zeros(1), ends]).int()
    element = torch.where(is_real, element, 0)
    return _Spread(element, graph, number.int(), is_real, ptr)


def _copy(values: NDArray[Any], device: torch.device) -> Tensor:
    """Copy an array to a device, without a second copy of all of it on the host."""
    if len(values) == 0:  # spare elements of a batch read the first one
        values = np.zeros((1, *values.shape[1:]), values.dtype)
    signed = np.ascontiguousarray(values).view(_SIGNED[values.itemsize])
    if device.type != "cuda":
        return torch.from_numpy(signed.copy())  # files are not to be written to
    out = torch.empty(signed.shape, dtype=_TORCH_TYPES[signed.itemsize], device=device)
    # Pinned memory in two halves: one is filled while the other is on its way.
    rows = max(1, _STAGING // signed[:1].nbytes)
    halves = [
        torch.empty(
            (min(rows, len(signed)), *signed.shape[1:]), dtype=out.dtype
        ).pin_memory()
        for _ in range(2)
    ]
    sent: list[torch.cuda.Event | None] = [None, None]
    for i, a in enumerate(range(0, len(signed), rows)):
        part, event = signed[a : a + rows], sent[i % 2]
        if event is not None:
            event.synchronize()
        half = halves[i % 2][: len(part)]
        half.numpy()[...] = part
        out[a : a + rows].copy_(half, non_blocking=True)
        event = sent[i % 2] = torch.cuda.Event()
        event.record()
    torch.cuda.current_stream(device).synchronize()
    return out


def _unsigned(values: Tensor) -> Tensor:
    """Read two-byte values, which torch holds as signed, as unsigned ones."""
    if values.dtype == torch.int16:
        return values.int() & 0xFFFF
    return values
