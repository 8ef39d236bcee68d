"""A setting chosen by several topic sets together, and what such a choice is worth.

The best of many settings on some topics looks better there than it is elsewhere.
Leaving one set out says by how much::

    set        a     b     c      the best on the others   what it scores here
    weight_1   .60   .50   .40
    weight_2   .58   .56   .42    a: weight_2, b: weight_2, c: weight_2
    weight_3   .70   .40   .38

    tuned            mean of weight_2 on all sets: chosen and scored on the same topics
    cross-validated  mean of the last column: chosen without the topics it is scored on
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mathamr_kedro.base.errors import InputError
from mathamr_kedro.evaluation.stats import Column, Figure, FloatArray, Row, Table


@dataclass(frozen=True)
class Choice:
    """Which of several settings wins on the mean of the sets."""

    means: Mapping[str, Mapping[str, float]]
    """By setting and set."""
    winner: str
    tuned: float
    """Its mean over all sets, on which it was chosen."""
    left_out: Mapping[str, str]
    """By set: the setting that wins on the others."""
    cross_validated: float
    """Mean over the sets of what the setting of ``left_out`` scores there."""

    @classmethod
    def among(cls, scores: Mapping[str, Mapping[str, FloatArray]]) -> Choice:
        """Choose among settings that every set has; each set weighs the same.

        Args:
            scores: by set and setting, one per topic.

        >>> half, one = np.array([0.5]), np.array([1.0])
        >>> found = Choice.among({"a": {"x": one, "y": half},
        ...                       "b": {"x": one, "y": half}})
        >>> found.winner, found.tuned, found.cross_validated
        ('x', 1.0, 1.0)

        Raises:
            InputError: fewer than two sets, or than two settings on all of them.
        """
        names = [
            name
            for name in next(iter(scores.values()), {})
            if all(name in by_name for by_name in scores.values())
        ]
        if len(scores) < 2 or len(names) < 2:
            raise InputError(
                "Expected two or more sets, and two or more settings that all of them "
                f"have (got the sets {', '.join(scores) or 'none'}; the settings "
                f"{', '.join(names) or 'none'})"
            )
        means = {
            name: {place: float(np.mean(by[name])) for place, by in scores.items()}
            for name in names
        }
        left_out = {
            place: _find_best(means, [s for s in scores if s != place])
            for place in scores
        }
        held = [means[left_out[place]][place] for place in scores]
        winner = _find_best(means, list(scores))
        tuned = float(np.mean(list(means[winner].values())))
        return cls(means, winner, tuned, left_out, float(np.mean(held)))

    def to_table(self) -> Table:
        """Return settings by set, and the choice that leaves each set out."""
        sets = list(self.left_out)
        columns = (*(Column(s, s) for s in sets), Column("mean", "Mean"))
        order = sorted(self.means, key=lambda name: -_average(self.means[name], sets))
        rows = [
            Row(
                (name,),
                (
                    *(Figure(self.means[name][s]) for s in sets),
                    Figure(_average(self.means[name], sets)),
                ),
                is_baseline=name == self.winner,
            )
            for name in order
        ]
        held = {s: self.means[self.left_out[s]][s] for s in sets}
        figures = (*(Figure(held[s]) for s in sets), Figure(self.cross_validated))
        rows.append(Row(("*chosen on the other sets*",), figures))
        chosen = "; ".join(f"{s}: {self.left_out[s]}" for s in sets)
        notes = (
            f"† Wins on the mean of the sets, {self.tuned:.4f}; chosen without the set "
            f"it is scored on, {self.cross_validated:.4f}.",
            f"The best on all sets but one: {chosen}.",
        )
        title = f"{len(self.means)} settings on {len(sets)} sets"
        return Table(title, ("Setting",), columns, tuple(rows), notes)


def _average(means: Mapping[str, float], sets: list[str]) -> float:
    return float(np.mean([means[s] for s in sets]))


def _find_best(means: Mapping[str, Mapping[str, float]], sets: list[str]) -> str:
    """Return the setting with the highest mean; of equal ones the first."""
    return max(means, key=lambda name: _average(means[name], sets))
