r"""Token vectors of documents on disk, and MaxSim of a query with some of them.

Every document has one or more rows of tokens, one for each formula that its text was
fused with; its score is the mean of theirs (Algorithm 1):

.. math::
    s(q, d) = \frac{1}{m} \sum_{j=1}^m \mathrm{MaxSim}(E_q, E_{d_j})

::

    fused-00000.arrays   vectors (P, k) in half precision, ptr: where rows start,
                         owners: where the rows of a document start
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.arrays import Arrays, read_arrays, spread_ranges, write_arrays
from mathamr_kedro.base.ragged import RaggedVectors

_VECTORS_AT_ONCE = 1 << 15


class TokenIndex:
    """One kind of token vectors of all documents, by their numbers.

    Args:
        folder: of the index.
        kind: name of the vectors.
        device: where scores are computed.
    """

    documents_per_shard = 256

    def __init__(self, folder: Path, kind: str, device: torch.device) -> None:
        self._folder, self._kind, self._device = folder, kind, device

    def write(
        self, number: int, rows: RaggedVectors[Tensor], rows_of: Sequence[int]
    ) -> int:
        """Write a shard and return its size; all but the last are full.

        Args:
            number: of the shard.
            rows: token vectors, the rows of a document one after another.
            rows_of: how many rows each document has.
        """
        arrays: Arrays = {
            "vectors": rows.vectors.half().cpu().numpy(),
            "ptr": rows.ptr.cpu().numpy().astype(np.int64),
            "owners": np.cumsum([0, *rows_of], dtype=np.int64),
        }
        return write_arrays(self._folder / f"{self._kind}-{number:05d}.arrays", arrays)

    @cached_property
    def _shards(self) -> list[Arrays]:
        paths = sorted(self._folder.glob(f"{self._kind}-*.arrays"))
        return [read_arrays(path) for path in paths]

    @torch.no_grad()
    def score(self, query: Tensor, documents: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the score of each document; ``-inf`` for those without any row.

        Args:
            query: (T, k) vectors of its tokens.
            documents: numbers, in any order.
        """
        scores = np.full(len(documents), -np.inf)
        if not len(query):
            return scores
        shards, places = np.divmod(documents, self.documents_per_shard)
        for shard in np.unique(shards):
            (chosen,) = np.nonzero(shards == shard)
            arrays = self._shards[shard]
            numbers = np.diff(arrays["owners"])[places[chosen]]
            chosen, numbers = chosen[numbers > 0], numbers[numbers > 0]
            if len(chosen):
                starts = arrays["owners"][places[chosen]]
                rows = spread_ranges(starts, numbers)
                found = self._score_rows(query, arrays, rows)
                ends = np.cumsum(numbers)
                sums = np.add.reduceat(found, ends - numbers)
                scores[chosen] = sums / numbers
        return scores

    def _score_rows(
        self, query: Tensor, arrays: Arrays, rows: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """MaxSim of the query with rows of a shard, divided by its tokens."""
        lengths = np.diff(arrays["ptr"])[rows]
        pieces = np.cumsum(lengths) // _VECTORS_AT_ONCE
        found = []
        all_rows = RaggedVectors(arrays["vectors"], arrays["ptr"])
        for part in np.split(rows, np.nonzero(np.diff(pieces))[0] + 1):
            tokens = all_rows.take(part).to(self._device, torch.float32)
            similar = tokens.vectors @ query.to(self._device).T
            best = torch.segment_reduce(
                similar, "max", lengths=tokens.lengths, unsafe=True
            )
            found.append(best.mean(1).double().cpu().numpy())
        return np.concatenate(found)
