"""Training pairs: which question belongs to which answer, and mined negatives.

A file of pairs names graphs by post id or by position in the shards::

    pairs.json    [["1234", "1240"], ["1250", "1251", "1240", "1300"]]
    pairs.npz     pairs       (N, 2 + K) ids or positions; "" or -1 where there is none
                  validation  (N,) bool, optional: which pairs are held out

Columns from the third on are hard negatives: answers that look right and are not.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.graph import GraphShards

Positions = NDArray[np.int64]

NOTHING = -1
"""Stands where a pair has fewer negatives than others."""


@dataclass(frozen=True, eq=False)
class TrainingPairs:
    """Pairs as positions in the shards."""

    queries: Positions
    """(N,)"""
    documents: Positions
    """(N,)"""
    negatives: Positions
    """(N, K) hard negatives of each pair, ``NOTHING`` where there are fewer."""
    validation: NDArray[np.bool_] | None = None
    """(N,) which pairs are held out; ``None`` leaves the choice to the training."""

    @classmethod
    def of_rows(
        cls,
        rows: Sequence[Sequence[str | int]] | NDArray[Any],
        shards: GraphShards,
        validation: NDArray[np.bool_] | None = None,
    ) -> TrainingPairs:
        """Find the graphs of pairs given by post id or by position.

        Args:
            rows: (question, answer, negatives ...); ``""`` or -1 where there is none.
            shards: the graphs.
            validation: which pairs are held out.

        Raises:
            MalformedInputError: a row is too short, or a position is out of range.
            MissingInputError: a post has no graph.
        """
        if isinstance(rows, np.ndarray) and rows.dtype.kind in "iu":
            table = rows.astype(np.int64)
        else:
            width = max((len(row) for row in rows), default=2)
            table = np.full((len(rows), max(width, 2)), NOTHING, dtype=np.int64)
            for i, row in enumerate(rows):
                found = [_find(shards, value) for value in row]
                table[i, : len(found)] = found
        if table.ndim != 2 or table.shape[1] < 2 or (table[:, :2] < 0).any():
            raise MalformedInputError(
                f"Expected a question and an answer in each of {len(rows)} pairs"
            )
        if table.size and table.max() >= len(shards):
            raise MalformedInputError(
                f"Expected positions below {len(shards)} in the pairs "
                f"(got {int(table.max())!r})"
            )
        if validation is not None and len(validation) != len(table):
            raise MalformedInputError(
                f"Expected {len(table)} marks of validation (got {len(validation)})"
            )
        return cls(table[:, 0], table[:, 1], table[:, 2:], validation)

    @classmethod
    def read(cls, path: Path, shards: GraphShards) -> TrainingPairs:
        """Read pairs from a ``.json`` or ``.npz`` file."""
        path = Path(path)
        if not path.is_file():
            raise MissingInputError(f"Expected training pairs in {str(path)!r}")
        try:
            if path.suffix == ".npz":
                with np.load(path, allow_pickle=False) as found:
                    held_out = found["validation"] if "validation" in found else None
                    return cls.of_rows(_plain(found["pairs"]), shards, held_out)
            return cls.of_rows(json.loads(path.read_text(encoding="utf-8")), shards)
        except (ValueError, KeyError, TypeError) as exc:
            raise MalformedInputError(
                f"Expected pairs as .json or .npz in {str(path)!r} ({exc})"
            ) from exc

    def __len__(self) -> int:
        return len(self.queries)

    def take(self, chosen: NDArray[Any]) -> TrainingPairs:
        """Some of the pairs."""
        return TrainingPairs(
            self.queries[chosen], self.documents[chosen], self.negatives[chosen]
        )

    def split(self, share: float, seed: int) -> tuple[TrainingPairs, TrainingPairs]:
        """Take apart pairs to train with and pairs to validate with."""
        held_out = self.hold_out(share, seed)
        return self.take(~held_out), self.take(held_out)

    def hold_out(self, share: float, seed: int) -> NDArray[np.bool_]:
        """(N,) which pairs validate: those that are marked, or drawn by the seed."""
        if self.validation is not None:
            return self.validation
        count = round(share * len(self))
        if share > 0 and len(self) > 3:
            count = max(count, 2)  # one pair alone has no negative
        order = np.random.default_rng([seed, 0x5117]).permutation(len(self))
        held_out = np.zeros(len(self), dtype=bool)
        held_out[order[:count]] = True
        return held_out

    def draw_documents(self, count: int | None, seed: int) -> Positions:
        """(n,) numbers of pairs whose documents differ; ``count`` of them or all."""
        _, first = np.unique(self.documents, return_index=True)
        if count is not None and count < len(first):
            rng = np.random.default_rng([seed, 0xB00])
            first = rng.choice(first, count, replace=False)
        return np.sort(first).astype(np.int64)


def _find(shards: GraphShards, value: str | int) -> int:
    if isinstance(value, str):
        return shards.position(value) if value else NOTHING
    return int(value)


def _plain(values: NDArray[Any]) -> Any:
    return values if values.dtype.kind in "iu" else values.astype(str).tolist()


class EpochPlan:
    """Which graphs each step of each epoch reads; a pure function of the seed."""

    def __init__(
        self, pairs: TrainingPairs, batch_size: int, hard_negatives: int, seed: int
    ) -> None:
        if len(pairs) < 2:
            raise MissingInputError(
                f"Expected at least 2 training pairs (got {len(pairs)}): questions "
                "with answers, see docs/data.md; none are needed to use a released "
                "encoder (training.start_from, num_epochs: 0)"
            )
        if hard_negatives and pairs.negatives.shape[1] == 0:
            raise ConfigurationError(
                f"Expected negatives in the third column of the pairs for "
                f"hard_negatives {hard_negatives!r} (got none)"
            )
        self.pairs, self.hard_negatives, self.seed = pairs, hard_negatives, seed
        self.batch_size = min(batch_size, len(pairs))

    @property
    def steps(self) -> int:
        """Steps of an epoch; pairs that fill no batch wait for the next epoch."""
        return len(self.pairs) // self.batch_size

    def epoch(self, number: int, rank: int = 0, ranks: int = 1) -> Positions:
        """(steps, graphs) positions of one process: queries, documents, negatives."""
        rng = np.random.default_rng([self.seed, number])
        size = self.steps * self.batch_size
        order = rng.permutation(len(self.pairs))[:size]
        negatives = self._choose_negatives(order, rng)
        share = self.batch_size // ranks
        rows = order.reshape(self.steps, self.batch_size)
        mine = slice(rank * share, (rank + 1) * share)
        rows = rows[:, mine]
        hard = negatives.reshape(self.steps, self.batch_size, -1)[:, mine]
        return np.concatenate(
            [
                self.pairs.queries[rows],
                self.pairs.documents[rows],
                hard.reshape(self.steps, -1),
            ],
            axis=1,
        )

    def _choose_negatives(
        self, order: Positions, rng: np.random.Generator
    ) -> Positions:
        """(pairs, k) some of the negatives of each pair, random ones for missing."""
        k = self.hard_negatives
        listed = self.pairs.negatives[order]
        if k == 0:
            return listed[:, :0]
        preference = rng.random(listed.shape) + (listed == NOTHING)
        best = np.argsort(preference, axis=1)[:, :k]
        chosen = np.take_along_axis(listed, best, 1)
        room = np.full((len(order), k - chosen.shape[1]), NOTHING, dtype=np.int64)
        chosen = np.concatenate([chosen, room], 1)
        count = len(self.pairs)
        another = (order[:, None] + rng.integers(1, count, chosen.shape)) % count
        return np.where(chosen == NOTHING, self.pairs.documents[another], chosen)
