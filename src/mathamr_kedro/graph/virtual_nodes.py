r"""Virtual nodes: which there are, which nodes they gather, how they are linked.

The hierarchy (thesis 3.2)::

                     document ──────────────── root of the AMR
                    /    |    \
            formula   sentence   sentence      every node of the formula's trees,
             / | \      / \        / \          every AMR node of the sentence

Which nodes become the vectors of a post, here and in its alternatives (thesis 4.3.2)::

    hierarchy      formula, sentence and document virtual nodes: all of them
    none           no virtual nodes: FORMULA_n nodes and sentence roots
    global_maxsim  one virtual node over every node: FORMULA_n, sentence roots, and it
    global_single  the same graph: only the virtual node

Auxiliary edges (4.3.3) link formula and sentence virtual nodes in the order of the
document: a sentence, then its formulas.

The sentences of a long post hang below its chunks as in thesis 3.1, or all below the
root (:mod:`~mathamr_kedro.graph.sentences`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, Literal, TypeAlias, get_args

from mathamr_kedro.base.errors import ConfigurationError, suggest
from mathamr_kedro.base.parameters import read_parameters

FormulaMode: TypeAlias = Literal["both", "opt", "slt", "none"]
Structure: TypeAlias = Literal["hierarchy", "none", "global_maxsim", "global_single"]
AuxiliaryEdges: TypeAlias = Literal["none", "sequential", "circular", "full"]
SentenceRoots: TypeAlias = Literal["chunks", "document"]


@dataclass(frozen=True)
class GraphVariant:
    """What the encoder sees of a math graph: one condition of thesis 4.3.1 to 4.3.3."""

    formula_mode: FormulaMode = "both"
    """Trees that stay: operator trees, layout trees, both, or none, so that of formulas
    only the placeholders that the AMR itself names remain (4.3.1)."""
    structure: Structure = "hierarchy"
    """Virtual nodes and the vectors of a post (4.3.2)."""
    auxiliary_edges: AuxiliaryEdges = "none"
    """Edges between formula and sentence virtual nodes (4.3.3)."""
    sentence_roots: SentenceRoots = "chunks"
    """What ``:snt1, :snt2, ...`` count: the sentences of a chunk, and the chunks below
    the root (3.1); or all sentences of the document."""

    def __post_init__(self) -> None:
        for name, choices in (
            ("formula_mode", get_args(FormulaMode)),
            ("structure", get_args(Structure)),
            ("auxiliary_edges", get_args(AuxiliaryEdges)),
            ("sentence_roots", get_args(SentenceRoots)),
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

    @property
    def has_formulas(self) -> bool:
        """Whether formulas have vectors, so that they can be searched for."""
        return self.formula_mode != "none" and self.structure != "global_single"

    @classmethod
    def of_record(cls, values: Mapping[str, Any]) -> GraphVariant:
        """Return the variant that was recorded with graphs or an encoder.

        If nothing is recorded about sentences, there was no choice yet.

        >>> GraphVariant.of_record({"formula_mode": "opt"}).sentence_roots
        'document'
        """
        return read_parameters(cls, {"sentence_roots": "document", **values}, "graph")

    def link(self, nodes: Sequence[int]) -> list[tuple[int, int]]:
        """Return the auxiliary edges between virtual nodes given in document order.

        Every edge has its inverse, so one per pair is enough. Two nodes in a chain make
        no circle.

        >>> for edges in ("sequential", "circular", "full"):
        ...     print(GraphVariant(auxiliary_edges=edges).link([7, 8, 9]))
        [(7, 8), (8, 9)]
        [(7, 8), (8, 9), (9, 7)]
        [(7, 8), (7, 9), (8, 9)]
        """
        if self.auxiliary_edges == "none":
            return []
        if self.auxiliary_edges == "full":
            return list(combinations(nodes, 2))
        chain = list(pairwise(nodes))
        if self.auxiliary_edges == "circular" and len(nodes) > 2:
            chain.append((nodes[-1], nodes[0]))
        return chain
