r"""Linear models over named binary features.

A classifier gives :math:`p(y \mid x) \propto \exp \sum_{f \in x} W_{f,y}`, a ranker
:math:`p(c) \propto \exp \sum_{f \in c} w_f` among the candidates of one choice.
Tables hold their weights as whole hundredths; small ones are dropped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]

_SCALE = 100


@dataclass(frozen=True)
class Classifier:
    """Weights of features (rows) for labels (columns)."""

    labels: tuple[str, ...]
    features: Mapping[str, int]
    weights: FloatArray  # (features, labels)

    def score(self, examples: Sequence[Sequence[str]]) -> FloatArray:
        """Return log-probabilities, one row per example."""
        scores = _sum_rows(self.weights, self.features, examples)
        scores -= scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def pack(self, smallest: float) -> dict[str, Any]:
        """Return labels, features, and per feature how many weights of which labels.

        Numbers are stored in texts, which are read in a quarter of the time of lists.
        """
        weights = self.weights[list(self.features.values())]
        rows, columns = np.nonzero(np.abs(weights) >= smallest)
        whole = np.rint(weights[rows, columns] * _SCALE)
        kept, counts = np.unique(rows, return_counts=True)
        names = list(self.features)
        return {
            "labels": list(self.labels),
            "features": [names[row] for row in kept],
            "counts": _write_numbers(counts),
            "columns": _write_numbers(columns),
            "weights": _write_numbers(whole),
        }

    @classmethod
    def unpack(cls, table: Mapping[str, Any]) -> Classifier:
        """Undo :meth:`pack`."""
        labels = tuple(table["labels"])
        index = {name: row for row, name in enumerate(table["features"], start=1)}
        weights = np.zeros((len(index) + 1, len(labels)), dtype=np.float32)
        rows = np.repeat(np.arange(1, len(index) + 1), _read_numbers(table["counts"]))
        weights[rows, _read_numbers(table["columns"])] = _read_numbers(table["weights"])
        weights /= _SCALE
        return cls(labels, index, weights)


@dataclass(frozen=True)
class Ranker:
    """Weights of features."""

    features: Mapping[str, float]

    def score(self, candidates: Iterable[Iterable[str]]) -> list[float]:
        """Return the score of each candidate."""
        get = self.features.get
        return [sum([get(name, 0.0) for name in names]) for names in candidates]

    def pack(self, smallest: float) -> dict[str, Any]:
        """Return the weights of at least ``smallest``."""
        return {
            "weights": {
                name: round(weight * _SCALE)
                for name, weight in self.features.items()
                if abs(weight) >= smallest
            }
        }

    @classmethod
    def unpack(cls, table: Mapping[str, Any]) -> Ranker:
        """Undo :meth:`pack`."""
        return cls({name: w / _SCALE for name, w in table["weights"].items()})


def _write_numbers(numbers: NDArray[Any]) -> str:
    return " ".join(map(str, numbers.astype(int).tolist()))


def _read_numbers(text: str) -> NDArray[np.intp]:
    return np.fromstring(text, np.intp, sep=" ")


def _sum_rows(
    weights: FloatArray, index: Mapping[str, int], examples: Sequence[Sequence[str]]
) -> FloatArray:
    rows: list[int] = []
    starts: list[int] = []
    get = index.get
    for names in examples:
        starts.append(len(rows))
        # Row 0 belongs to no feature and holds zeros: it keeps empty examples in place.
        rows.append(0)
        rows.extend([row for name in names if (row := get(name)) is not None])
    if not starts:
        return np.zeros((0, weights.shape[1]), dtype=np.float32)
    return np.add.reduceat(weights[rows], starts, axis=0)
