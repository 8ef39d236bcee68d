"""Numbers for labels and roles while graphs become arrays.

Two ways. A vocabulary numbers them for good, e.g. those of a query. The stage numbers
each shard by itself, in the order in which labels turn up, and renumbers once it has
counted all shards::

    shard 0   V!x -> 0   set -> 1   +  -> 2         with the vocabulary
    shard 1   +   -> 0   V!x -> 1                   V!x -> 6   + -> 7   set -> 8

so graphs are read once, and another vocabulary of the same graphs costs little.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from mathamr_kedro.graph.normalise import normalise_concept, normalise_symbol
from mathamr_kedro.graph.tensors import GraphSchema
from mathamr_kedro.graph.vocabulary import (
    NodeVocabulary,
    RelationVocabulary,
    make_schema,
)

CONCEPT, SYMBOL = "concept", "symbol"
"""AMR concepts are stemmed; constants and symbols of formulas are not."""

RAW_SCHEMA = GraphSchema(
    num_node_types=1 << 24,
    num_forward=1 << 16,
    mask_type=0,
    virtual_relations=((1 << 16) - 3, (1 << 16) - 2, (1 << 16) - 1),
)
"""What the numbers of one shard mean: more room than any shard needs."""


class Remembered(dict[str, int]):
    """A function of strings that is called once for each."""

    def __init__(self, find: Callable[[str], int]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, key: str) -> int:
        value = self[key] = self._find(key)
        return value


class Numbering:
    """Numbers of concepts, symbols and roles, by atom and by role."""

    concepts: Remembered
    symbols: Remembered
    roles: Remembered
    schema: GraphSchema


class VocabularyNumbering(Numbering):
    """The numbers of a vocabulary."""

    def __init__(self, types: NodeVocabulary, relations: RelationVocabulary) -> None:
        self.concepts = Remembered(lambda atom: types.find(normalise_concept(atom)))
        self.symbols = Remembered(lambda atom: types.find(normalise_symbol(atom)))
        self.roles = Remembered(relations.find)
        self.schema = make_schema(types, relations)


class RawNumbering(Numbering):
    """Numbers in the order of first use; concepts and symbols share one row."""

    def __init__(self) -> None:
        self.labels: list[tuple[str, str]] = []
        """Kind and atom of each number."""
        self.concepts = Remembered(lambda atom: self._add(CONCEPT, atom))
        self.symbols = Remembered(lambda atom: self._add(SYMBOL, atom))
        self.roles = Remembered(lambda role: len(self.roles))
        self.schema = RAW_SCHEMA

    def _add(self, kind: str, atom: str) -> int:
        self.labels.append((kind, atom))
        return len(self.labels) - 1

    def save(self, path: Path) -> None:
        """Write labels and roles in the order of their numbers."""
        content = {"labels": self.labels, "roles": list(self.roles)}
        path.write_text(json.dumps(content))


def read_numbering(path: Path) -> tuple[list[tuple[str, str]], list[str]]:
    """Read what :meth:`RawNumbering.save` wrote: labels and roles."""
    content = json.loads(path.read_text())
    return [(kind, atom) for kind, atom in content["labels"]], content["roles"]


def normalise_label(kind: str, atom: str) -> str:
    """Return the node type of an atom of either kind."""
    return normalise_concept(atom) if kind == CONCEPT else normalise_symbol(atom)
