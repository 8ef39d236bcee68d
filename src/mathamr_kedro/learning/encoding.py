"""Encoding many graphs with a trained model, in a stream of batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.graph.batches import GraphBatch
from mathamr_kedro.graph.device_shards import BatchSize, DeviceShards, measure_batches
from mathamr_kedro.graph.tensor_shards import GraphShards
from mathamr_kedro.model.mathamr_plus import MathAMRPlus

_BATCH = {"cpu": 64, "cuda": 4096}
_SHARE_OF_MEMORY = 0.5


class EncodedPosts(NamedTuple):
    """The vectors of some posts, one post after another."""

    positions: NDArray[np.int64]
    """Of the posts in the shards."""
    vectors: NDArray[np.float32]
    """(P, k) of length 1."""
    ptr: NDArray[np.int32]
    """Where the vectors of each post start."""
    kind: NDArray[np.int32]
    """(P,) formula, sentence or document."""
    number: NDArray[np.uint32]
    """(P,) n of FORMULA_n, or number of the sentence."""


def encode_shards(
    model: MathAMRPlus,
    shards: GraphShards,
    positions: Sequence[int] | NDArray[np.int64] | None = None,
    batch_size: int | None = None,
) -> Iterator[EncodedPosts]:
    """Encode graphs in order, batch by batch.

    Args:
        model: on the device to use.
        shards: the graphs.
        positions: which of them; all if ``None``.
        batch_size: graphs at once; fitted to the device if ``None``.
    """
    device = model.head.inner.weight.device
    size = batch_size or _BATCH.get(device.type, _BATCH["cpu"])
    chosen = np.arange(len(shards)) if positions is None else np.asarray(positions)
    parts = [chosen[a : a + size] for a in range(0, len(chosen), size)]
    source = _Source(shards, device)
    waiting: tuple[NDArray[np.int64], Tensor] | None = None
    for part in parts:
        with torch.no_grad():
            batch = source.assemble(part)
            vectors = model.encode(batch, model.backend.prepare(batch))
        # Fetch the last result only now, while the device is busy with this one.
        if waiting is not None:
            yield _fetch(shards, *waiting)
        waiting = part, vectors
    if waiting is not None:
        yield _fetch(shards, *waiting)


class _Source:
    """Batches on a device, from a copy of the shards there if it fits."""

    def __init__(self, shards: GraphShards, device: torch.device) -> None:
        self._shards, self._device = shards, device
        self._copy: DeviceShards | None = None
        if device.type == "cuda":
            free, _ = torch.cuda.mem_get_info(device)
            if DeviceShards.count_bytes(shards) < _SHARE_OF_MEMORY * free:
                self._copy = DeviceShards(shards, device)

    def assemble(self, positions: NDArray[np.int64]) -> GraphBatch:
        if self._copy is None:
            return self._shards.assemble(positions).to(self._device)
        room = BatchSize(*measure_batches(self._shards, positions[None])[0].tolist())
        return self._copy.assemble(torch.from_numpy(positions).to(self._device), room)


def _fetch(
    shards: GraphShards, positions: NDArray[np.int64], vectors: Tensor
) -> EncodedPosts:
    offsets = shards.offsets["representative"]
    starts, ends = offsets[positions], offsets[positions + 1]
    ptr = np.concatenate([[0], np.cumsum(ends - starts)]).astype(np.int32)
    bounds = list(zip(starts.tolist(), ends.tolist(), strict=True))
    kind, number = (
        np.concatenate([shards.arrays[name][a:b] for a, b in bounds])
        for name in ("representative_kind", "representative_number")
    )
    values = vectors.float().cpu().numpy()
    return EncodedPosts(positions, values, ptr, kind.astype(np.int32), number)
