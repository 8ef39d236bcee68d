r"""Trees as flat arrays, and batches of them as graphs with backward edges.

``x^2 + 1`` as an Operator Tree, in preorder::

    node      0 U!plus   1 O!SUP   2 V!x   3 N!2   4 N!1
    parent    -1         0         1       1       0
    edge      .          0         0       1       0        from the parent
    size      5          3         1       1       1        nodes of the subtree
    largest   1          2         .       .       .        child with most nodes

A subtree is an interval, so cutting a sub-expression needs no search: without node
:math:`v` the parts are one interval for each child, and all outside
:math:`[v, v + \text{size}_v)`.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import read_arrays, spread_ranges, write_arrays
from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.vocabulary import Vocabulary, choose_frequent
from mathamr_kedro.graph import KIND_NAMES, GraphBatch, GraphSchema
from mathamr_kedro.systems.base import Collection

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTree

Kind: TypeAlias = Literal["slg", "opg"]
"""A representation: symbol layout graph (visual) or operator graph (semantic)."""

KINDS: tuple[Kind, ...] = ("slg", "opg")

Numbers: TypeAlias = NDArray[Any]

_COLUMNS = ("label", "edge", "parent", "size", "largest")
_MIN_COUNT = 2
"""Labels and edges met less often share a number: a vector of one use is noise."""
_MAX_NODES = 256
"""Larger trees are indexed, not trained on: a batch of them would not fit."""
_WHOLE = -1.0
"""Instead of a draw: cut nothing."""


@dataclass(frozen=True)
class TreeVocabulary:
    """What the numbers in the trees of one representation mean.

    A label without a number is unknown of its type (Table 1 of the paper).
    """

    labels: Vocabulary
    edges: Vocabulary

    @classmethod
    def count(
        cls, labels: Counter[str], edges: Counter[str], min_count: int = _MIN_COUNT
    ) -> TreeVocabulary:
        """Number what was met often enough, the most frequent first.

        >>> labels = Counter({"V!x": 3, "N!2": 2, "V!y": 1})
        >>> TreeVocabulary.count(labels, Counter(n=5)).labels.names
        ('?', 'N!?', 'V!?', 'V!x', 'N!2')
        """
        types = sorted({_find_type(label) for label in labels} - {""})
        unknown = ("?", *(f"{t}?" for t in types))
        return cls(
            Vocabulary([*unknown, *choose_frequent(labels, min_count)], _generalise),
            Vocabulary(["?", *choose_frequent(edges, min_count)]),
        )

    @classmethod
    def load(cls, folder: Path, kind: str) -> TreeVocabulary:
        """Read what :meth:`save` wrote."""
        return cls(
            Vocabulary.load(folder / f"{kind}_labels.json", _generalise),
            Vocabulary.load(folder / f"{kind}_edges.json"),
        )

    def save(self, folder: Path, kind: str) -> None:
        """Write both lists."""
        self.labels.save(folder / f"{kind}_labels.json")
        self.edges.save(folder / f"{kind}_edges.json")

    @property
    def types(self) -> list[int]:
        """The type of each label as a number; operators of an SLT have none, 0."""
        found = [_find_type(label) for label in self.labels.names]
        place = {name: number for number, name in enumerate(sorted({"", *found}))}
        return [place[name] for name in found]

    @property
    def schema(self) -> GraphSchema:
        """The same for the convolution, which wants relations of virtual nodes too."""
        count = len(self.edges)
        formula, sentence, document = range(count, count + len(KIND_NAMES))
        return GraphSchema(
            num_node_types=len(self.labels),
            num_forward=count + len(KIND_NAMES),
            mask_type=0,
            virtual_relations=(formula, sentence, document),
        )


def _find_type(label: str) -> str:
    """Return the type of a label, e.g. ``V!``; nothing for operators of an SLT."""
    return label[:2] if label[1:2] == "!" else ""


def _generalise(label: str) -> str:
    return _find_type(label) + "?"


@dataclass(frozen=True, eq=False)
class Forest:
    """Many trees of one representation, one number after another."""

    vocabulary: TreeVocabulary
    label: Numbers
    edge: Numbers
    """From the parent; of a root 0."""
    parent: Numbers
    """Counted within the tree; of a root -1."""
    size: Numbers
    largest: Numbers
    """The first of the largest children, counted within the tree; of a leaf -1."""
    ptr: Numbers
    """(N + 1,) where each tree starts."""

    @classmethod
    def load(cls, folder: Path, kind: str) -> Forest:
        """Map what :meth:`save` wrote."""
        vocabulary = TreeVocabulary.load(folder, kind)
        return cls(vocabulary, **read_arrays(folder / f"{kind}.arrays"))

    def save(self, folder: Path, kind: str) -> None:
        """Write the arrays and their vocabulary."""
        self.vocabulary.save(folder, kind)
        arrays = {name: getattr(self, name) for name in (*_COLUMNS, "ptr")}
        write_arrays(folder / f"{kind}.arrays", arrays)

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def assemble(self, rows: Numbers, draws: Numbers | None = None) -> GraphBatch:
        """Put trees side by side as graphs with a backward edge for each edge.

        ``draws`` has a number from 0 to 1 for each, which chooses the internal node
        that is removed (section 3 of the paper: the largest connected part stays, of
        equals the first; a tree without internal nodes is whole). Below 0, and if it
        is missing, nothing is removed.
        """
        starts = self.ptr[rows]
        counts = self.ptr[rows + 1] - starts
        place = spread_ranges(starts, counts)
        owner = np.repeat(np.arange(len(rows)), counts)
        first = np.cumsum(counts) - counts
        parent = self.parent[place]
        keep = np.ones(len(place), dtype=np.bool_)
        if draws is not None:
            keep = self._cut(place, owner, first, draws)
        number = np.cumsum(keep) - 1
        above = first[owner] + np.maximum(parent, 0)
        joined = np.flatnonzero(keep & (parent >= 0) & keep[above])
        kept = np.bincount(owner[keep], minlength=len(rows))
        return _make_batch(
            self.vocabulary.schema,
            node_type=self.label[place[keep]],
            node_ptr=np.concatenate([[0], np.cumsum(kept)]),
            source=number[above[joined]],
            target=number[joined],
            relation=self.edge[place[joined]],
        )

    def _cut(
        self, place: Numbers, owner: Numbers, first: Numbers, draws: Numbers
    ) -> NDArray[np.bool_]:
        """Return which nodes stay."""
        size, largest = self.size[place], self.largest[place]
        counts = np.bincount(owner, minlength=len(first))
        internal = np.flatnonzero(size > 1)
        choices = np.bincount(owner[internal], minlength=len(first))
        cut = np.flatnonzero((choices > 0) & (draws >= 0))
        before = np.cumsum(choices) - choices
        chosen = np.minimum((draws * choices).astype(np.int64), choices - 1)
        removed = internal[(before + chosen)[cut]]
        child = largest[removed]
        at_child = first[cut] + child
        # Outside begins at the root: of equals it comes first.
        is_child = size[at_child] > counts[cut] - size[removed]
        low, high = np.zeros((2, len(first)), dtype=np.int64)
        low[cut] = np.where(is_child, child, removed - first[cut])
        high[cut] = low[cut] + np.where(is_child, size[at_child], size[removed])
        inner = np.zeros(len(first), dtype=np.bool_)
        inner[cut] = is_child
        inside = np.arange(len(place)) - first[owner]
        is_inside = (inside >= low[owner]) & (inside < high[owner])
        stays: NDArray[np.bool_] = is_inside == inner[owner]
        return stays

    def pair(self, rows: Numbers, draws: Numbers) -> GraphBatch:
        """Put whole graphs side by side, and behind them a sub-expression of each."""
        whole = np.full(len(rows), _WHOLE)
        return self.assemble(np.tile(rows, 2), np.concatenate([whole, draws]))


class ForestBuilder:
    """Takes trees one by one; labels and edges get their numbers at the end."""

    def __init__(self) -> None:
        self.labels: Counter[str] = Counter()
        self.edges: Counter[str] = Counter()
        self._met: dict[str, dict[str, int]] = {"label": {}, "edge": {}}
        self._columns = {name: array("i") for name in _COLUMNS}
        self._ptr = array("q", [0])

    def add(self, tree: FormulaTree) -> None:
        """Append a tree."""
        count = tree.size
        parent, edge = [-1] * count, [""] * count
        for above, name, below in tree.edges:
            parent[below], edge[below] = above, name
        size, largest = [1] * count, [-1] * count
        for node in range(count - 1, 0, -1):  # children come behind their parents
            above = parent[node]
            size[above] += size[node]
            # From the last child to the first: of equals the first stays.
            if largest[above] < 0 or size[node] >= size[largest[above]]:
                largest[above] = node
        labels, edges = self._met["label"], self._met["edge"]
        self.labels.update(tree.nodes)
        self.edges.update(edge[1:])
        values = {
            "label": [labels.setdefault(label, len(labels)) for label in tree.nodes],
            "edge": [edges.setdefault(name, len(edges)) for name in edge],
            "parent": parent, "size": size, "largest": largest,
        }  # fmt: skip
        for name, column in self._columns.items():
            column.extend(values[name])
        self._ptr.append(len(self._columns["label"]))

    def finish(self, vocabulary: TreeVocabulary) -> Forest:
        """Return the forest."""
        columns = {n: np.array(c, dtype=np.int32) for n, c in self._columns.items()}
        kinds = {"label": vocabulary.labels, "edge": vocabulary.edges}
        for name, known in kinds.items():
            numbers = [known.find(met) if met else 0 for met in self._met[name]]
            columns[name] = np.array(numbers, dtype=np.int32)[columns[name]]
        return Forest(vocabulary, **columns, ptr=np.array(self._ptr))


def write_forests(
    sources: Collection, folder: Path, max_formulas: int = 0
) -> dict[str, int]:
    """Write both trees of each visually distinct formula; return counts.

    Formulas that differ in appearance may have equal trees (spaces, sizes of brackets);
    one of them is kept, as the others would be its negatives.
    """
    builders = {kind: ForestBuilder() for kind in KINDS}
    counts = {"formulas": 0, "without_trees": 0, "too_large": 0, "alike": 0}
    seen: set[str] = set()
    formulas = sources.list_learnable(max_formulas)
    for formula in report_progress(formulas, "formulas prepared for formula_rgcn"):
        trees = sources.trees_of(formula)
        if trees is None or not trees.is_whole:
            counts["without_trees"] += 1
            continue
        assert trees.slt is not None and trees.opt is not None  # they are whole
        both = (trees.slt, trees.opt)
        look = checksum(*(tree.to_string() for tree in both))
        if max(tree.size for tree in both) > _MAX_NODES:
            counts["too_large"] += 1
        elif look in seen:
            counts["alike"] += 1
        else:
            seen.add(look)
            counts["formulas"] += 1
            for builder, tree in zip(builders.values(), both, strict=True):
                builder.add(tree)
    for kind, builder in builders.items():
        vocabulary = TreeVocabulary.count(builder.labels, builder.edges)
        builder.finish(vocabulary).save(folder, kind)
        counts[f"{kind}_labels"] = len(vocabulary.labels)
        counts[f"{kind}_edges"] = len(vocabulary.edges)
    return counts


def _make_batch(schema: GraphSchema, **arrays: Numbers) -> GraphBatch:
    """Return graphs without virtual nodes."""
    nothing = np.zeros(0)
    arrays |= {
        "virtual_node": nothing, "member": nothing, "member_of": nothing,
        "representative": nothing, "representative_kind": nothing,
        "representative_label": nothing, "representative_row": nothing,
        "representative_ptr": np.zeros(len(arrays["node_ptr"])),
    }  # fmt: skip
    tensors = {k: torch.from_numpy(v.astype(np.int32)) for k, v in arrays.items()}
    return GraphBatch(schema=schema, **tensors)
