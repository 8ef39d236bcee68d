r"""The learned tables with their provenance, and their linear models.

| file | content |
|---|---|
| ``lexicon.json.gz`` | frames with their core roles, nouns derived from verbs |
| ``memory.json.gz`` | words with the labels they had in the corpora |
| ``concepts.json.gz`` | weights of the concept model |
| ``relations.json.gz`` | weights of the relation model |
| ``tops.json.gz``, ``names.json.gz`` | weights for the top and for types of names |

``provenance`` names the script, its seed, the corpora with checksums and sizes, and the
dependency model. ``tools/amr_tables`` learns and writes them.

Models are linear over named binary features. A classifier gives
:math:`p(y \mid x) \propto \exp \sum_{f \in x} W_{f,y}`, a ranker
:math:`p(c) \propto \exp \sum_{f \in c} w_f` among the candidates of one choice.
Tables store weights as integer hundredths; small ones are dropped.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.amr.builtin.concepts import ConceptModel
from mathamr_kedro.amr.builtin.words import Lexicon
from mathamr_kedro.base.errors import MissingInputError

FloatArray = NDArray[np.float32]
SCALE = 100
"""Tables store weights in hundredths."""
TABLES = Path(__file__).parents[1] / "tables"
"""Folder of the tables of this package."""


@dataclass(frozen=True)
class Classifier:
    """Weights of features (rows) for labels (columns)."""

    labels: tuple[str, ...]
    features: Mapping[str, int]
    weights: FloatArray  # (features, labels)

    def score(self, examples: Sequence[Sequence[str]]) -> FloatArray:
        """Return log-probabilities, one row per example."""
        scores = _sum_rows(self.weights, self.features, examples)
        # exp of large scores would overflow.
        scores -= scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    @classmethod
    def unpack(cls, table: Mapping[str, Any]) -> Classifier:
        """Read labels, features, and per feature how many weights of which labels.

        Numbers are stored in strings, which take a quarter of the time of lists to
        read.
        """
        labels = tuple(table["labels"])
        index = {name: row for row, name in enumerate(table["features"], start=1)}
        weights = np.zeros((len(index) + 1, len(labels)), dtype=np.float32)
        rows = np.repeat(np.arange(1, len(index) + 1), _read_numbers(table["counts"]))
        weights[rows, _read_numbers(table["columns"])] = _read_numbers(table["weights"])
        weights /= SCALE
        return cls(labels, index, weights)


@dataclass(frozen=True)
class Ranker:
    """Weights of features."""

    features: Mapping[str, float]

    def score(self, candidates: Iterable[Iterable[str]]) -> list[float]:
        """Return the score of each candidate."""
        get = self.features.get
        return [sum([get(name, 0.0) for name in names]) for names in candidates]

    @classmethod
    def unpack(cls, table: Mapping[str, Any]) -> Ranker:
        """Read the weights."""
        return cls({name: w / SCALE for name, w in table["weights"].items()})


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


@dataclass(frozen=True)
class Models:
    """All learned models."""

    lexicon: Lexicon
    concepts: ConceptModel
    relations: Classifier
    tops: Ranker
    name_types: Classifier

    @classmethod
    @cache
    def load(cls, folder: Path = TABLES) -> Models:
        """Read all tables, once per process.

        Raises:
            MissingInputError: one is missing.
        """
        words = read_table(folder, "lexicon")
        lexicon = Lexicon(
            words["frames"],
            {noun: tuple(verbs) for noun, verbs in words["derived"].items()},
            {noun: tuple(verbs) for noun, verbs in words["actors"].items()},
        )
        memory = read_table(folder, "memory")["words"]
        weights = Ranker.unpack(read_table(folder, "concepts")).features
        return cls(
            lexicon=lexicon,
            concepts=ConceptModel.from_weights(lexicon, memory, weights),
            relations=Classifier.unpack(read_table(folder, "relations")),
            tops=Ranker.unpack(read_table(folder, "tops")),
            name_types=Classifier.unpack(read_table(folder, "names")),
        )


def read_table(folder: Path, name: str) -> dict[str, Any]:
    """Return a table with its provenance.

    Raises:
        MissingInputError: it is missing.
    """
    path = folder / f"{name}.json.gz"
    if not path.is_file():
        raise MissingInputError(
            f"Expected the table {name!r} at {str(path)!r}; "
            "make it with: python -m tools.amr_tables.fit --corpora FOLDER"
        )
    return json.loads(gzip.decompress(path.read_bytes()))
