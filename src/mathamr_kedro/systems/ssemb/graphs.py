"""Shared operator graphs as numbers: a table of many, batches of some, labels.

::

    x + x·y    U!plus ──► x            labels    7 9 8 10
                 └─► U!times ──► x     source    0 0 2 2        within the graph
                        └──► y         target    1 2 1 3

A :class:`GraphTable` lies in one file that a machine with torch and numpy can read; a
:class:`GraphBatch` is what the network and the augmentations work on.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.arrays import read_arrays, spread_ranges, write_arrays
from mathamr_kedro.base.files import write_text

if TYPE_CHECKING:
    from mathamr_kedro.formula.graphs import FormulaGraph

UNKNOWN, MASK = 0, 1
"""Numbers of labels nobody knows, and of labels that are hidden."""


class LabelVocabulary:
    """Labels to numbers: unknown, mask, wildcards, then labels and their kinds.

    A label that was too rare to be listed is read as its kind: ``N!3.14`` as ``N!``.
    """

    def __init__(self, labels: Sequence[str], wildcards: int) -> None:
        self.wildcards = range(MASK + 1, MASK + 1 + wildcards)
        self._labels = list(labels)
        start = self.wildcards.stop
        self._numbers = {label: start + n for n, label in enumerate(labels)}

    @classmethod
    def count(cls, counts: Counter[str], least: int, wildcards: int) -> LabelVocabulary:
        """List the labels that stand at least so often, and the kinds of the others."""
        kinds = {_find_kind(label) for label, n in counts.items() if n < least}
        kept = {label for label, n in counts.items() if n >= least}
        return cls(sorted(kept | kinds), wildcards)

    @classmethod
    def read(cls, path: Path) -> LabelVocabulary:
        """Read what :meth:`save` wrote."""
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def save(self, path: Path) -> None:
        """Write it to a file."""
        values = {"labels": self._labels, "wildcards": len(self.wildcards)}
        write_text(path, json.dumps(values, ensure_ascii=False))

    def __len__(self) -> int:
        return self.wildcards.stop + len(self._labels)

    def number(self, label: str) -> int:
        """Return the number of a label, of its kind, or of what nobody knows."""
        known = self._numbers.get(label)
        if known is None:
            known = self._numbers.get(_find_kind(label), UNKNOWN)
        return known


def _find_kind(label: str) -> str:
    kind, mark, _ = label.partition("!")
    return kind + mark


class GraphBatch(NamedTuple):
    """Some graphs beside each other; nodes are numbered through."""

    labels: Tensor
    """(N,) int64."""
    edges: Tensor
    """(2, E) int64: parents, children."""
    ptr: Tensor
    """(G + 1,) where the nodes of each graph start; the first is its root."""

    @property
    def graph_of(self) -> Tensor:
        """(N,) the graph that each node belongs to."""
        number = torch.arange(len(self.ptr) - 1, device=self.ptr.device)
        return number.repeat_interleave(self.ptr.diff())

    def to(self, device: torch.device) -> GraphBatch:
        """Move it."""
        return GraphBatch(*(part.to(device) for part in self))

    def keep(self, nodes: Tensor) -> GraphBatch:
        """Return the part over the nodes where the mask is true, renumbered."""
        place = nodes.cumsum(0) - 1
        ends = torch.cat([nodes.new_zeros(1, dtype=torch.int64), nodes.cumsum(0)])
        edges = self.edges[:, nodes[self.edges].all(0)]
        return GraphBatch(self.labels[nodes], place[edges], ends[self.ptr])


class GraphTable:
    """Many graphs in four arrays, read by mapping their file into memory."""

    def __init__(
        self,
        labels: NDArray[np.int32],
        edges: NDArray[np.int32],
        node_ptr: NDArray[np.int64],
        edge_ptr: NDArray[np.int64],
    ) -> None:
        self.labels, self.edges = labels, edges
        self._node_ptr, self._edge_ptr = node_ptr, edge_ptr

    @classmethod
    def read(cls, path: Path) -> GraphTable:
        """Map the file that :meth:`save` wrote."""
        return cls(**read_arrays(path))

    def save(self, path: Path) -> int:
        """Write it to a file and return the bytes."""
        return write_arrays(
            path,
            {
                "labels": self.labels,
                "edges": self.edges,
                "node_ptr": self._node_ptr,
                "edge_ptr": self._edge_ptr,
            },
        )

    def __len__(self) -> int:
        return len(self._node_ptr) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Nodes of each graph."""
        return np.diff(self._node_ptr)

    def take(self, chosen: NDArray[np.int64]) -> GraphBatch:
        """Put the graphs with these numbers beside each other."""
        sizes, edges = self.sizes[chosen], np.diff(self._edge_ptr)[chosen]
        ptr = np.concatenate([[0], np.cumsum(sizes)])
        nodes = spread_ranges(self._node_ptr[chosen], sizes)
        rows = spread_ranges(self._edge_ptr[chosen], edges)
        shift = np.repeat(ptr[:-1], edges)
        return GraphBatch(
            torch.from_numpy(self.labels[nodes].astype(np.int64)),
            torch.from_numpy(self.edges[rows].T.astype(np.int64) + shift),
            torch.from_numpy(ptr),
        )


class GraphTableBuilder:
    """Takes graphs one by one; their labels get their numbers at the end."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._seen: dict[str, int] = {}
        self._labels, self._edges = array("i"), array("i")
        self._node_ptr, self._edge_ptr = array("q", [0]), array("q", [0])

    def add(self, graph: FormulaGraph) -> None:
        """Append a graph."""
        self.counts.update(graph.nodes)
        for label in graph.nodes:
            self._labels.append(self._seen.setdefault(label, len(self._seen)))
        for source, _, target in graph.edges:
            self._edges.extend((source, target))
        self._node_ptr.append(len(self._labels))
        self._edge_ptr.append(len(self._edges) // 2)

    def finish(self, vocabulary: LabelVocabulary) -> GraphTable:
        """Return the table."""
        numbers = [vocabulary.number(label) for label in self._seen]
        seen = np.array(self._labels, dtype=np.int64)
        edges = np.array(self._edges, dtype=np.int32).reshape(-1, 2)
        return GraphTable(
            np.array(numbers, dtype=np.int32)[seen],
            edges,
            np.array(self._node_ptr),
            np.array(self._edge_ptr),
        )
