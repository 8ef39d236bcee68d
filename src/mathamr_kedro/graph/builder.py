"""Math graphs to arrays at the speed of the preprocessing stage.

Column by column: one look-up per node, no object per edge. :class:`RecordArrays` does
it for one graph at a time, with the vocabulary of prepared graphs: queries, new posts.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from itertools import accumulate, compress
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from mathamr_kedro.graph.arrays import (
    DOCUMENT,
    FORMULA,
    SENTENCE,
    GraphArrays,
    GraphSchema,
    Ids,
)
from mathamr_kedro.graph.fusion import FusionMode, fuse_graph
from mathamr_kedro.graph.math_graph import FormulaPart, MathGraph
from mathamr_kedro.graph.numbering import Numbering, VocabularyNumbering
from mathamr_kedro.graph.penman_graph import read_math_graph
from mathamr_kedro.graph.penman_records import GraphRecord
from mathamr_kedro.graph.sentences import Sentences, renumber_sentences
from mathamr_kedro.graph.tree_lookup import TreeLookup
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import AUXILIARY_ROLE

if TYPE_CHECKING:
    from mathamr_kedro.graph.prepared import PreparedGraphs
    from mathamr_kedro.graph.released import ReleasedEncoder

_LARGEST_LABEL = 2**31 - 1  # batches hold labels as int32; 0 and below mean none

Edges: TypeAlias = tuple[list[int], list[int], list[int]]
"""Sources, targets and relations."""


class _Virtual(NamedTuple):
    """Virtual nodes and the nodes that represent formulas and sentences."""

    kinds: list[int]
    members: list[Sequence[int]]
    formulas: Sequence[int]
    roots: Sequence[int]
    auxiliary: list[tuple[int, int]]


class ArrayBuilder:
    """Turns math graphs into arrays: one variant, one numbering of labels."""

    def __init__(self, numbering: Numbering, variant: GraphVariant) -> None:
        self.numbering, self.variant = numbering, variant

    def build_record(self, record: GraphRecord) -> GraphArrays:
        """Return the arrays of a fused record."""
        return self.build(read_math_graph(record.graph), label_formulas(record))

    def build(
        self, graph: MathGraph, labels: Mapping[int, int] | None = None
    ) -> GraphArrays:
        """Return the arrays of a fused graph.

        Args:
            graph: with all its trees.
            labels: label of each formula by ``n``.
        """
        if self.variant.sentence_roots == "document":
            graph = renumber_sentences(graph)
        types = self._find_types(graph)
        edges = self._find_edges(graph)
        number: Sequence[int] = range(len(types))
        if self.variant.formula_mode != "both":
            kept = self.choose_nodes(graph)
            # A running count of the kept nodes is one more than the new number.
            number = [n - 1 for n in accumulate(kept)]
            types = list(compress(types, kept))
            edges = _keep_edges(edges, kept, number)
        parts = graph.formulas if self.variant.formula_mode != "none" else []
        virtual = self._add_virtual_nodes(
            len(types), number, parts, Sentences.of(graph)
        )
        return self._lay_out(types, edges, virtual, parts, labels or {})

    def choose_nodes(self, graph: MathGraph) -> bytearray:
        """Return 1 for each node that stays."""
        mode = self.variant.formula_mode
        kept = bytearray(b"\x01") * graph.num_nodes
        for part in graph.formulas:
            if mode not in ("both", "opt"):
                kept[part.opt.start : part.opt.stop] = bytes(len(part.opt))
            if mode not in ("both", "slt"):
                kept[part.slt.start : part.slt.stop] = bytes(len(part.slt))
            if mode == "none" and part.is_lost:
                kept[part.node] = 0
        return kept

    def _find_types(self, graph: MathGraph) -> list[int]:
        atoms, variables = graph.atoms, graph.variables
        concepts, symbols = self.numbering.concepts, self.numbering.symbols
        types: list[int] = []
        # A tree is a range of nodes, all of them symbols. Between the ranges are nodes
        # of the AMR: concepts have a variable, constants have none. The empty range at
        # the end takes what comes after the last tree.
        trees = [t for part in graph.formulas for t in (part.opt, part.slt) if t]
        trees.sort(key=lambda tree: tree.start)
        for tree in [*trees, range(len(atoms), len(atoms))]:
            for node in range(len(types), tree.start):
                find = concepts if variables[node] else symbols
                types.append(find[atoms[node]])
            types += [symbols[atom] for atom in atoms[tree.start : tree.stop]]
        return types

    def _find_edges(self, graph: MathGraph) -> Edges:
        find = self.numbering.written_roles
        # An inverted role (ARG0-of) is found as ~relation, which is negative.
        relations = [find[role] for role in graph.roles]
        sources, targets = list(graph.holders), list(graph.targets)
        if relations and min(relations) < 0:
            for line in [n for n, relation in enumerate(relations) if relation < 0]:
                if graph.variables[targets[line]]:
                    relations[line] = ~relations[line]
                    sources[line], targets[line] = targets[line], sources[line]
                else:  # a constant points nowhere
                    relations[line] = self.numbering.roles[graph.roles[line]]
        return sources, targets, relations

    def _add_virtual_nodes(
        self,
        content: int,
        number: Sequence[int],
        parts: Sequence[FormulaPart],
        sentences: Sentences,
    ) -> _Virtual:
        structure = self.variant.structure
        formulas = [number[part.node] for part in parts]
        roots = [number[root] for root in sentences.roots]
        if structure != "hierarchy":
            members: list[Sequence[int]] = []
            if structure != "none":
                members.append(range(content))
            if structure == "global_single":
                formulas, roots = [], []
            return _Virtual([DOCUMENT] * len(members), members, formulas, roots, [])
        gathered = [*map(self._gather, parts), *sentences.members]
        if self.variant.formula_mode != "both":
            gathered = [[number[node] for node in nodes] for nodes in gathered]
        below = range(content, content + len(gathered))
        kinds = [FORMULA] * len(parts) + [SENTENCE] * len(roots) + [DOCUMENT]
        first = {"formula": content, "sentence": content + len(parts)}
        auxiliary: list[tuple[int, int]] = []
        if self.variant.auxiliary_edges != "none":
            in_order = [first[kind] + i for kind, i in sentences.order_with(parts)]
            auxiliary = self.variant.link(in_order)
        return _Virtual(
            kinds,
            [*gathered, [*below, 0]],
            below[: len(parts)],
            below[len(parts) :],
            auxiliary,
        )

    def _lay_out(
        self,
        types: list[int],
        edges: Edges,
        virtual: _Virtual,
        parts: Sequence[FormulaPart],
        labels: Mapping[int, int],
    ) -> GraphArrays:
        kinds, members, formulas, roots, auxiliary = virtual
        # Virtual nodes follow the content nodes; the document is the last of them.
        document = [len(types) + len(kinds) - 1] if kinds else []
        counts = len(formulas), len(roots), len(document)
        first = self.numbering.schema.num_node_types
        sources, targets, relations = edges
        if auxiliary:
            sources = sources + [source for source, _ in auxiliary]
            targets = targets + [target for _, target in auxiliary]
            relation = self.numbering.roles[AUXILIARY_ROLE]
            relations = relations + [relation] * len(auxiliary)
        numbers = [part.number for part in parts] if formulas else []
        return GraphArrays(
            node_type=_to_ids(types + [first + kind for kind in kinds]),
            source=_to_ids(sources),
            target=_to_ids(targets),
            relation=_to_ids(relations),
            member_count=_to_ids([len(nodes) for nodes in members]),
            member=_to_ids([node for nodes in members for node in nodes]),
            representative=_to_ids([*formulas, *roots, *document]),
            representative_kind=_to_ids(
                [FORMULA] * counts[0] + [SENTENCE] * counts[1] + [DOCUMENT] * counts[2]
            ),
            representative_number=_to_ids(
                [*numbers, *range(counts[1]), 0][: sum(counts)]
            ),
            representative_label=_to_ids(
                [labels.get(number, 0) for number in numbers]
                + [0] * (counts[1] + counts[2])
            ),
        )

    def _gather(self, part: FormulaPart) -> list[int]:
        mode = self.variant.formula_mode
        opt = part.opt if mode != "slt" else ()
        slt = part.slt if mode != "opt" else ()
        return [*opt, *slt] or [part.node]


def _keep_edges(edges: Edges, kept: bytearray, number: Sequence[int]) -> Edges:
    rows = [
        (number[source], number[target], relation)
        for source, target, relation in zip(*edges, strict=True)
        if kept[source] and kept[target]
    ]
    return (
        [source for source, _, _ in rows],
        [target for _, target, _ in rows],
        [relation for _, _, relation in rows],
    )


def _to_ids(values: Sequence[int]) -> Ids:
    return np.array(values, dtype=np.uint32)


def label_formulas(record: GraphRecord) -> dict[int, int]:
    """Return a label per formula, 1 to 2^31 - 1, equal for those that look the same."""
    # Surrogates may be in the ids of a damaged collection.
    visual_ids = {
        number: mention.visual_id.encode("utf-8", "surrogatepass")
        for number, mention in record.formulas().items()
    }
    return {n: zlib.crc32(v) & _LARGEST_LABEL or 1 for n, v in visual_ids.items()}


class RecordArrays:
    """Turns AMR records into arrays as prepared graphs have them.

    Args:
        prepared: variant and vocabularies of these, or of a released encoder's graphs,
            are used.
        find_trees: trees of formulas, e.g.
            :class:`~mathamr_kedro.graph.tree_lookup.StoredTrees`.
        mode: of fusion.
    """

    def __init__(
        self,
        prepared: PreparedGraphs | ReleasedEncoder,
        find_trees: TreeLookup,
        mode: FusionMode = "mathamr_plus",
    ) -> None:
        numbering = VocabularyNumbering(prepared.types, prepared.relations)
        self._builder = ArrayBuilder(numbering, prepared.variant)
        self._find_trees, self._mode = find_trees, mode

    @property
    def schema(self) -> GraphSchema:
        """What the numbers mean."""
        return self._builder.numbering.schema

    def fuse(self, record: GraphRecord) -> MathGraph:
        """Return the graph of an AMR record with the trees of its formulas.

        Raises:
            GraphError: the AMR is no graph.
        """
        return fuse_graph(record, self._find_trees, self._mode).graph

    def build(self, fused: MathGraph) -> GraphArrays:
        """Return the arrays of a fused graph."""
        arrays = self._builder.build(fused)
        arrays.check(self.schema)
        return arrays
