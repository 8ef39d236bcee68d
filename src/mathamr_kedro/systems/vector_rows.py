"""Rows of vectors in a file: written batch by batch, mapped into memory, compared.

::

    slg.f16      vectors, one after another, in half precision
    slg.arrays   ptr: where each row starts; a row may be empty
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import read_arrays, write_arrays
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model import current_scan
from mathamr_kedro.model.maxsim import match_posts
from mathamr_kedro.vectors import ExactSpace

T = TypeVar("T")

_AT_ONCE = 1 << 15
"""Vectors that are compared at once."""


def take_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Return the items in lists of so many, the last one of what is left."""
    stream = iter(items)
    return iter(lambda: list(islice(stream, size)), [])


def write_rows(
    path: Path,
    items: Iterable[T],
    encode: Callable[[list[T]], NDArray[np.float32]],
    size: int,
) -> int:
    """Write a row of one vector for each item, so many at once; return the bytes."""
    writer = VectorWriter(path)
    for some in take_batches(items, size):
        writer.add(RaggedVectors.one_each(encode(some)))
    return writer.close()


class VectorWriter:
    """Writes rows as they come; :meth:`close` makes the file whole."""

    def __init__(self, path: Path) -> None:
        self._path, self._width = path, 1
        self._lengths = [0]
        self._file = path.with_suffix(".f16").open("wb")

    def add(self, rows: RaggedVectors[Any]) -> None:
        """Append rows, of which some may be empty."""
        part = rows.to("cpu", torch.float16)
        self._lengths += part.lengths.tolist()
        self._width = part.vectors.shape[1]
        self._file.write(part.vectors.contiguous().numpy().data)

    def close(self) -> int:
        """Return the bytes of all."""
        size = self._file.tell()
        self._file.close()
        ptr = np.cumsum(self._lengths, dtype=np.int64)
        arrays = {"ptr": ptr, "width": np.array([self._width])}
        return size + write_arrays(self._path.with_suffix(".arrays"), arrays)


class VectorRows:
    """Rows of vectors that a system compares exhaustively, by MaxSim."""

    def __init__(self, path: Path) -> None:
        found = read_arrays(path.with_suffix(".arrays"))
        width, file = int(found["width"][0]), path.with_suffix(".f16")
        vectors: NDArray[Any] = np.zeros((0, width), dtype=np.float16)
        if file.stat().st_size:
            vectors = np.memmap(file, np.float16, "c").reshape(-1, width)
        self.rows = RaggedVectors(vectors.view(np.ndarray), found["ptr"])
        self._device = current_scan().choose_device()

    @cached_property
    def _space(self) -> tuple[NDArray[np.int64], ExactSpace]:
        """The rows that are not empty, packed to be scanned."""
        kept = np.flatnonzero(self.rows.lengths)
        space = ExactSpace(str(self._device))
        ptr = np.concatenate([[0], self.rows.ptr[kept + 1]])
        space.add(RaggedVectors(self.rows.vectors, ptr))
        return kept, space

    @cached_property
    def _near(self) -> RaggedVectors[Any]:
        """The rows where they are compared: a GPU with room for them keeps them."""
        if self._device.type == "cuda":
            free, _ = torch.cuda.mem_get_info(self._device)
            if self.rows.vectors.nbytes < free // 2:
                return self.rows.to(self._device)
        return self.rows

    def find(
        self,
        queries: Sequence[NDArray[np.float32]],
        depth: int,
        ids: NDArray[np.object_],
    ) -> list[tuple[NDArray[np.int64], NDArray[np.float64]]]:
        """Return the best rows of each query and their scores.

        Args:
            queries: (|q|, k) vectors of each; one of no vectors finds nothing.
            depth: how many.
            ids: of the rows, for ties.
        """
        kept, space = self._space
        nothing = kept[:0], np.zeros(0)
        asked = [query for query in queries if len(query)]
        if not asked or not len(kept):
            return [nothing] * len(queries)
        found = (
            (kept[rows], scores)
            for rows, scores in space.find(
                RaggedVectors.of(asked), depth, ids[kept].take
            )
        )
        return [next(found) if len(query) else nothing for query in queries]

    @torch.inference_mode()
    def score(
        self, query: NDArray[np.float32], rows: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        r"""Return MaxSim of a query, over its vectors, with some rows; empty ones: 0.

        .. math:: \frac{1}{|q|} \sum_i \max_j q_i^\top d_j
        """
        scores, near = np.zeros(len(rows)), self._near
        filled = np.flatnonzero(self.rows.lengths[rows] * len(query))
        tokens = torch.from_numpy(query).to(self._device, torch.float64)
        sizes = np.cumsum(self.rows.lengths[rows[filled]]) // _AT_ONCE
        for some in np.split(filled, np.flatnonzero(np.diff(sizes)) + 1):
            if len(some):
                chosen: Any = rows[some]
                if isinstance(near.ptr, torch.Tensor):
                    chosen = torch.from_numpy(chosen).to(self._device)
                part = near.take(chosen).to(self._device)  # in half precision
                part = part.to(self._device, torch.float64)
                scores[some] = match_posts(tokens, part).mean(1).cpu().numpy()
        return scores
