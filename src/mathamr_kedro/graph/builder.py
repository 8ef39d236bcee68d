"""Math graphs to arrays at the speed of the preprocessing stage.

Column by column: one look-up per node, no object per edge. :class:`VariantGraph` shows
what a variant sees, for drawings and texts.

Labels and roles are numbered in two ways. A vocabulary numbers those of a query, or of
a post that comes later. The stage numbers those of a collection in the order in which
they turn up, and what a vocabulary makes of these numbers is looked up when graphs are
read::

    in the files    V!x -> 3   set -> 4   + -> 5
    vocabulary      V!x -> 6   + -> 7     set -> 8          types [..., 6, 8, 7]

so graphs are built once, and another vocabulary of the same graphs costs little.

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
import zlib
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate, compress
from typing import NamedTuple, TypeAlias

import numpy as np

from mathamr_kedro.base.records import FormulaMention
from mathamr_kedro.base.stemming import stem
from mathamr_kedro.graph.arrays import (
    DOCUMENT,
    FORMULA,
    SENTENCE,
    GraphArrays,
    to_ids,
)
from mathamr_kedro.graph.math_graph import (
    FormulaPart,
    MathGraph,
    is_inverted,
    read_placeholder,
)
from mathamr_kedro.graph.penman_graph import read_label
from mathamr_kedro.graph.sentences import Sentences, renumber_sentences
from mathamr_kedro.graph.shards.layout import CONCEPT, FIRST_LABEL, SYMBOL, Label
from mathamr_kedro.graph.virtual_nodes import GraphVariant
from mathamr_kedro.graph.vocabulary import (
    AUXILIARY_ROLE,
    URL,
    Vocabularies,
    classify_number,
)

_FRAME = re.compile(r".+-\d{2,3}")
_LARGEST_LABEL = 2**31 - 1  # batches hold labels as int32; 0 and below mean none
Edges: TypeAlias = tuple[list[int], list[int], list[int]]
"""Sources, targets and relations."""


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

    first_virtual: int
    """Node type of the first kind of virtual nodes."""
    concepts: _Remembered
    symbols: _Remembered
    roles: _Remembered
    written_roles: _Remembered
    """As ``roles``, but ``~number`` for a role that is written inverted."""

    def __init__(
        self,
        first_virtual: int,
        find_concept: Callable[[str], int],
        find_symbol: Callable[[str], int],
        find_role: Callable[[str], int],
    ) -> None:
        self.first_virtual = first_virtual
        self.concepts = _Remembered(find_concept)
        self.symbols = _Remembered(find_symbol)
        self.roles = _Remembered(find_role)
        self.written_roles = _Remembered(
            lambda r: ~self.roles[r[:-3]] if is_inverted(r) else self.roles[r]
        )


class VocabularyNumbering(Numbering):
    """The numbers of a vocabulary."""

    def __init__(self, vocabularies: Vocabularies) -> None:
        types, relations = vocabularies
        super().__init__(
            len(types),
            lambda atom: types.find(normalise_concept(atom)),
            lambda atom: types.find(normalise_symbol(atom)),
            relations.find,
        )


class RawNumbering(Numbering):
    """Numbers in the order of first use; concepts and symbols share one row."""

    def __init__(self) -> None:
        self.labels: list[Label] = []
        """Kind and atom of each number from ``FIRST_LABEL`` on."""
        super().__init__(
            0,
            lambda atom: self._add(CONCEPT, atom),
            lambda atom: self._add(SYMBOL, atom),
            lambda role: len(self.roles),
        )

    def _add(self, kind: str, atom: str) -> int:
        self.labels.append((kind, atom))
        return len(self.labels) - 1 + FIRST_LABEL


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

    def build(
        self, graph: MathGraph, labels: Mapping[int, int] | None = None
    ) -> GraphArrays:
        """Return the arrays of a fused graph."""
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
        first = self.numbering.first_virtual
        sources, targets, relations = edges
        if auxiliary:
            sources = sources + [source for source, _ in auxiliary]
            targets = targets + [target for _, target in auxiliary]
            relation = self.numbering.roles[AUXILIARY_ROLE]
            relations = relations + [relation] * len(auxiliary)
        numbers = [part.number for part in parts] if formulas else []
        return GraphArrays(
            node_type=to_ids(types + [first + kind for kind in kinds]),
            source=to_ids(sources),
            target=to_ids(targets),
            relation=to_ids(relations),
            member_count=to_ids([len(nodes) for nodes in members]),
            member=to_ids([node for nodes in members for node in nodes]),
            representative=to_ids([*formulas, *roots, *document]),
            representative_kind=to_ids(
                [FORMULA] * counts[0] + [SENTENCE] * counts[1] + [DOCUMENT] * counts[2]
            ),
            representative_number=to_ids(
                [*numbers, *range(counts[1]), 0][: sum(counts)]
            ),
            representative_label=to_ids(
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


def label_formulas(formulas: Mapping[int, FormulaMention]) -> dict[int, int]:
    """Return a label per formula, 1 to 2^31 - 1, equal for those that look the same.

    Args:
        formulas: by ``n`` of ``FORMULA_n``.
    """
    # Surrogates may be in the ids of a damaged collection.
    visual_ids = {
        number: mention.visual_id.encode("utf-8", "surrogatepass")
        for number, mention in formulas.items()
    }
    return {n: zlib.crc32(v) & _LARGEST_LABEL or 1 for n, v in visual_ids.items()}


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
        kinds = arrays.node_type[arrays.num_content :] - numbering.first_virtual
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
