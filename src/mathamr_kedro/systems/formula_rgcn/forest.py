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

Files hold one number after another, in the order of trees, and are mapped into memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from mathamr_kedro.base.arrays import spread_ranges
from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.graph import GraphBatch, GraphSchema
from mathamr_kedro.systems.formula_rgcn.vocabulary import Vocabulary

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTree

Numbers: TypeAlias = NDArray[Any]

_TYPES = {
    "label": np.int32, "edge": np.int32, "parent": np.int32, "size": np.int32,
    "largest": np.int32,
}  # fmt: skip
_AT_ONCE = 1 << 22
_WHOLE = -1.0
"""Instead of a draw: cut nothing."""


@dataclass(frozen=True, eq=False)
class Forest:
    """Many trees of one representation."""

    vocabulary: Vocabulary
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
    def of(cls, trees: Sequence[FormulaTree], vocabulary: Vocabulary) -> Forest:
        """Lay out trees in memory."""
        rows = [_flatten(tree) for tree in trees]
        columns = {
            "label": [vocabulary.number(n) for tree in trees for n in tree.nodes],
            "edge": [
                vocabulary.number_edge(e) if e else 0 for r in rows for e in r.edge
            ],
            "parent": [number for row in rows for number in row.parent],
            "size": [number for row in rows for number in row.size],
            "largest": [number for row in rows for number in row.largest],
        }
        arrays = {name: np.array(c, dtype=_TYPES[name]) for name, c in columns.items()}
        counts = np.array([tree.size for tree in trees], dtype=np.int64)
        ptr = np.concatenate([[0], np.cumsum(counts)])
        return cls(vocabulary, **arrays, ptr=ptr)

    @classmethod
    def open(cls, folder: Path, name: str) -> Forest:
        """Map what :class:`ForestWriter` wrote.

        Raises:
            MissingInputError: there is no such forest.
        """
        vocabulary = Vocabulary.read(folder, name)
        columns = {
            column: _map(folder / f"{name}.{column}.bin", dtype)
            for column, dtype in _TYPES.items()
        }
        counts = _map(folder / f"{name}.count.bin", np.int32)
        ptr = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        return cls(vocabulary, **columns, ptr=ptr)

    def __len__(self) -> int:
        return len(self.ptr) - 1

    def assemble(self, rows: Numbers, draws: Numbers | None = None) -> GraphBatch:
        """Put trees side by side as graphs with a backward edge for each edge.

        Args:
            rows: which trees.
            draws: a number from 0 to 1 for each, which chooses the internal node that
                is removed (section 3 of the paper: the largest connected part stays,
                of equals the first; a tree without internal nodes is whole); below 0,
                and where ``draws`` is missing, nothing is removed.
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
            self.label[place[keep]],
            np.concatenate([[0], np.cumsum(kept)]),
            (number[above[joined]], number[joined], self.edge[place[joined]]),
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
        # Outside begins at the root: of equals it stands first.
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


class ForestWriter:
    """Writes trees to files as they come; holds the counts of labels alone.

    ::

        NAME.json        labels, edges: the vocabulary
        NAME.label.bin   one number per node; so are edge, parent, size and largest
        NAME.count.bin   nodes of each tree
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder, self._name = folder, name
        self._labels: Counter[str] = Counter()
        self._edges: Counter[str] = Counter()
        self._numbers: dict[str, dict[str, int]] = {"label": {}, "edge": {"": 0}}
        self._files = {c: self._path(c).open("wb") for c in (*_TYPES, "count")}

    def add(self, tree: FormulaTree) -> None:
        """Write one tree."""
        row = _flatten(tree)
        self._labels.update(tree.nodes)
        self._edges.update(edge for edge in row.edge if edge)
        columns = {
            "label": [self._meet("label", label) for label in tree.nodes],
            "edge": [self._meet("edge", edge) for edge in row.edge],
            "parent": row.parent,
            "size": row.size,
            "largest": row.largest,
            "count": [tree.size],
        }
        for name, values in columns.items():
            np.array(values, dtype=np.int32).tofile(self._files[name])

    def close(self, min_count: int) -> Vocabulary:
        """Choose the vocabulary, and write its numbers instead of those so far."""
        for file in self._files.values():
            file.close()
        vocabulary = Vocabulary.count(self._labels, self._edges, min_count)
        for column, number in (
            ("label", vocabulary.number),
            ("edge", vocabulary.number_edge),
        ):
            names = self._numbers[column]
            table = np.array([number(name) for name in names], dtype=np.int32)
            _renumber(self._path(column), table)
        vocabulary.write(self._folder, self._name)
        return vocabulary

    def _meet(self, column: str, name: str) -> int:
        known = self._numbers[column]
        return known.setdefault(name, len(known))

    def _path(self, column: str) -> Path:
        return self._folder / f"{self._name}.{column}.bin"


@dataclass(frozen=True)
class _Row:
    parent: list[int]
    edge: list[str]
    size: list[int]
    largest: list[int]


def _flatten(tree: FormulaTree) -> _Row:
    """Return the columns of a tree but its labels."""
    count = tree.size
    parent, edge = [-1] * count, [""] * count
    for above, label, below in tree.edges:
        parent[below], edge[below] = above, label
    size, largest = [1] * count, [-1] * count
    for node in range(count - 1, 0, -1):  # children stand behind their parents
        above = parent[node]
        size[above] += size[node]
        # From the last child to the first: of equals the first stays.
        if largest[above] < 0 or size[node] >= size[largest[above]]:
            largest[above] = node
    return _Row(parent, edge, size, largest)


def _make_batch(
    schema: GraphSchema,
    label: Numbers,
    ptr: Numbers,
    edges: Iterable[Numbers],
) -> GraphBatch:
    source, target, relation = edges
    nothing = np.zeros(0)
    arrays = {
        "node_type": label, "node_ptr": ptr, "source": source, "target": target,
        "relation": relation, "virtual_node": nothing, "member": nothing,
        "member_of": nothing, "representative": nothing,
        "representative_kind": nothing, "representative_label": nothing,
        "representative_row": nothing, "representative_ptr": np.zeros(len(ptr)),
    }  # fmt: skip
    tensors = {k: torch.from_numpy(v.astype(np.int32)) for k, v in arrays.items()}
    return GraphBatch(schema=schema, **tensors)


def _map(path: Path, dtype: type) -> Numbers:
    if not path.is_file():
        raise MissingInputError(
            f"Expected {path.name} in {str(path.parent)!r}; delete the folder and run "
            "the stage 'training' again"
        )
    if path.stat().st_size == 0:  # nothing can be mapped
        return np.zeros(0, dtype=dtype)
    return np.memmap(path, dtype=dtype, mode="r").view(np.ndarray)


def _renumber(path: Path, table: Numbers) -> None:
    if path.stat().st_size == 0:
        return
    numbers = np.memmap(path, dtype=np.int32, mode="r+")
    for start in range(0, len(numbers), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        numbers[part] = table[numbers[part]]
    numbers.flush()
