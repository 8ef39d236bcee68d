"""A math graph as a variant of it shows it: nodes dropped, virtual nodes added.

This is the plain way, node by node and easy to read;
:mod:`~mathamr_kedro.graph.builder` must give the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

from benchmarks.random_graphs import Representative, choose_representatives
from mathamr_kedro.graph.arrays import DOCUMENT, FORMULA, SENTENCE
from mathamr_kedro.graph.math_graph import FormulaPart, MathGraph, Triple
from mathamr_kedro.graph.sentences import Sentences, renumber_sentences
from mathamr_kedro.graph.virtual_nodes import GraphVariant

_VirtualNode: TypeAlias = tuple[int, Sequence[int]]
"""Its kind, and the nodes that it gathers."""


class VariantGraph(NamedTuple):
    """A graph ready for numbers: content nodes, then virtual nodes."""

    graph: MathGraph
    """Whose nodes these are: without its chunks if the variant has none."""
    nodes: list[int]
    """Nodes of the math graph that stay, ascending; their place is their number."""
    edges: list[Triple]
    """Forward edges between them."""
    virtual_nodes: list[_VirtualNode]
    """Kind and members: formulas, sentences, the document last; they follow the
    content nodes."""
    auxiliary: list[tuple[int, int]]
    representatives: list[Representative]

    @property
    def content(self) -> MathGraph:
        """The nodes that stay and the edges between them, without virtual nodes."""
        return self.graph.take(self.nodes)

    @classmethod
    def build(
        cls,
        graph: MathGraph,
        variant: GraphVariant,
        labels: Mapping[int, int] | None = None,
    ) -> VariantGraph:
        """Return what ``variant`` shows of a graph.

        Args:
            graph: a fused graph.
            variant: the condition.
            labels: label of each formula by ``n``; equal for equal looks.
        """
        if variant.sentence_roots == "document":
            graph = renumber_sentences(graph)
        nodes = _keep_nodes(graph, variant)
        number = {node: place for place, node in enumerate(nodes)}
        edges = [
            (number[s], role, number[t])
            for s, role, t in graph.edges()
            if s in number and t in number
        ]
        formulas = graph.formulas if variant.formula_mode != "none" else []
        sentences = Sentences.of(graph)
        auxiliary: list[tuple[int, int]] = []
        virtual: list[_VirtualNode] = []
        for_formulas: Sequence[int] = [number[part.node] for part in formulas]
        for_sentences: Sequence[int] = [number[root] for root in sentences.roots]
        if variant.structure == "hierarchy":
            gathered = [_tree_nodes(part, variant) for part in formulas]
            virtual = _build_hierarchy(gathered, sentences.members, number)
            for_formulas = range(len(nodes), len(nodes) + len(formulas))
            for_sentences = range(
                len(nodes) + len(formulas), len(nodes) + len(virtual) - 1
            )
            virtual_of = {"formula": for_formulas, "sentence": for_sentences}
            in_order = [
                virtual_of[kind][i] for kind, i in sentences.order_with(formulas)
            ]
            auxiliary = variant.link(in_order)
        elif variant.structure != "none":
            virtual = [(DOCUMENT, range(len(nodes)))]
        chosen = choose_representatives(
            variant.structure,
            for_formulas,
            for_sentences,
            len(nodes) + len(virtual) - 1 if virtual else None,
            [(labels or {}).get(part.number, 0) for part in formulas],
        )
        representatives = [
            r._replace(number=formulas[r.number].number) if r.kind == FORMULA else r
            for r in chosen
        ]
        return cls(graph, nodes, edges, virtual, auxiliary, representatives)


def _build_hierarchy(
    formulas: Sequence[Sequence[int]],
    sentences: Sequence[Sequence[int]],
    number: Mapping[int, int],
) -> list[_VirtualNode]:
    """Return the virtual nodes over the nodes of formulas and of sentences."""
    virtual = [
        *((FORMULA, [number[n] for n in nodes]) for nodes in formulas),
        *((SENTENCE, [number[n] for n in nodes]) for nodes in sentences),
    ]
    below = range(len(number), len(number) + len(virtual))
    return [*virtual, (DOCUMENT, [*below, 0])]


def _keep_nodes(graph: MathGraph, variant: GraphVariant) -> list[int]:
    mode = variant.formula_mode
    gone: set[int] = set()
    for part in graph.formulas:
        if mode not in ("both", "opt"):
            gone.update(part.opt)
        if mode not in ("both", "slt"):
            gone.update(part.slt)
        if mode == "none" and part.is_lost:
            gone.add(part.node)
    return [node for node in range(graph.num_nodes) if node not in gone]


def _tree_nodes(part: FormulaPart, variant: GraphVariant) -> list[int]:
    """Return what a formula virtual node gathers; without trees the formula itself."""
    opt = part.opt if variant.formula_mode in ("both", "opt") else ()
    slt = part.slt if variant.formula_mode in ("both", "slt") else ()
    return [*opt, *slt] or [part.node]
