"""Training pairs: which question belongs to which answer.

A file of pairs names graphs by post id or by position in the shards::

    pairs.json    [["1234", "1240"], ["1250", "1251"]]
    pairs.npz     pairs       (N, 2) ids or positions
                  validation  (N,) bool, optional: which pairs are held out
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
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.graph import GraphShards

Positions = NDArray[np.int64]

_VALIDATION_SHARE = 0.1
"""Share of the pairs that is held out if they do not say which (thesis 3.4.5)."""


@dataclass(frozen=True, eq=False)
class TrainingPairs:
    """Pairs as positions in the shards."""

    queries: Positions
    """(N,)"""
    documents: Positions
    """(N,)"""
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
            rows: (question, answer).
            shards: the graphs.
            validation: which pairs are held out.

        Raises:
            MalformedInputError: a row is no pair, or a position is out of range.
            MissingInputError: a post has no graph.
        """
        if isinstance(rows, np.ndarray) and rows.dtype.kind in "iu":
            table = rows.astype(np.int64)
        else:
            found = [[_find(shards, value) for value in row] for row in rows]
            is_pairs = all(len(row) == 2 for row in found)
            table = np.array(found if is_pairs else [], dtype=np.int64)
            table = table.reshape(-1, 2) if is_pairs else table
        if table.ndim != 2 or table.shape[1] != 2 or (table < 0).any():
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
        return cls(table[:, 0], table[:, 1], validation)

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
        return TrainingPairs(self.queries[chosen], self.documents[chosen])

    def split(self, seed: int) -> tuple[TrainingPairs, TrainingPairs]:
        """Take apart pairs to train with and pairs to validate with."""
        held_out = self._hold_out(seed)
        return self.take(~held_out), self.take(held_out)

    def _hold_out(self, seed: int) -> NDArray[np.bool_]:
        """(N,) which pairs validate: those that are marked, or drawn by the seed."""
        if self.validation is not None:
            return self.validation
        count = round(_VALIDATION_SHARE * len(self))
        if len(self) > 3:
            count = max(count, 2)  # one pair alone has no negative
        order = np.random.default_rng([seed, 0x5117]).permutation(len(self))
        held_out = np.zeros(len(self), dtype=bool)
        held_out[order[:count]] = True
        return held_out


def _find(shards: GraphShards, value: str | int) -> int:
    if isinstance(value, str):
        return shards.position(value) if value else -1
    return int(value)


def _plain(values: NDArray[Any]) -> Any:
    return values if values.dtype.kind in "iu" else values.astype(str).tolist()


class EpochPlan:
    """Which graphs each step of each epoch reads; a pure function of the seed."""

    def __init__(self, pairs: TrainingPairs, batch_size: int, seed: int) -> None:
        if len(pairs) < 2:
            raise MissingInputError(
                f"Expected at least 2 training pairs (got {len(pairs)}): questions "
                "with answers, see docs/data.md; none are needed to use a released "
                "encoder (training.start_from, num_epochs: 0)"
            )
        self.pairs, self.seed = pairs, seed
        self.batch_size = min(batch_size, len(pairs))

    @property
    def steps(self) -> int:
        """Steps of an epoch; pairs that fill no batch wait for the next epoch."""
        return len(self.pairs) // self.batch_size

    def epoch(self, number: int, rank: int = 0, ranks: int = 1) -> Positions:
        """(steps, graphs) positions of one process: queries, then documents."""
        rng = np.random.default_rng([self.seed, number])
        size = self.steps * self.batch_size
        order = rng.permutation(len(self.pairs))[:size]
        share = self.batch_size // ranks
        rows = order.reshape(self.steps, self.batch_size)
        mine = slice(rank * share, (rank + 1) * share)
        rows = rows[:, mine]
        return np.concatenate(
            [self.pairs.queries[rows], self.pairs.documents[rows]], axis=1
        )
