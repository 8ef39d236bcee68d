"""A space of items to find (posts, documents or formulas), scanned exhaustively."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import Hits, rank_ids
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model.backends import can_use_triton
from mathamr_kedro.vectors.rescoring import Best, Choice, Names, name_items
from mathamr_kedro.vectors.scan_int8 import Int8Scanner
from mathamr_kedro.vectors.scan_torch import BlockScanner, TorchScanner, VectorChain

if TYPE_CHECKING:
    from mathamr_kedro.vectors.scan_triton import TritonScanner

_ROOM = {"cpu": 1 << 26, "cuda": 1 << 30}
"""Scores held at once."""
_AT_ONCE = {"cpu": 1 << 10, "cuda": 40}
"""Queries at once: a GPU scans for some while the host orders the results of others."""

ScanType: TypeAlias = Literal["float32", "int8"]
"""Numbers of the vectors that are scanned; true scores always come from the vectors as
they are stored."""
NameItems: TypeAlias = Callable[[NDArray[np.int64]], Names]
"""Numbers of items to their ids."""


def check_scan(scan: ScanType, device: str) -> None:
    """Raise :class:`ConfigurationError` for codes on a GPU."""
    if device != "cpu" and scan == "int8":
        raise ConfigurationError(
            f"Expected device 'cpu' for scan 'int8' (got {device!r}); a GPU scans "
            "the vectors as they are stored: take scan 'float32'"
        )


class _Part(NamedTuple):
    scanner: BlockScanner | TritonScanner
    first: int


class ExactSpace:
    """Items with one or more vectors each, numbered in the order they were added."""

    def __init__(self, device: str = "cpu", scan: ScanType = "float32") -> None:
        check_scan(scan, device)
        self.device = torch.device(device)
        self._scan_type = scan
        self._parts: list[_Part] = []
        self._order = torch.empty(0, dtype=torch.int64, device=self.device)

    def __len__(self) -> int:
        return len(self._order)

    def add(self, items: RaggedVectors | VectorChain) -> None:
        """Add items with one or more vectors each; not while others search.

        Those of several files are joined to be packed; a CPU reads what it scores
        again from the files.
        """
        if not len(items):
            return
        scanner = self._pack(items.join() if isinstance(items, VectorChain) else items)
        if isinstance(items, VectorChain) and self.device.type == "cpu":
            assert isinstance(scanner, BlockScanner)  # Triton is for GPUs
            scanner.posts = items
        self._order = torch.cat([self._order, scanner.order + len(self)])
        self._parts.append(_Part(scanner, len(self) - len(items)))

    def _pack(self, items: RaggedVectors) -> BlockScanner | TritonScanner:
        posts = items.to(self.device)
        if can_use_triton(self.device, posts.vectors.shape[1]):
            kernels = import_module("mathamr_kedro.vectors.scan_triton")
            packed: TritonScanner = kernels.TritonScanner(posts)
            return packed
        is_int8 = self._scan_type == "int8"
        return Int8Scanner(posts) if is_int8 else TorchScanner(posts)

    def hide(self, allowed: NDArray[np.bool_]) -> Tensor | None:
        """Return which places may not be returned, on the device; ``None``: all may."""
        if allowed.all():
            return None
        return ~torch.from_numpy(allowed).to(self.device)[self._order]

    def search(
        self,
        queries: RaggedVectors,
        depth: int,
        name: NameItems,
        hidden: Tensor | None = None,
    ) -> list[Hits]:
        """Return the best items of each query by their ids, as :meth:`find`."""
        best = self.find(queries, depth, name, hidden)
        ids = name_items(best, name)
        return [Hits(i, scores) for i, (_, scores) in zip(ids, best, strict=True)]

    def find(
        self,
        queries: RaggedVectors,
        depth: int,
        name: NameItems,
        hidden: Tensor | None = None,
    ) -> list[Best]:
        """Return the best items of each query by their numbers.

        Args:
            queries: one or more vectors each.
            depth: how many.
            name: gives ids of items, for ties.
            hidden: which may not be returned (:meth:`hide`).
        """
        found = self.find_each(queries, depth, name, [hidden])
        return [best for (best,) in found]

    def find_each(
        self,
        queries: RaggedVectors,
        depth: int,
        name: NameItems,
        hidden: Sequence[Tensor | None],
        ordered: bool = True,
    ) -> list[tuple[Best, ...]]:
        """Return for each query what :meth:`find` does for each of some masks.

        All vectors are looked at once, whatever the number of masks. If the order does
        not count, fewer items are scored again.
        """
        queries = queries.to(self.device, torch.float32)
        device = self.device.type
        room = max(1, (1 + len(hidden)) * len(self))
        at_once = min(_ROOM[device] // room, _AT_ONCE[device])
        results: list[tuple[Best, ...]] = []
        running: list[Choice] = []
        for some in queries.split(max(1, at_once)):
            following = self._start(some, depth, name, hidden, ordered)
            results += zip(*(choice.finish() for choice in running), strict=True)
            running = following
        results += zip(*(choice.finish() for choice in running), strict=True)
        return results

    def _start(
        self,
        queries: RaggedVectors[Tensor],
        depth: int,
        name: NameItems,
        masks: Sequence[Tensor | None],
        ordered: bool,
    ) -> list[Choice]:
        scores = self.scan(queries)
        slack = max((p.scanner.slack(queries) for p in self._parts), default=0.0)

        def rescore(which: Tensor, items: Tensor) -> Tensor:
            return self._score_pairs(queries, which, items)

        def rank(items: NDArray[np.int64]) -> NDArray[np.int64]:
            numbers, place = np.unique(items, return_inverse=True)
            return rank_ids(name(numbers).tolist())[place]

        choices = []
        for hidden in masks:
            left = scores
            if hidden is not None:
                is_last = len(masks) == 1  # nothing else needs them as they are
                fill = scores.masked_fill_ if is_last else scores.masked_fill
                left = fill(hidden, -torch.inf)
            choices.append(
                Choice(left, self._order, depth, slack, rescore, rank, ordered)
            )
        return choices

    def scan(self, queries: RaggedVectors[Tensor]) -> Tensor:
        """(Q, N) nearly right scores; queries and scores are on the device."""
        parts = [p.scanner.scan(queries) for p in self._parts]
        if not parts:
            parts = [queries.vectors.new_empty(len(queries), 0)]
        return parts[0] if len(parts) == 1 else torch.cat(parts, 1)

    def _score_pairs(
        self, queries: RaggedVectors[Tensor], which: Tensor, items: Tensor
    ) -> Tensor:
        """(M,) true scores of pairs in float64; ``which`` rises."""
        if len(self._parts) == 1:
            (part,) = self._parts
            return part.scanner.score_pairs(queries, which, items)
        scores = torch.empty(len(items), dtype=torch.float64, device=self.device)
        for part in self._parts:
            last = part.first + len(part.scanner.posts)
            inside = (items >= part.first) & (items < last)
            mine = inside.nonzero().flatten()
            if len(mine):
                local = items[mine] - part.first
                scores[mine] = part.scanner.score_pairs(queries, which[mine], local)
        return scores

    def num_bytes(self) -> int:
        """Return the memory of the packed vectors."""
        return sum(p.scanner.num_bytes() for p in self._parts)
