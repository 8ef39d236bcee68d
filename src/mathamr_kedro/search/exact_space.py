"""A space of items to find: posts, documents or formulas, scanned one and all."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.model.backends import can_use_triton
from mathamr_kedro.search.maxsim import (
    PackedPosts,
    QueryBatch,
    RaggedRows,
    ScanType,
    score_pairs,
)
from mathamr_kedro.search.numbering import Names
from mathamr_kedro.search.ordering import Best, choose_best, rank_ids

_ROOM = {"cpu": 1 << 26, "cuda": 1 << 30}
"""Scores held at once."""


class Scanner(Protocol):
    """Some items, packed for a device."""

    order: Tensor

    def scan(self, queries: QueryBatch) -> Tensor:
        """(Q, N) scores in the order of :attr:`order`."""

    def slack(self, queries: QueryBatch) -> float:
        """Return how far a score may be from the true one."""

    def num_bytes(self) -> int:
        """Return the memory it takes."""


class _Part(NamedTuple):
    items: RaggedRows
    scanner: Scanner
    first: int


class ExactSpace:
    """Items with one or more vectors each, numbered in the order they were added."""

    def __init__(self, device: str = "cpu", dtype: ScanType = "float32") -> None:
        self.device = torch.device(device)
        self._dtype: ScanType = dtype
        self._parts: list[_Part] = []
        self._order = torch.empty(0, dtype=torch.int64, device=self.device)
        self._numbers = self._order.cpu()

    def __len__(self) -> int:
        return len(self._order)

    def add(self, rows: NDArray, ptr: NDArray[np.int64]) -> None:
        """Add items: their vectors and where those of each item start."""
        self.add_items(RaggedRows(torch.from_numpy(rows), torch.from_numpy(ptr)))

    def add_items(self, items: RaggedRows) -> None:
        """Add items given as tensors."""
        if not len(items):
            return
        items = RaggedRows(items.rows.to(self.device), items.ptr.to(self.device))
        scanner = self._pack(items)
        self._parts.append(_Part(items, scanner, len(self)))
        self._order = torch.cat([self._order, scanner.order + len(self)])
        self._numbers = self._order.cpu()

    def _pack(self, items: RaggedRows) -> Scanner:
        if can_use_triton(self.device, items.rows.shape[1]):
            kernels = import_module("mathamr_kedro.search.maxsim_triton")
            packed: Scanner = kernels.BlockedPosts(items)
            return packed
        return PackedPosts(items, self._dtype)

    def search(
        self,
        queries: QueryBatch,
        depth: int,
        allowed: NDArray[np.bool_],
        ids_of: Callable[[NDArray[np.int64]], Names],
    ) -> list[Best]:
        """Return the best items of each query; places are item numbers.

        Args:
            queries: vectors in single precision.
            depth: how many.
            allowed: (N,) which items may be returned.
            ids_of: gives ids of items, for ties.
        """
        queries = queries.to(self.device)
        hidden = None
        if not allowed.all():
            hidden = ~torch.from_numpy(allowed).to(self.device)[self._order]
        step = max(1, _ROOM[self.device.type] // max(1, len(self)))
        results: list[Best] = []
        for a in range(0, len(queries), step):
            results += self._search_some(
                _slice(queries, a, a + step), depth, hidden, ids_of
            )
        return results

    def _search_some(
        self,
        queries: QueryBatch,
        depth: int,
        hidden: Tensor | None,
        ids_of: Callable[[NDArray[np.int64]], Names],
    ) -> list[Best]:
        parts = [p.scanner.scan(queries) for p in self._parts]
        if not parts:
            parts = [queries.tokens.new_empty(len(queries), 0)]
        scores = parts[0] if len(parts) == 1 else torch.cat(parts, 1)
        if hidden is not None:
            scores.masked_fill_(hidden, -torch.inf)
        slack = max((p.scanner.slack(queries) for p in self._parts), default=0.0)

        def rescore(which: Tensor, places: Tensor) -> Tensor:
            return self._score(queries, which, self._order[places])

        def rank(places: Tensor) -> Tensor:
            numbers, place = torch.unique(self._order[places], return_inverse=True)
            ranks = rank_ids(ids_of(numbers.cpu().numpy()).tolist())
            return torch.from_numpy(ranks).to(places.device)[place]

        best = choose_best(scores, depth, slack, rescore, rank)
        return [Best(self._numbers[b.places], b.scores) for b in best]

    def score(
        self, queries: QueryBatch, which: NDArray[np.int64], items: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        """(M,) scores of single pairs of query and item; ``which`` rises."""
        pairs = (torch.from_numpy(a).to(self.device) for a in (which, items))
        return self._score(queries.to(self.device), *pairs).cpu().numpy()

    def _score(self, queries: QueryBatch, which: Tensor, items: Tensor) -> Tensor:
        scores = torch.empty(len(items), dtype=torch.float64, device=self.device)
        for part in self._parts:
            inside = (items >= part.first) & (items < part.first + len(part.items))
            mine = inside.nonzero().flatten()
            if len(mine):
                local = items[mine] - part.first
                scores[mine] = score_pairs(queries, part.items, which[mine], local)
        return scores

    def num_bytes(self) -> int:
        """Return the memory of the packed vectors."""
        return sum(p.scanner.num_bytes() for p in self._parts)


def _slice(queries: QueryBatch, first: int, last: int) -> QueryBatch:
    ptr = queries.ptr[first : last + 1]
    return QueryBatch(queries.tokens[int(ptr[0]) : int(ptr[-1])], ptr - ptr[0])
