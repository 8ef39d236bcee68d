"""A space of items to find (posts, documents or formulas), scanned exhaustively."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Literal, NamedTuple, Protocol, TypeAlias

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
from mathamr_kedro.vectors.scan_torch import TorchScanner, VectorChain

_ROOM = {"cpu": 1 << 26, "cuda": 1 << 30}
"""Scores held at once."""
_AT_ONCE = {"cpu": 1 << 10, "cuda": 40}
"""Queries at once: a GPU scans for some while the host orders the results of others."""
_MASKS = 4
"""Masks kept on the device."""


ScanType: TypeAlias = Literal["float32", "int8"]
"""Numbers of the vectors that are scanned."""


@dataclass(frozen=True)
class ScanConfig:
    """What is scanned, and how many of the best get their true scores.

    True scores always come from the vectors as they are stored.
    """

    dtype: ScanType = "float32"
    rescore: int | None = None
    """How many of the best by the scan get their true scores, for each query; ``None``:
    as many as it takes to return the true ranking."""

    def __post_init__(self) -> None:
        if self.rescore is not None and self.rescore < 1:
            raise ConfigurationError(
                f"Expected rescore of at least 1, or null (got {self.rescore!r})"
            )

    @property
    def is_int8(self) -> bool:
        """Whether codes are scanned in place of vectors."""
        return self.dtype == "int8"

    def check_device(self, device: str) -> None:
        """Raise :class:`ConfigurationError` for codes on a GPU."""
        if device != "cpu" and self.is_int8:
            raise ConfigurationError(
                f"Expected device 'cpu' for scan 'int8' (got {device!r}); a GPU scans "
                "the vectors as they are stored: take scan 'float32'"
            )


_PLAIN = ScanConfig()


class _Scanner(Protocol):
    """Some items, packed for a device."""

    posts: RaggedVectors[Tensor] | VectorChain
    order: Tensor

    def scan(self, queries: RaggedVectors[Tensor]) -> Tensor:
        """(Q, N) scores in the order of :attr:`order`."""

    def slack(self, queries: RaggedVectors[Tensor]) -> float:
        """Return how far a score may be from the true one."""

    def score_pairs(
        self, queries: RaggedVectors[Tensor], which: Tensor, chosen: Tensor
    ) -> Tensor:
        """(M,) true scores of single pairs of query and item."""

    def num_bytes(self) -> int:
        """Return the memory it takes."""


class _Part(NamedTuple):
    scanner: _Scanner
    first: int


class _Mask(NamedTuple):
    allowed: NDArray[np.bool_]
    hidden: Tensor | None
    """(N,) places that may not be returned; ``None`` if all may."""


class ExactSpace:
    """Items with one or more vectors each, numbered in the order they were added."""

    def __init__(self, device: str = "cpu", config: ScanConfig = _PLAIN) -> None:
        config.check_device(device)
        self.device = torch.device(device)
        self._config = config
        self._parts: list[_Part] = []
        self._order = torch.empty(0, dtype=torch.int64, device=self.device)
        self._masks: tuple[_Mask, ...] = ()

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
            scanner.posts = items
        part = _Part(scanner, len(self))
        self._parts.append(part)
        self._order = torch.cat([self._order, part.scanner.order + part.first])
        self._masks = ()

    def _pack(self, items: RaggedVectors) -> _Scanner:
        posts = items.to(self.device)
        if can_use_triton(self.device, posts.vectors.shape[1]):
            kernels = import_module("mathamr_kedro.vectors.scan_triton")
            packed: _Scanner = kernels.TritonScanner(posts)
            return packed
        return Int8Scanner(posts) if self._config.is_int8 else TorchScanner(posts)

    def search(
        self,
        queries: RaggedVectors,
        depth: int,
        allowed: NDArray[np.bool_],
        ids_of: Callable[[NDArray[np.int64]], Names],
    ) -> list[Hits]:
        """Return the best items of each query by their ids, as :meth:`find`."""
        best = self.find(queries, depth, allowed, ids_of)
        ids = name_items(best, ids_of)
        return [Hits(i, scores) for i, (_, scores) in zip(ids, best, strict=True)]

    def find(
        self,
        queries: RaggedVectors,
        depth: int,
        allowed: NDArray[np.bool_],
        ids_of: Callable[[NDArray[np.int64]], Names],
    ) -> list[Best]:
        """Return the best items of each query by their numbers.

        Args:
            queries: one or more vectors each.
            depth: how many.
            allowed: (N,) which items may be returned; not to be changed later.
            ids_of: gives ids of items, for ties.
        """
        found = self._find(queries, depth, [allowed], ids_of, ordered=True)
        return [best for (best,) in found]

    def find_sets(
        self,
        queries: RaggedVectors,
        depth: int,
        masks: Sequence[NDArray[np.bool_]],
        ids_of: Callable[[NDArray[np.int64]], Names],
    ) -> list[list[NDArray[np.int64]]]:
        """Return which items are the best of each query, in no particular order.

        All vectors are looked at once, whatever the number of masks.

        Args:
            queries: one or more vectors each.
            depth: how many.
            masks: (N,) which items may be returned; a result for each.
            ids_of: gives ids of items, for ties at the last place.
        """
        found = self._find(queries, depth, masks, ids_of, ordered=False)
        return [[items for items, _ in each] for each in found]

    def _find(
        self,
        queries: RaggedVectors,
        depth: int,
        masks: Sequence[NDArray[np.bool_]],
        ids_of: Callable[[NDArray[np.int64]], Names],
        ordered: bool,
    ) -> list[tuple[Best, ...]]:
        queries = queries.to(self.device, torch.float32)
        hidden = [self._hide(mask) for mask in masks]
        device = self.device.type
        room = max(1, (1 + len(masks)) * len(self))
        at_once = min(_ROOM[device] // room, _AT_ONCE[device])
        results: list[tuple[Best, ...]] = []
        running: list[Choice] = []
        for some in queries.split(max(1, at_once)):
            following = self._start(some, depth, hidden, ids_of, ordered)
            results += zip(*(choice.finish() for choice in running), strict=True)
            running = following
        results += zip(*(choice.finish() for choice in running), strict=True)
        return results

    def _hide(self, allowed: NDArray[np.bool_]) -> Tensor | None:
        """Bring a mask to the device, once for searches in a row."""
        known = self._masks  # another thread may put its own there
        for mask in known:
            if mask.allowed is allowed:
                return mask.hidden
        hidden = None
        if not allowed.all():
            hidden = ~torch.from_numpy(allowed).to(self.device)[self._order]
        self._masks = (_Mask(allowed, hidden), *known[: _MASKS - 1])
        return hidden

    def _start(
        self,
        queries: RaggedVectors[Tensor],
        depth: int,
        masks: Sequence[Tensor | None],
        ids_of: Callable[[NDArray[np.int64]], Names],
        ordered: bool,
    ) -> list[Choice]:
        scores = self.scan(queries)
        slack = 0.0  # not needed if it is known how many are scored again
        if self._config.rescore is None:
            slack = max((p.scanner.slack(queries) for p in self._parts), default=0.0)

        def rescore(which: Tensor, items: Tensor) -> Tensor:
            return self._score_pairs(queries, which, items)

        def rank(items: NDArray[np.int64]) -> NDArray[np.int64]:
            numbers, place = np.unique(items, return_inverse=True)
            return rank_ids(ids_of(numbers).tolist())[place]

        choices = []
        for hidden in masks:
            left = scores
            if hidden is not None:
                is_last = len(masks) == 1  # nothing else needs them as they are
                fill = scores.masked_fill_ if is_last else scores.masked_fill
                left = fill(hidden, -torch.inf)
            choices.append(
                Choice(
                    left,
                    self._order,
                    depth,
                    slack,
                    rescore,
                    rank,
                    ordered,
                    self._config.rescore,
                )
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
