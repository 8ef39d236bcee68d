"""The learned tables: JSON, compressed, each with where it comes from.

| file | content |
|---|---|
| ``lexicon.json.gz`` | frames with their core roles, nouns made of verbs |
| ``memory.json.gz`` | words with the labels they had in the corpora |
| ``concepts.json.gz`` | weights of the concept model |
| ``relations.json.gz`` | weights of the relation model |
| ``tops.json.gz``, ``names.json.gz`` | weights for the top and for types of names |

Weights are stored as whole hundredths. ``provenance`` names the script, its seed, the
corpora with digests and sizes, and the dependency model.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from mathamr_kedro.amr.builtin.assembly import Models
from mathamr_kedro.amr.builtin.concepts import make_concept_model
from mathamr_kedro.amr.builtin.lexicon import Lexicon
from mathamr_kedro.amr.builtin.linear import Classifier, Ranker
from mathamr_kedro.errors import MissingInputError

FOLDER = Path(__file__).parents[1] / "tables"
_SCALE = 100


def write_table(
    folder: Path, name: str, content: Mapping[str, Any], provenance: Mapping[str, Any]
) -> None:
    """Write one table; the same content always gives the same bytes."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(
        {"provenance": provenance, **content},
        ensure_ascii=False,
        sort_keys=True,
        separators=(",", ":"),
    )
    data = gzip.compress(text.encode("utf-8"), compresslevel=9, mtime=0)
    (folder / f"{name}.json.gz").write_bytes(data)


def read_table(folder: Path, name: str) -> dict[str, Any]:
    """Read one table.

    Raises:
        MissingInputError: it is not there.
    """
    path = folder / f"{name}.json.gz"
    if not path.is_file():
        raise MissingInputError(
            f"Expected the table {name!r} at {str(path)!r}; "
            "make it with: python -m mathamr_kedro.amr.builtin.fit"
        )
    return json.loads(gzip.decompress(path.read_bytes()))


def pack_ranker(ranker: Ranker, smallest: float) -> dict[str, Any]:
    """Return the weights of at least ``smallest``."""
    return {
        "weights": {
            name: round(weight * _SCALE)
            for name, weight in ranker.features.items()
            if abs(weight) >= smallest
        }
    }


def unpack_ranker(table: Mapping[str, Any]) -> Ranker:
    """Undo :func:`pack_ranker`."""
    return Ranker({name: w / _SCALE for name, w in table["weights"].items()})


def pack_classifier(classifier: Classifier, smallest: float) -> dict[str, Any]:
    """Return labels, and per feature ``[label, weight, label, weight, ...]``."""
    features: dict[str, list[int]] = {}
    for name, row in classifier.features.items():
        weights = classifier.weights[row]
        kept = np.flatnonzero(np.abs(weights) >= smallest)
        if len(kept):
            whole = np.rint(weights[kept] * _SCALE).astype(int)
            features[name] = np.stack([kept, whole], axis=1).ravel().tolist()
    return {"labels": list(classifier.labels), "features": features}


def unpack_classifier(table: Mapping[str, Any]) -> Classifier:
    """Undo :func:`pack_classifier`."""
    labels = tuple(table["labels"])
    weights = np.zeros((len(table["features"]) + 1, len(labels)), dtype=np.float32)
    index: dict[str, int] = {}
    for row, (name, packed) in enumerate(table["features"].items(), start=1):
        index[name] = row
        weights[row, packed[::2]] = packed[1::2]
    weights /= _SCALE
    return Classifier(labels, index, weights)


@cache
def load_models(folder: Path = FOLDER) -> Models:
    """Read all tables once per process."""
    lexicon = read_table(folder, "lexicon")
    return Models(
        lexicon=Lexicon(
            lexicon["frames"],
            {noun: tuple(verbs) for noun, verbs in lexicon["derived"].items()},
            {noun: tuple(verbs) for noun, verbs in lexicon["actors"].items()},
        ),
        memory=read_table(folder, "memory")["words"],
        concepts=make_concept_model(
            unpack_ranker(read_table(folder, "concepts")).features
        ),
        relations=unpack_classifier(read_table(folder, "relations")),
        tops=unpack_ranker(read_table(folder, "tops")),
        name_types=unpack_classifier(read_table(folder, "names")),
    )
