"""Vocabularies: numbers for node types and for relations.

```
node types   0 [UNK]  1 [MASK]  2 [URL]  3 [UNKNUM_INT]  4 [UNKNUM_DEC]  5 [UNKNUM_RAT]
             6 the most frequent type, 7 the next, ...                     20,000 in all
relations    0 unknown  1 the most frequent role, ...
             then virtual_formula  virtual_sentence  virtual_document  auxiliary_vn
```

Both are counted on the training graphs. The inverse of a relation has no entry of its
own: it is the relation plus their number (see :mod:`~mathamr_kedro.graph.arrays`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.base.vocabulary import Vocabulary, choose_frequent
from mathamr_kedro.graph.arrays import GraphSchema

TYPES, RELATIONS = "types.json", "relations.json"

UNK, MASK, URL = "[UNK]", "[MASK]", "[URL]"
RARE_NUMBERS = {
    "integer": "[UNKNUM_INT]",
    "decimal": "[UNKNUM_DEC]",
    "rational": "[UNKNUM_RAT]",
}
SPECIAL_TYPES = (UNK, MASK, URL, *RARE_NUMBERS.values())

UNKNOWN_ROLE = "unknown"
VIRTUAL_ROLES = ("virtual_formula", "virtual_sentence", "virtual_document")
AUXILIARY_ROLE = "auxiliary_vn"

_SIGN, _INT = "[+-]?", r"(?:[0-9]{1,3}(?:[ ,][0-9]{3})+|[0-9]+)"
_NUMBERS = {
    "integer": re.compile(_SIGN + _INT),
    "decimal": re.compile(
        _SIGN + rf"(?:{_INT}?\.[0-9]+|{_INT}\.?)(?:[eE][+-]?[0-9]+)?"
    ),
    "rational": re.compile(rf"{_SIGN}{_INT} ?[/⁄] ?{_INT}"),
}
_NUMBERED = re.compile(r"(.*?)(\d+)")


def classify_number(label: str) -> str | None:
    """Return ``integer``, ``decimal`` or ``rational``, or ``None`` for no number.

    Numbers of formulas (``N!2``) count like those of the text.

    >>> [classify_number(label) for label in ("-12", "N!3.14", "1e-9", "N!1/2", "x2")]
    ['integer', 'decimal', 'decimal', 'rational', None]
    """
    value = label[2:] if label.startswith("N!") else label
    if not value or not (value[-1].isdigit() or value[-1] == "."):
        return None
    for kind, pattern in _NUMBERS.items():
        if pattern.fullmatch(value):
            return kind
    return None


@dataclass(frozen=True)
class VocabularyConfig:
    """Which labels get an embedding of their own (thesis 3.3.1 and Table 4.2)."""

    size: int = 20_000
    """Most node types, special ones among them."""
    rare_numbers_below: int = 5
    """Numbers that occur less often share a token of their kind (tau)."""
    rare_roles_below: int = 0
    """Numbered roles (``snt57``) that occur less often count as a smaller one."""
    source: str | None = None
    """A released encoder, by name or folder, whose vocabularies are taken instead."""

    def __post_init__(self) -> None:
        check_range(self, "size", least=len(SPECIAL_TYPES))


@dataclass(frozen=True)
class VocabularyReport:
    """How much of the training graphs a vocabulary covers."""

    graphs: int
    nodes: int
    raw_types: int
    """Distinct labels before anything was normalised."""
    normalised_types: int
    rare_numbers: int
    """Distinct numbers that share a token now."""
    types: int
    """Types with an embedding, special ones among them."""
    coverage: float
    """Share of nodes whose type is not ``[UNK]``."""
    raw_relations: int
    relations: int
    """With ``unknown``, virtual and auxiliary relations, and all their inverses."""
    coverage_by_size: tuple[tuple[int, float], ...] = ()
    """Pairs of n and the share of nodes that the n most frequent types cover."""


class NodeVocabulary(Vocabulary):
    """Numbers of node types; an unknown number counts by its kind.

    >>> vocabulary = NodeVocabulary.build({"set": 9}, size=7, rare_below=5)
    >>> [vocabulary.names[vocabulary.find(n)] for n in ("set", "map", "N!0.5")]
    ['set', '[UNK]', '[UNKNUM_DEC]']
    """

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(names, _find_special)
        if self.names[: len(SPECIAL_TYPES)] != SPECIAL_TYPES:
            raise ConfigurationError(
                f"Expected node types to begin with {list(SPECIAL_TYPES)} "
                f"(got {list(self.names[:6])!r})"
            )

    @classmethod
    def build(
        cls, counts: Mapping[str, int], size: int, rare_below: int
    ) -> NodeVocabulary:
        """Keep the most frequent types.

        Args:
            counts: how often each normalised type occurs in the training graphs.
            size: most types, special ones among them.
            rare_below: a number that occurs less often gets no type of its own
                (tau of thesis 3.3.1).

        >>> counts = {"set": 9, "N!2": 7, "N!1729": 2, "map": 1}
        >>> NodeVocabulary.build(counts, size=8, rare_below=5).names[6:]
        ('set', 'N!2')
        """
        chosen = [
            name
            for name in choose_frequent(counts)
            if name not in SPECIAL_TYPES
            and (counts[name] >= rare_below or classify_number(name) is None)
        ]
        return cls([*SPECIAL_TYPES, *chosen[: size - len(SPECIAL_TYPES)]])


def _find_special(name: str) -> str:
    """Return the special type of a type without a number."""
    kind = classify_number(name)
    return UNK if kind is None else RARE_NUMBERS[kind]


class RelationVocabulary(Vocabulary):
    """Numbers of forward relations.

    A numbered role that training never saw (``snt57``) counts as the largest smaller
    one that it saw.

    >>> relations = RelationVocabulary.build({"snt1": 9, "snt2": 5, "mod": 7})
    >>> [relations.names[relations.find(r)] for r in ("mod", "snt57", "foo")]
    ['mod', 'snt2', 'unknown']
    """

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(names, self._find_nearest)
        self._numbered: dict[str, list[int]] = {}
        for role in self.names:
            match = _NUMBERED.fullmatch(role)
            if match:
                self._numbered.setdefault(match[1], []).append(int(match[2]))
        for numbers in self._numbered.values():
            numbers.sort()

    @classmethod
    def build(
        cls, counts: Mapping[str, int], rare_below: int = 0
    ) -> RelationVocabulary:
        """Take the roles of the training graphs, the most frequent first.

        Long posts have thousands of sentences, each with a role of its own. So many
        rare relations would weaken all: matrices start the smaller, the more there are.

        >>> RelationVocabulary.build({"ARG0": 3, "mod": 5}).names[:3]
        ('unknown', 'mod', 'ARG0')
        >>> RelationVocabulary.build({"snt1": 9, "snt57": 1, "mod": 1}, 2).names[:3]
        ('unknown', 'snt1', 'mod')

        Args:
            counts: how often each role occurs.
            rare_below: numbered roles that occur less often are dropped.
        """
        own = {UNKNOWN_ROLE, *VIRTUAL_ROLES, AUXILIARY_ROLE}
        chosen = [
            role
            for role in choose_frequent(counts)
            if role not in own
            and (counts[role] >= rare_below or not _NUMBERED.fullmatch(role))
        ]
        return cls([UNKNOWN_ROLE, *chosen, *VIRTUAL_ROLES, AUXILIARY_ROLE])

    def _find_nearest(self, role: str) -> str:
        match = _NUMBERED.fullmatch(role)
        if match is None or match[1] not in self._numbered:
            return UNKNOWN_ROLE
        known = self._numbered[match[1]]
        place = bisect_left(known, int(match[2]))
        return f"{match[1]}{known[max(place - 1, 0)]}"

    @property
    def directed_roles(self) -> tuple[str, ...]:
        """All relations by number: the forward ones, then their inverses with a star.

        >>> RelationVocabulary.build({"ARG0": 1}).directed_roles[6:8]
        ('unknown*', 'ARG0*')
        """
        return (*self.names, *(f"{role}*" for role in self.names))


class Vocabularies(NamedTuple):
    """What the numbers of node types and relations mean."""

    types: NodeVocabulary
    relations: RelationVocabulary

    @property
    def schema(self) -> GraphSchema:
        """What arrays with these numbers need to say of them."""
        types, relations = self
        formula, sentence, document = (relations.find(role) for role in VIRTUAL_ROLES)
        return GraphSchema(
            num_node_types=len(types),
            num_forward=len(relations),
            mask_type=types.find(MASK),
            virtual_relations=(formula, sentence, document),
        )

    @property
    def names(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Of all types and relations; equal ones number graphs alike."""
        return self.types.names, self.relations.names

    def save(self, folder: Path) -> None:
        """Write both to a folder."""
        self.types.save(folder / TYPES)
        self.relations.save(folder / RELATIONS)

    @classmethod
    def load(cls, folder: Path) -> Vocabularies:
        """Read what :meth:`save` wrote."""
        return cls(
            NodeVocabulary.load(folder / TYPES),
            RelationVocabulary.load(folder / RELATIONS),
        )
