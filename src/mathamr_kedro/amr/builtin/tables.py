"""The learned tables: JSON, compressed, each with where it comes from.

| file | content |
|---|---|
| ``lexicon.json.gz`` | frames with their core roles, nouns derived from verbs |
| ``memory.json.gz`` | words with the labels they had in the corpora |
| ``concepts.json.gz`` | weights of the concept model |
| ``relations.json.gz`` | weights of the relation model |
| ``tops.json.gz``, ``names.json.gz`` | weights for the top and for types of names |

``provenance`` names the script, its seed, the corpora with checksums and sizes, and the
dependency model. ``tools/amr_tables`` learns and writes them.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from mathamr_kedro.amr.builtin.concepts import ConceptModel
from mathamr_kedro.amr.builtin.linear import Classifier, Ranker
from mathamr_kedro.amr.builtin.words import Lexicon
from mathamr_kedro.base.errors import MissingInputError

TABLES = Path(__file__).parents[1] / "tables"
"""Folder of the tables of this package."""


@dataclass(frozen=True)
class Models:
    """Everything that was learned."""

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
