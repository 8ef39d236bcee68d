"""Training pairs of questions and answers, and batches of them."""

from __future__ import annotations

from dataclasses import dataclass
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
"""Share of held-out pairs if the pairs do not determine them (thesis 3.4.5)."""


@dataclass(frozen=True, eq=False)
class TrainingPairs:
    """Pairs as positions in the shards."""

    queries: Positions
    """(N,)"""
    documents: Positions
    """(N,)"""
    validation: NDArray[np.bool_] | None = None
    """(N,) which pairs are held out; ``None``: they are drawn."""

    @classmethod
    def of_rows(
        cls,
        rows: NDArray[Any],
        shards: GraphShards,
        validation: NDArray[np.bool_] | None = None,
    ) -> TrainingPairs:
        """Check pairs given by positions in the shards.

        Raises:
            MalformedInputError: these are not pairs, or a position is out of range.
        """
        table = np.asarray(rows, dtype=np.int64)
        if table.ndim != 2 or table.shape[1] != 2:
            raise MalformedInputError(
                f"Expected a question and an answer in each of {len(rows)} pairs"
            )
        wrong = table[(table < 0) | (table >= len(shards))]
        if len(wrong):
            raise MalformedInputError(
                f"Expected positions below {len(shards)} in the pairs "
                f"(got {int(wrong[0])!r})"
            )
        if validation is not None and len(validation) != len(table):
            raise MalformedInputError(
                f"Expected {len(table)} marks of validation (got {len(validation)})"
            )
        return cls(table[:, 0], table[:, 1], validation)

    def __len__(self) -> int:
        return len(self.queries)

    def take(self, chosen: NDArray[Any]) -> TrainingPairs:
        """Return some of the pairs."""
        return TrainingPairs(self.queries[chosen], self.documents[chosen])

    def split(self, seed: int) -> tuple[TrainingPairs, TrainingPairs]:
        """Split the pairs into training and validation pairs."""
        held_out = self._hold_out(seed)
        return self.take(~held_out), self.take(held_out)

    def _hold_out(self, seed: int) -> NDArray[np.bool_]:
        """(N,) which pairs are held out: those marked, or drawn by the seed."""
        if self.validation is not None:
            return self.validation
        count = round(_VALIDATION_SHARE * len(self))
        if len(self) > 3:
            count = max(count, 2)  # a single pair has no negative
        order = np.random.default_rng([seed, 0x5117]).permutation(len(self))
        held_out = np.zeros(len(self), dtype=bool)
        held_out[order[:count]] = True
        return held_out


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
        """Steps of an epoch; pairs of an incomplete batch are left out."""
        return len(self.pairs) // self.batch_size

    def epoch(self, number: int) -> Positions:
        """(steps, graphs) positions: queries, then documents."""
        rng = np.random.default_rng([self.seed, number])
        size = self.steps * self.batch_size
        order = rng.permutation(len(self.pairs))[:size]
        rows = order.reshape(self.steps, self.batch_size)
        return np.concatenate(
            [self.pairs.queries[rows], self.pairs.documents[rows]], axis=1
        )
