r"""Virtual nodes: which there are, which nodes they gather, how they are linked.

The hierarchy (thesis 3.2)::

                     document ──────────────── root of the AMR
                    /    |    \
            formula   sentence   sentence      every node of the formula's trees,
             / | \      / \        / \          every AMR node of the sentence

Its alternatives (thesis 4.3.2): ``none``, and one global node over all nodes
(``global_maxsim``, ``global_single``). Auxiliary edges (4.3.3) link formula and
sentence virtual nodes in the order of the document: a sentence, then its formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal, NamedTuple, TypeAlias, get_args

from mathamr_kedro.errors import ConfigurationError, suggest
from mathamr_kedro.graph.math_graph import FormulaPart
from mathamr_kedro.graph.representatives import Structure
from mathamr_kedro.graph.sentences import Sentences

FormulaMode: TypeAlias = Literal["both", "opt", "slt", "none"]
AuxiliaryEdges: TypeAlias = Literal["none", "sequential", "circular", "full"]


@dataclass(frozen=True)
class GraphVariant:
    """What the encoder sees of a math graph: one condition of thesis 4.3.1 to 4.3.3."""

    formula_mode: FormulaMode = "both"
    """Trees that stay: operator trees, layout trees, both, or none, so that formulas
    are left out but for the placeholders that the AMR itself names (4.3.1)."""
    structure: Structure = "hierarchy"
    """Virtual nodes and the vectors of a post (4.3.2)."""
    auxiliary_edges: AuxiliaryEdges = "none"
    """Edges between formula and sentence virtual nodes (4.3.3)."""

    def __post_init__(self) -> None:
        for name, choices in (
            ("formula_mode", get_args(FormulaMode)),
            ("structure", get_args(Structure)),
            ("auxiliary_edges", get_args(AuxiliaryEdges)),
        ):
            value = getattr(self, name)
            if value not in choices:
                raise ConfigurationError(
                    f"Expected one of {list(choices)} for {name} (got {value!r})"
                    f"{suggest(str(value), choices)}"
                )
        if self.auxiliary_edges != "none" and self.structure != "hierarchy":
            raise ConfigurationError(
                f"Expected auxiliary_edges 'none' with structure {self.structure!r} "
                f"(got {self.auxiliary_edges!r}): they link formula and sentence "
                "virtual nodes, which only the structure 'hierarchy' has"
            )


class VirtualNode(NamedTuple):
    """A virtual node and what it gathers."""

    kind: int
    members: Sequence[int]


def order_parts(
    formulas: Sequence[FormulaPart], sentences: Sentences
) -> list[tuple[str, int]]:
    """Return formulas and sentences in the order of the document.

    A sentence stands before the formulas that it names first. A formula that the AMR
    lost stands behind the formula before it.

    Returns:
        Pairs of ``"formula"`` or ``"sentence"`` and the place in its list.
    """
    first_sentence = {
        node: sentence
        for sentence in reversed(range(len(sentences.roots)))
        for node in sentences.members[sentence]
    }
    keys: list[tuple[int, int, int]] = [(s, 0, s) for s in range(len(sentences.roots))]
    sentence = -1
    for place, part in enumerate(formulas):
        sentence = first_sentence.get(part.node, sentence)
        keys.append((sentence, 1, place))
    return [
        ("formula" if is_formula else "sentence", place)
        for _, is_formula, place in sorted(keys)
    ]


def link_in_order(
    nodes: Sequence[int], auxiliary_edges: AuxiliaryEdges
) -> list[tuple[int, int]]:
    """Return the auxiliary edges between virtual nodes given in document order.

    Every edge has its inverse, so one per pair is enough. Two nodes in a chain make no
    circle.

    >>> link_in_order([7, 8, 9], "sequential")
    [(7, 8), (8, 9)]
    >>> link_in_order([7, 8, 9], "circular")
    [(7, 8), (8, 9), (9, 7)]
    >>> link_in_order([7, 8, 9], "full")
    [(7, 8), (7, 9), (8, 9)]
    """
    if auxiliary_edges == "none":
        return []
    if auxiliary_edges == "full":
        return list(combinations(nodes, 2))
    chain = list(pairwise(nodes))
    if auxiliary_edges == "circular" and len(nodes) > 2:
        chain.append((nodes[-1], nodes[0]))
    return chain
