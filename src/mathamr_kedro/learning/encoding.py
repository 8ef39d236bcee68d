"""Encoding of many graphs with a trained model, in a stream of batches.

On a GPU, the device never waits for the host: the shards are on the device, batches of
one size are assembled there, results go to pinned memory, and the host fetches a result
while the device computes the next ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.graph import BatchSize, DeviceShards, GraphBatch, GraphShards
from mathamr_kedro.model import HostCopy, MathAMRPlus

_BATCH = {"cpu": 64, "cuda": 4096}
_SHARE_OF_MEMORY = 0.5
_AHEAD = 2
"""Batches in flight on the device while the host fetches an older one."""


class ShardSource:
    """Batches on a device, from a copy of the shards there if it fits."""

    def __init__(self, shards: GraphShards, device: torch.device) -> None:
        self.shards, self.device = shards, device
        self.on_device: DeviceShards | None = None
        if device.type == "cuda":
            free, _ = torch.cuda.mem_get_info(device)
            if DeviceShards.count_bytes(shards) < _SHARE_OF_MEMORY * free:
                self.on_device = DeviceShards(shards, device)

    @property
    def batch_size(self) -> int:
        """Graphs to encode at once on this device."""
        return _BATCH.get(self.device.type, _BATCH["cpu"])

    def batches(self, parts: Sequence[NDArray[np.int64]]) -> Iterator[GraphBatch]:
        """Assemble one batch after another; those on a GPU may have spare entries."""
        if self.on_device is None:
            for part in parts:
                yield self.shards.assemble(part).to(self.device)
            return
        if not parts:
            return
        # One copy for all: a copy from ordinary memory would wait for the device.
        chosen = torch.from_numpy(np.concatenate(parts)).to(self.device)
        sizes = [self.shards.measure(part[None])[0] for part in parts]
        rooms = share_rooms(np.stack(sizes), [len(part) for part in parts])
        split = chosen.split([len(part) for part in parts])
        for positions, room in zip(split, rooms, strict=True):
            yield self.on_device.assemble(positions, room)


def share_rooms(sizes: NDArray[np.int64], graphs: list[int]) -> list[BatchSize]:
    """Size of the tensors of each batch: the same for all batches of full size.

    Equal sizes let torch reuse memory instead of asking the driver for new blocks.
    Batches far above the median get a size of their own.
    """
    usual = np.array(graphs) == max(graphs)
    middle = np.median(sizes[usual], axis=0)
    near = usual & (sizes <= 1.25 * np.maximum(middle, 1)).all(1)
    largest = sizes[near].max(0) if near.any() else sizes.max(0)
    return [
        BatchSize(*(largest if same else own).tolist())
        for own, same in zip(sizes, near, strict=True)
    ]


def encode_shards(
    model: MathAMRPlus,
    shards: GraphShards,
    positions: Sequence[int] | NDArray[np.int64] | None = None,
    batch_size: int | None = None,
) -> Iterator[RaggedVectors[NDArray[Any]]]:
    """Encode graphs in order, batch by batch.

    Vectors have length 1; from a GPU they are in pinned memory, so copy them to keep
    them. Columns: ``kind`` (formula, sentence or document) and ``number`` (``n`` of
    FORMULA_n, or number of the sentence).

    Args:
        model: on the device to use.
        shards: the graphs.
        positions: which of them; all if ``None``.
        batch_size: graphs at once; fitted to the device if ``None``.
    """
    source = ShardSource(shards, model.head.inner.weight.device)
    size = batch_size or source.batch_size
    chosen = np.arange(len(shards)) if positions is None else np.asarray(positions)
    chosen = chosen.astype(np.int64)
    parts = [chosen[a : a + size] for a in range(0, len(chosen), size)]
    waiting: deque[_Pending] = deque()
    for part, batch in zip(parts, source.batches(parts), strict=True):
        with torch.no_grad():
            vectors = model.encode(batch, model.prepare(batch))
        waiting.append(_Pending(shards, part, vectors))
        if len(waiting) > _AHEAD:
            yield waiting.popleft().fetch()
    while waiting:
        yield waiting.popleft().fetch()


class _Pending:
    """Vectors on their way from the device."""

    def __init__(
        self, shards: GraphShards, positions: NDArray[np.int64], vectors: Tensor
    ) -> None:
        self._shards, self._positions = shards, positions
        offsets = shards.offsets["representative"]
        self._starts = offsets[positions]
        self._counts = offsets[positions + 1] - self._starts
        self._vectors = HostCopy(vectors[: int(self._counts.sum())].float())

    def fetch(self) -> RaggedVectors[NDArray[Any]]:
        """Wait for the vectors and return them with their columns."""
        counts, positions = self._counts, self._positions
        ptr = np.zeros(len(counts) + 1, dtype=np.int32)
        np.cumsum(counts, out=ptr[1:])
        element: slice | NDArray[np.int64]
        if len(positions) and (np.diff(positions) == 1).all():
            element = slice(int(self._starts[0]), int(self._starts[0]) + int(ptr[-1]))
        else:
            element = np.repeat(self._starts - ptr[:-1], counts) + np.arange(ptr[-1])
        kind, number = (
            self._shards.arrays[name][element]
            for name in ("representative_kind", "representative_number")
        )
        values = self._vectors.wait().numpy()
        columns = {"kind": kind.astype(np.int32), "number": number}
        return RaggedVectors(values, ptr, columns)
