"""Math graphs to arrays at the speed of the preprocessing stage.

The same graphs as :func:`~mathamr_kedro.graph.variants.build_variant` shows, but with
one look-up per node and NumPy for the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mathamr_kedro.graph.math_graph import FormulaPart, MathGraph, is_inverted
from mathamr_kedro.graph.numbering import Numbering, Remembered
from mathamr_kedro.graph.sentences import Sentences, find_sentences
from mathamr_kedro.graph.tensors import DOCUMENT, FORMULA, SENTENCE, GraphArrays
from mathamr_kedro.graph.virtual_nodes import GraphVariant, link_in_order, order_parts
from mathamr_kedro.graph.vocabulary import AUXILIARY_ROLE

Numbers: TypeAlias = NDArray[np.int64]


class ArrayBuilder:
    """Turns math graphs into arrays: one variant, one numbering of labels."""

    def __init__(self, numbering: Numbering, variant: GraphVariant) -> None:
        self.numbering, self.variant = numbering, variant
        # A role that is written inverted has a negative number.
        self._roles = Remembered(self._find_role)

    def _find_role(self, role: str) -> int:
        roles = self.numbering.roles
        return ~roles[role[:-3]] if is_inverted(role) else roles[role]

    def build(
        self, graph: MathGraph, labels: Mapping[int, int] | None = None
    ) -> GraphArrays:
        """Return the arrays of a fused graph.

        Args:
            graph: with all its trees.
            labels: label of each formula by ``n``.
        """
        kept, number = self._number_nodes(graph)
        types = np.array(self._find_types(graph), dtype=np.uint32)
        source, target, relation = self._find_edges(graph)
        if kept is not None:
            types = types[kept]
            stays = kept[source] & kept[target]
            source, target = number[source[stays]], number[target[stays]]
            relation = relation[stays]
        parts = graph.formulas if self.variant.formula_mode != "none" else []
        return self._add_virtual_nodes(
            types,
            (source, target, relation),
            number,
            parts,
            find_sentences(graph),
            [(labels or {}).get(part.number, 0) for part in parts],
        )

    def _number_nodes(
        self, graph: MathGraph
    ) -> tuple[NDArray[np.bool_] | None, Numbers]:
        """Return which nodes stay (``None``: all) and the new number of each."""
        mode = self.variant.formula_mode
        numbers = np.arange(graph.num_nodes)
        if mode == "both":
            return None, numbers
        kept = np.ones(graph.num_nodes, dtype=np.bool_)
        for part in graph.formulas:
            if mode != "opt":
                kept[part.opt.start : part.opt.stop] = False
            if mode != "slt":
                kept[part.slt.start : part.slt.stop] = False
            if mode == "none" and part.is_lost:
                kept[part.node] = False
        return kept, np.cumsum(kept) - 1

    def _find_types(self, graph: MathGraph) -> list[int]:
        atoms, variables = graph.atoms, graph.variables
        concepts, symbols = self.numbering.concepts, self.numbering.symbols
        types: list[int] = []

        trees = [t for part in graph.formulas for t in (part.opt, part.slt) if t]
        trees.sort(key=lambda tree: tree.start)
        for tree in [*trees, range(len(atoms), len(atoms))]:
            for node in range(len(types), tree.start):
                find = concepts if variables[node] else symbols
                types.append(find[atoms[node]])
            types += [symbols[atom] for atom in atoms[tree.start : tree.stop]]
        return types

    def _find_edges(self, graph: MathGraph) -> tuple[Numbers, Numbers, Numbers]:
        if not graph.lines:
            none = np.empty(0, dtype=np.int64)
            return none, none, none
        holders, roles, targets = zip(*graph.lines, strict=True)
        find = self._roles
        relation = np.array([find[role] for role in roles])
        source, target = np.array(holders), np.array(targets)
        inverted = relation < 0
        if inverted.any():
            relation = np.where(inverted, ~relation, relation)
            for line in np.flatnonzero(inverted):
                if not graph.variables[targets[line]]:  # a constant points nowhere
                    inverted[line] = False
                    relation[line] = self.numbering.roles[roles[line]]
            source, target = (
                np.where(inverted, target, source),
                np.where(inverted, source, target),
            )
        return source, target, relation

    def _add_virtual_nodes(
        self,
        types: NDArray[np.uint32],
        edges: tuple[Numbers, Numbers, Numbers],
        number: Numbers,
        parts: list[FormulaPart],
        sentences: Sentences,
        labels: list[int],
    ) -> GraphArrays:
        structure = self.variant.structure
        content = len(types)
        counts = len(parts), len(sentences.roots)
        kinds: list[int] = []
        members: list[Numbers] = []
        formulas = number[[part.node for part in parts]] if parts else number[:0]
        roots = number[sentences.roots]
        if structure == "hierarchy":
            below = np.arange(content, content + sum(counts))
            kinds = [FORMULA] * counts[0] + [SENTENCE] * counts[1] + [DOCUMENT]
            members = [
                *(number[self._gather(part)] for part in parts),
                *(number[nodes] for nodes in sentences.members),
                np.append(below, 0),
            ]
            formulas, roots = below[: counts[0]], below[counts[0] :]
            edges = self._add_auxiliary(edges, parts, sentences, content)
        elif structure != "none":
            kinds, members = [DOCUMENT], [np.arange(content)]
        document = [content + len(kinds) - 1] if kinds else []
        if structure == "global_single":
            formulas, roots, parts, counts = formulas[:0], roots[:0], [], (0, 0)
        rest = counts[1] + len(document)
        source, target, relation = edges
        first_virtual = self.numbering.schema.num_node_types
        return GraphArrays(
            node_type=_join([types, first_virtual + np.array(kinds, int)]),
            source=source.astype(np.uint32),
            target=target.astype(np.uint32),
            relation=relation.astype(np.uint32),
            member_count=np.array([len(m) for m in members], dtype=np.uint32),
            member=_join(members),
            representative=_join([formulas, roots, document]),
            representative_kind=np.array(
                [FORMULA] * counts[0]
                + [SENTENCE] * counts[1]
                + [DOCUMENT] * len(document),
                dtype=np.uint32,
            ),
            representative_number=_join(
                [[part.number for part in parts], range(counts[1]), [0] * len(document)]
            ),
            representative_label=_join([labels[: len(parts)], [0] * rest]),
        )

    def _gather(self, part: FormulaPart) -> list[int]:
        mode = self.variant.formula_mode
        opt = part.opt if mode != "slt" else ()
        slt = part.slt if mode != "opt" else ()
        return [*opt, *slt] or [part.node]

    def _add_auxiliary(
        self,
        edges: tuple[Numbers, Numbers, Numbers],
        parts: list[FormulaPart],
        sentences: Sentences,
        content: int,
    ) -> tuple[Numbers, Numbers, Numbers]:
        if self.variant.auxiliary_edges == "none":
            return edges
        first = {"formula": content, "sentence": content + len(parts)}
        in_order = [first[kind] + i for kind, i in order_parts(parts, sentences)]
        pairs = np.array(link_in_order(in_order, self.variant.auxiliary_edges), int)
        pairs = pairs.reshape(-1, 2)
        source, target, relation = edges
        return (
            np.concatenate([source, pairs[:, 0]]),
            np.concatenate([target, pairs[:, 1]]),
            np.concatenate(
                [relation, np.full(len(pairs), self.numbering.roles[AUXILIARY_ROLE])]
            ),
        )


def _join(arrays: Sequence[ArrayLike]) -> NDArray[np.uint32]:
    parts = [np.asarray(a, dtype=np.uint32) for a in arrays]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint32)
