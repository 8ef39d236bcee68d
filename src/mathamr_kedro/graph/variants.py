"""A math graph as a variant of it shows it: nodes left out, virtual nodes added.

This is the plain way, node by node and easy to read; the stage builds the same arrays
with :mod:`~mathamr_kedro.graph.array_building`, and tests hold the two against each
other.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    virtual: list[VirtualNode] = []
    auxiliary: list[tuple[int, int]] = []
    if variant.structure == "hierarchy":
        virtual = [
            *(
                VirtualNode(FORMULA, [number[n] for n in _tree_nodes(part, variant)])
                for part in formulas
            ),
            *(
                VirtualNode(SENTENCE, [number[n] for n in members])
                for members in sentences.members
            ),
        ]
        first = {"formula": len(nodes), "sentence": len(nodes) + len(formulas)}
        in_order = [first[k] + i for k, i in order_parts(formulas, sentences)]
        auxiliary = link_in_order(in_order, variant.auxiliary_edges)
        below = range(len(nodes), len(nodes) + len(virtual))
        virtual.append(VirtualNode(DOCUMENT, [*below, 0]))
        stand_for_formulas = below[: len(formulas)]
        stand_for_sentences = below[len(formulas) :]
    else:
        if variant.structure != "none":
            virtual = [VirtualNode(DOCUMENT, range(len(nodes)))]
        stand_for_formulas = [number[part.node] for part in formulas]  # type: ignore[assignment]
        stand_for_sentences = [number[root] for root in sentences.roots]  # type: ignore[assignment]
    chosen = choose_representatives(
        variant.structure,
        stand_for_formulas,
        stand_for_sentences,
        len(nodes) + len(virtual) - 1 if virtual else None,
        [(labels or {}).get(part.number, 0) for part in formulas],
    )
    representatives = [
        r._replace(number=formulas[r.number].number) if r.kind == FORMULA else r
        for r in chosen
    ]
    return VariantGraph(nodes, edges, virtual, auxiliary, representatives)


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
