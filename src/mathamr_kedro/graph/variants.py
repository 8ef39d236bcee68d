"""A math graph as a variant of it shows it, for drawings and texts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mathamr_kedro.graph.builder import ArrayBuilder
from mathamr_kedro.graph.math_graph import MathGraph
from mathamr_kedro.graph.numbering import RawNumbering
from mathamr_kedro.graph.sentences import renumber_sentences
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import AUXILIARY_ROLE


class VariantGraph(NamedTuple):
    """What an encoder sees: content nodes, then virtual nodes."""

    graph: MathGraph
    """Whose nodes these are: without its chunks if the variant has none."""
    nodes: list[int]
    """Nodes of the math graph that stay, ascending; their place is their number."""
    virtual_nodes: list[tuple[int, list[int]]]
    """Kind and members: formulas, sentences, the document last; they follow the
    content nodes."""
    auxiliary: list[tuple[int, int]]
    representatives: set[int]

    @property
    def content(self) -> MathGraph:
        """The nodes that stay and the edges between them, without virtual nodes."""
        return self.graph.take(self.nodes)

    @classmethod
    def build(cls, graph: MathGraph, variant: GraphVariant) -> VariantGraph:
        """Return what ``variant`` shows of a fused graph."""
        numbering = RawNumbering()
        builder = ArrayBuilder(numbering, variant)
        if variant.sentence_roots == "document":
            graph = renumber_sentences(graph)
        arrays = builder.build(graph)
        kinds = arrays.node_type[arrays.num_content :] - numbering.schema.num_node_types
        members = np.split(arrays.member, np.cumsum(arrays.member_count)[:-1])
        is_auxiliary = arrays.relation == numbering.roles[AUXILIARY_ROLE]
        ends = (e[is_auxiliary].tolist() for e in (arrays.source, arrays.target))
        return cls(
            graph,
            np.flatnonzero(builder.choose_nodes(graph)).tolist(),
            [(k, m.tolist()) for k, m in zip(kinds.tolist(), members, strict=False)],
            list(zip(*ends, strict=True)),
            set(arrays.representative.tolist()),
        )
