"""A math graph as a variant of it shows it: nodes left out, virtual nodes added.

This is the plain way, node by node and easy to read; the stage builds the same arrays
with :mod:`~mathamr_kedro.graph.array_building`, and tests hold the two against each
other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mathamr_kedro.graph.math_graph import FormulaPart, MathGraph, Triple
from mathamr_kedro.graph.representatives import choose_representatives
from mathamr_kedro.graph.sentences import find_sentences
from mathamr_kedro.graph.tensors import DOCUMENT, FORMULA, SENTENCE, Representative
from mathamr_kedro.graph.virtual_nodes import (
    GraphVariant,
    VirtualNode,
    link_in_order,
    order_parts,
)


class VariantGraph(NamedTuple):
    """A graph ready for numbers: content nodes, then virtual nodes."""

    nodes: list[int]
    """Nodes of the math graph that stay, ascending; their place is their number."""
    edges: list[Triple]
    """Forward edges between them."""
    virtual_nodes: list[VirtualNode]
    """Formulas, sentences, the document last; they follow the content nodes."""
    auxiliary: list[tuple[int, int]]
    representatives: list[Representative]


def build_variant(
    graph: MathGraph, variant: GraphVariant, labels: Mapping[int, int] | None = None
) -> VariantGraph:
    """Return what ``variant`` shows of a graph.

    Args:
        graph: a fused graph.
        variant: the condition.
        labels: label of each formula by ``n``; formulas that look the same share one.
    """
    nodes = _keep_nodes(graph, variant)
    number = {node: place for place, node in enumerate(nodes)}
    edges = [
        (number[s], role, number[t])
        for s, role, t in graph.edges()
        if s in number and t in number
    ]
    formulas = graph.formulas if variant.formula_mode != "none" else []
    sentences = find_sentences(graph)
    auxiliary: list[tuple[int, int]] = []
    virtual: list[VirtualNode] = []
    for_formulas: Sequence[int] = [number[part.node] for part in formulas]
    for_sentences: Sequence[int] = [number[root] for root in sentences.roots]
    if variant.structure == "hierarchy":
        gathered = [_tree_nodes(part, variant) for part in formulas]
        virtual = _build_hierarchy(gathered, sentences.members, number)
        for_formulas = range(len(nodes), len(nodes) + len(formulas))
        for_sentences = range(len(nodes) + len(formulas), len(nodes) + len(virtual) - 1)
        virtual_of = {"formula": for_formulas, "sentence": for_sentences}
        in_order = [virtual_of[kind][i] for kind, i in order_parts(formulas, sentences)]
        auxiliary = link_in_order(in_order, variant.auxiliary_edges)
    elif variant.structure != "none":
        virtual = [VirtualNode(DOCUMENT, range(len(nodes)))]
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
    return VariantGraph(nodes, edges, virtual, auxiliary, representatives)


def _build_hierarchy(
    formulas: Sequence[Sequence[int]],
    sentences: Sequence[Sequence[int]],
    number: Mapping[int, int],
) -> list[VirtualNode]:
    """Return the virtual nodes over the nodes of formulas and of sentences."""
    virtual = [
        *(VirtualNode(FORMULA, [number[n] for n in nodes]) for nodes in formulas),
        *(VirtualNode(SENTENCE, [number[n] for n in nodes]) for nodes in sentences),
    ]
    below = range(len(number), len(number) + len(virtual))
    return [*virtual, VirtualNode(DOCUMENT, [*below, 0])]


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
