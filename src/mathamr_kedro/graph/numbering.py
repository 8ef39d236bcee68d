"""Numbers for labels and roles while graphs become arrays.

Two ways. A vocabulary numbers them for good, e.g. those of a query. The stage numbers
each shard by itself, in the order in which labels turn up, and renumbers once it has
counted all shards::

    shard 0   V!x -> 0   set -> 1   +  -> 2         with the vocabulary
    shard 1   +   -> 0   V!x -> 1                   V!x -> 6   + -> 7   set -> 8

so graphs are read once, and another vocabulary of the same graphs costs little.

Before a vocabulary sees a label, it is normalised to a node type, what the embedding
table tells apart (thesis 3.3.1)::

    label            node type
    functions        function          a plain AMR concept: Porter stem
    solve-01         solve-01          a PropBank frame is normal already
    V!𝑥              V!x               NFKC: 𝑥 is x, ℝ is R, ﬁ is fi
    http://a.b/c     [URL]
    N!1729           [UNKNUM_INT]      if it is rare; the vocabulary decides
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from mathamr_kedro.base.stemming import stem
from mathamr_kedro.graph.arrays import GraphSchema
from mathamr_kedro.graph.math_graph import is_inverted, read_placeholder
from mathamr_kedro.graph.penman_graph import read_label
from mathamr_kedro.graph.vocabulary import (
    URL,
    NodeVocabulary,
    RelationVocabulary,
    classify_number,
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

_FRAME = re.compile(r".+-\d{2,3}")


class _Remembered(dict[str, int]):
    """A function of strings that is called once for each."""

    def __init__(self, find: Callable[[str], int]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, key: str) -> int:
        value = self[key] = self._find(key)
        return value


class Numbering:
    """Numbers of concepts, symbols and roles, by atom and by role."""

    schema: GraphSchema
    concepts: _Remembered
    symbols: _Remembered
    roles: _Remembered
    written_roles: _Remembered
    """As ``roles``, but ``~number`` for a role that is written inverted."""

    def __init__(
        self,
        schema: GraphSchema,
        find_concept: Callable[[str], int],
        find_symbol: Callable[[str], int],
        find_role: Callable[[str], int],
    ) -> None:
        self.schema = schema
        self.concepts = _Remembered(find_concept)
        self.symbols = _Remembered(find_symbol)
        self.roles = _Remembered(find_role)
        self.written_roles = _Remembered(self._find_written_role)

    def _find_written_role(self, role: str) -> int:
        return ~self.roles[role[:-3]] if is_inverted(role) else self.roles[role]


class VocabularyNumbering(Numbering):
    """The numbers of a vocabulary."""

    def __init__(self, types: NodeVocabulary, relations: RelationVocabulary) -> None:
        super().__init__(
            make_schema(types, relations),
            lambda atom: types.find(normalise_concept(atom)),
            lambda atom: types.find(normalise_symbol(atom)),
            relations.find,
        )


class RawNumbering(Numbering):
    """Numbers in the order of first use; concepts and symbols share one row."""

    def __init__(self) -> None:
        self.labels: list[tuple[str, str]] = []
        """Kind and atom of each number."""
        super().__init__(
            RAW_SCHEMA,
            lambda atom: self._add(CONCEPT, atom),
            lambda atom: self._add(SYMBOL, atom),
            lambda role: len(self.roles),
        )

    def _add(self, kind: str, atom: str) -> int:
        self.labels.append((kind, atom))
        return len(self.labels) - 1


def normalise_atom(kind: str, atom: str) -> str:
    """Return the node type of an atom of either kind."""
    return normalise_concept(atom) if kind == CONCEPT else normalise_symbol(atom)


def normalise_symbol(atom: str) -> str:
    """Return the node type of a symbol of a formula, or of a constant of the AMR.

    >>> [normalise_symbol(atom) for atom in ("V!𝑥", "N!２", '"www.example.org"', "-")]
    ['V!x', 'N!2', '[URL]', '-']
    """
    label = unicodedata.normalize("NFKC", read_label(atom))
    return URL if "http" in label or "www." in label else label


def normalise_concept(atom: str) -> str:
    """Return the node type of a concept of the AMR.

    >>> [normalise_concept(a) for a in ("functions", "solve-01", "FORMULA_3", "1.5")]
    ['function', 'solve-01', 'FORMULA_3', '1.5']
    """
    label = normalise_symbol(atom)
    is_normal = (
        label == URL
        or _FRAME.fullmatch(label)
        or read_placeholder(label) is not None
        or classify_number(label) is not None
    )
    return label if is_normal else stem(label)
