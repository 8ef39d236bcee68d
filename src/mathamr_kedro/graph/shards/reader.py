"""Reading graph shards: single graphs, and random batches at loading speed.

:class:`DeviceShards` are in the memory of a GPU: all training graphs of ARQMath take
about 2 GB, so they are copied once. A batch is then assembled on the device without
asking the host: every tensor has a fixed size, and what is left of it is spare (see
:class:`~mathamr_kedro.graph.shards.batches.GraphBatch`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.arrays import spread_ranges
from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.graph.arrays import GraphArrays, GraphSchema
from mathamr_kedro.graph.shards.batches import GraphBatch
from mathamr_kedro.graph.shards.folder import GraphFolder, Offsets, make_offsets
from mathamr_kedro.graph.shards.layout import (
    GROUPS,
    NODE_NUMBERS,
    WIDE,
    Renumbering,
    list_files,
)
from mathamr_kedro.graph.shards.texts import open_texts

Numbers: TypeAlias = NDArray[np.int32]
_SIGNED = {1: np.uint8, 2: np.int16, 4: np.int32}
_TORCH_TYPES = {1: torch.uint8, 2: torch.int16, 4: torch.int32}
_COUNTED = 1 << 22
"""Nodes that are looked at together."""
_STAGING = 1 << 24
"""Bytes of pinned memory for each half of a copy to a GPU."""


class GraphShards(GraphFolder):
    """Graphs with a vocabulary's numbers, one by one and in batches.

    ::

        shards = GraphShards(folder)
        graph = shards.graph(shards.position("1234"))
        batch = shards.assemble([5, 3, 8])

    Args:
        folder: of the graphs.
        numbers: of the vocabulary, unless the folder has them already.
        schema: what those mean.
        texts: file of vectors of their texts, if there is one.

    Raises:
        MissingInputError: the folder has numbers of its own, and no others are given.
    """

    def __init__(
        self,
        folder: Path,
        numbers: Renumbering | None = None,
        schema: GraphSchema | None = None,
        texts: Path | None = None,
    ) -> None:
        super().__init__(folder)
        known = self.meta.schema if numbers is None else schema
        if known is None:
            raise MissingInputError(
                f"Expected a vocabulary for the graphs in {str(folder)!r}; open the "
                "folder of prepared graphs that was made of them"
            )
        self.schema: GraphSchema = known
        self.numbers = numbers
        self.texts = open_texts(texts, len(self)) if texts is not None else None
        sizes = self.arrays["sizes"]
        self.wide = np.flatnonzero(sizes[:, 0] >= WIDE)
        # Where each wide graph starts in the .high files, by group.
        self._high = {
            group: make_offsets(sizes[self.wide, column])
            for column, group in enumerate(GROUPS)
        }

    def renumber(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        """Return values of a file with the numbers of the vocabulary."""
        return values if self.numbers is None else self.numbers.apply(name, values)

    def count_type(self, number: int) -> int:
        """Return how many nodes of all graphs have a type."""
        nodes = self.arrays["node_type"]
        pieces = (nodes[a : a + _COUNTED] for a in range(0, len(nodes), _COUNTED))
        found = (self.renumber("node_type", piece) == number for piece in pieces)
        return sum(int(np.count_nonzero(same)) for same in found)

    def graph(self, position: int) -> GraphArrays:
        """Read one graph."""
        wide = np.array([position])
        values: dict[str, NDArray[np.uint32]] = {}
        for group, names in GROUPS.items():
            start, end = self.offsets[group][position : position + 2]
            for name in names:
                part = self.renumber(name, self.arrays[name][start:end])
                part = part.astype(np.uint32)
                values[name] = self._widen(part, wide, name, group)
        edge = values.pop("edge")
        return GraphArrays(
            source=edge[:, 0], target=edge[:, 1], relation=edge[:, 2], **values
        )

    def assemble(self, positions: Sequence[int] | NDArray[Any]) -> GraphBatch:
        """Put the graphs at ``positions`` side by side, in that order.

        Each graph is one slice of each file, so a batch is a few concatenations.
        """
        picked = _Picked(self, np.asarray(positions, dtype=np.int64))
        node_ptr = picked.pointers("node")
        first = node_ptr[:-1]
        edge = picked.slices("edge", "edge")
        at_edge = picked.repeat(first, "edge")
        count = picked.counts["virtual"]
        rank = np.arange(count.sum(), dtype=np.int32)
        # Virtual nodes end each graph: its end, less those of all graphs so far.
        behind = node_ptr[1:] - np.cumsum(count, dtype=np.int32)
        member = picked.slices("member", "member")
        representative = picked.take("representative", "representative")
        arrays = {
            "node_type": picked.slices("node_type", "node").astype(np.int32),
            "node_ptr": node_ptr,
            "source": np.add(edge[:, 0], at_edge, dtype=np.int32),
            "target": np.add(edge[:, 1], at_edge, dtype=np.int32),
            "relation": edge[:, 2].astype(np.int32),
            "virtual_node": rank + picked.repeat(behind, "virtual"),
            "member": np.add(member, picked.repeat(first, "member"), dtype=np.int32),
            "member_of": np.repeat(rank, picked.take("member_count", "virtual")),
            "representative": np.add(
                representative, picked.repeat(first, "representative"), dtype=np.int32
            ),
            "representative_row": picked.rows("representative").astype(np.int32),
            "representative_ptr": picked.pointers("representative"),
        }
        for name in ("representative_kind", "representative_label"):
            arrays[name] = picked.take(name, "representative").astype(np.int32)
        tensors = {name: torch.from_numpy(values) for name, values in arrays.items()}
        if self.texts is not None:
            texts = self.texts[np.asarray(positions, dtype=np.int64)]
            tensors["text"] = torch.from_numpy(texts.astype(np.float32))
        return GraphBatch(schema=self.schema, **tensors)

    def measure(self, batches: NDArray[Any]) -> NDArray[np.int64]:
        """(batches, 5) sizes of batches, given as (batches, graphs) positions."""
        sizes = self.arrays["sizes"]
        return np.stack(
            [sizes[:, c][batches].sum(1, dtype=np.int64) for c in range(len(GROUPS))], 1
        )

    def whole(self, name: str) -> NDArray[Any]:
        """One file for all graphs, as int32 if there are wide graphs."""
        group = next(g for g, names in GROUPS.items() if name in names)
        values = self.renumber(name, self.arrays[name])
        values = values.astype(list_files(self.schema)[name], copy=False)
        if name not in NODE_NUMBERS or self.wide.size == 0:
            return values
        everything = np.arange(len(self), dtype=np.int64)
        return self._widen(values.astype(np.int32), everything, name, group)

    def _widen(
        self, values: NDArray[Any], chosen: Offsets, name: str, group: str
    ) -> NDArray[Any]:
        """Add the upper halves for those of the chosen graphs that are wide."""
        # Only node numbers can exceed 16 bits, and only in graphs of so many nodes.
        is_wide = np.isin(chosen, self.wide) if name in NODE_NUMBERS else ()
        if not np.any(is_wide):
            return values
        values = values.astype(np.int64)
        offsets = self.offsets[group]
        place = make_offsets(offsets[chosen + 1] - offsets[chosen])
        for i in np.flatnonzero(is_wide):
            rank = int(np.searchsorted(self.wide, chosen[i]))
            start, end = self._high[group][rank : rank + 2]
            high = self.arrays[f"{name}.high"][start:end].astype(np.int64) << 16
            values[place[i] : place[i + 1]] |= high
        return values.astype(np.uint32)


class _Picked:
    """The parts of some graphs in each file."""

    def __init__(self, shards: GraphShards, chosen: Offsets) -> None:
        self._shards, self._chosen = shards, chosen
        self._known: dict[str, Offsets] = {}
        self._starts = {g: offsets[chosen] for g, offsets in shards.offsets.items()}
        self.counts = {
            g: offsets[chosen + 1] - self._starts[g]
            for g, offsets in shards.offsets.items()
        }

    def pointers(self, group: str) -> Numbers:
        """Where each graph starts in the batch."""
        pointers = np.zeros(len(self._chosen) + 1, dtype=np.int32)
        np.cumsum(self.counts[group], out=pointers[1:])
        return pointers

    def repeat(self, values: Numbers, group: str) -> Numbers:
        """Give each element of a graph the value of the graph."""
        return np.repeat(values, self.counts[group])

    def slices(self, name: str, group: str) -> NDArray[Any]:
        """Elements of the graphs; fastest if graphs have many of them."""
        values = self._shards.arrays[name]
        starts = self._starts[group]
        bounds = zip(
            starts.tolist(), (starts + self.counts[group]).tolist(), strict=True
        )
        parts = [values[a:b] for a, b in bounds] or [values[:0]]
        return self._finish(np.concatenate(parts), name, group)

    def take(self, name: str, group: str) -> NDArray[Any]:
        """Elements of the graphs; fastest if graphs have few of them."""
        return self._finish(
            self._shards.arrays[name].take(self.rows(group)), name, group
        )

    def rows(self, group: str) -> Offsets:
        """Places of the elements of the graphs in the files."""
        if group not in self._known:
            elements = spread_ranges(self._starts[group], self.counts[group])
            self._known[group] = elements
        return self._known[group]

    def _finish(self, values: NDArray[Any], name: str, group: str) -> NDArray[Any]:
        values = self._shards.renumber(name, values)
        if self._shards.wide.size:
            return self._shards._widen(values, self._chosen, name, group)
        return values


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
        types = list_files(shards.schema)
        is_wide = shards.wide.size > 0
        arrays = sum(
            shards.arrays[name].size
            * (4 if is_wide and name in NODE_NUMBERS else types[name].itemsize)
            for names in GROUPS.values()
            for name in names
        )
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
        return _spread_with_spare(start, offsets[positions + 1] - start, room)

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


def _spread_with_spare(start: Tensor, count: Tensor, room: int) -> _Spread:
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
