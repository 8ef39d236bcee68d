"""Shared operator graphs as numbers, and views of them to learn from.

::

    x + x·y    U!plus ──► x            labels    7 9 8 10
                 └─► U!times ──► x     source    0 0 2 2        within the graph
                        └──► y         target    1 2 1 3

A :class:`GraphTable` is one file that a machine with torch and numpy can read; a
:class:`GraphBatch` is what the network and the augmentations work on::

    substitution       a leaf (probability p1), the parent of a leaf (p2), its parent
                       (p3) takes a random wildcard and loses what hangs below it
    attribute masking  labels are hidden
    node dropping      nodes go, with their edges                   (GraphCL)
    edge perturbation  edges go, as many come between random nodes  (GraphCL)
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.arrays import read_arrays, spread_ranges, write_arrays
from mathamr_kedro.base.vocabulary import Vocabulary

if TYPE_CHECKING:
    from mathamr_kedro.formula.graphs import FormulaGraph
    from mathamr_kedro.systems.ssemb.config import AugmentationConfig

MASK = 1
"""Number of labels that are hidden."""
WILDCARDS = range(2, 12)
"""Numbers that a wildcard is drawn from: ten, as in the paper."""
_SPECIAL = ("[UNK]", "[MASK]", *(f"[WILDCARD_{n}]" for n in range(len(WILDCARDS))))


def count_labels(counts: Counter[str], min_count: int) -> Vocabulary:
    """List the labels that are frequent enough, and the kinds of the others.

    A label that is too rare is read as its kind: ``N!3.14`` as ``N!``.
    """
    kinds = {_find_kind(label) for label, n in counts.items() if n < min_count}
    kept = {label for label, n in counts.items() if n >= min_count}
    return Vocabulary([*_SPECIAL, *sorted(kept | kinds)], _find_kind)


def read_labels(path: Path) -> Vocabulary:
    """Read labels that were saved."""
    return Vocabulary.load(path, _find_kind)


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
        """Return the part over the nodes of a mask, renumbered."""
        place = nodes.cumsum(0) - 1
        ends = torch.cat([nodes.new_zeros(1, dtype=torch.int64), nodes.cumsum(0)])
        edges = self.edges[:, nodes[self.edges].all(0)]
        return GraphBatch(self.labels[nodes], place[edges], ends[self.ptr])


@dataclass(frozen=True, eq=False)
class GraphTable:
    """Many graphs in four arrays."""

    labels: NDArray[np.int32]
    edges: NDArray[np.int32]
    """(E, 2) within each graph."""
    node_ptr: NDArray[np.int64]
    edge_ptr: NDArray[np.int64]

    @classmethod
    def read(cls, path: Path) -> GraphTable:
        """Map the file that :meth:`save` wrote."""
        return cls(**read_arrays(path))

    def save(self, path: Path) -> None:
        """Write it to a file."""
        write_arrays(path, vars(self))

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    def take(self, chosen: NDArray[np.int64]) -> GraphBatch:
        """Put the graphs with these numbers beside each other."""
        sizes, edges = (np.diff(p)[chosen] for p in (self.node_ptr, self.edge_ptr))
        ptr = np.concatenate([[0], np.cumsum(sizes)])
        nodes = spread_ranges(self.node_ptr[chosen], sizes)
        rows = spread_ranges(self.edge_ptr[chosen], edges)
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

    def finish(self, vocabulary: Vocabulary) -> GraphTable:
        """Return the table."""
        numbers = [vocabulary.find(label) for label in self._seen]
        return GraphTable(
            np.array(numbers, dtype=np.int32)[np.array(self._labels, dtype=np.int64)],
            np.array(self._edges, dtype=np.int32).reshape(-1, 2),
            np.array(self._node_ptr),
            np.array(self._edge_ptr),
        )


class Draws(NamedTuple):
    """Numbers drawn for one view of a batch, uniform between 0 and 1.

    They are drawn before they are used, so that a slow twin can see the same.
    """

    substitution: Tensor
    """(orders, N) a node is chosen in an order if it is below the probability."""
    wildcard: Tensor
    """(N,) which wildcard the node would take."""
    masking: Tensor
    """(N,)"""
    dropping: Tensor
    """(N,)"""
    perturbation: Tensor
    """(E,)"""
    ends: Tensor
    """(2, E) both ends of the edge that would come instead."""

    @classmethod
    def draw(cls, batch: GraphBatch, orders: int, chance: torch.Generator) -> Draws:
        """Draw on the CPU, so that every device sees the same views."""
        nodes, edges = len(batch.labels), batch.edges.shape[1]
        shapes = ((orders, nodes), nodes, nodes, nodes, edges, (2, edges))
        device = batch.labels.device
        return cls(*(torch.rand(s, generator=chance).to(device) for s in shapes))


def make_view(
    batch: GraphBatch, config: AugmentationConfig, draws: Draws
) -> GraphBatch:
    """Return the graphs as they look after all augmentations of a configuration."""
    labels, stays = _substitute(batch, config.substitution, draws)
    labels = labels.masked_fill(draws.masking < config.attribute_masking, MASK)
    kept = _find_reachable(batch._replace(edges=batch.edges[:, stays]))
    if config.node_dropping:
        dropped = draws.dropping < config.node_dropping
        dropped[batch.ptr[:-1]] = False  # no graph loses all of its nodes
        kept &= ~dropped
    moved = draws.perturbation < config.edge_perturbation
    edges = torch.where(moved, _draw_edges(batch, draws.ends), batch.edges)
    return GraphBatch(labels, edges[:, stays], batch.ptr).keep(kept)


def _substitute(
    batch: GraphBatch, probabilities: tuple[float, ...], draws: Draws
) -> tuple[Tensor, Tensor]:
    """(N,) labels with wildcards, and (E,) which edges do not start at one."""
    parents, children = batch.edges
    level = torch.ones_like(batch.labels, dtype=torch.bool)
    level[parents] = False  # leaves
    chosen = torch.zeros_like(level)
    for probability, drawn in zip(probabilities, draws.substitution, strict=True):
        chosen |= level & (drawn < probability)
        above = torch.zeros_like(level)
        above[parents[level[children]]] = True
        level = above
    wildcard = WILDCARDS.start + (draws.wildcard * len(WILDCARDS)).long()
    return torch.where(chosen, wildcard, batch.labels), ~chosen[parents]


def _find_reachable(batch: GraphBatch) -> Tensor:
    """(N,) whether a path leads from the root of its graph to a node."""
    parents, children = batch.edges
    reached = torch.zeros_like(batch.labels, dtype=torch.bool)
    reached[batch.ptr[:-1]] = True
    while True:  # once for each level of the deepest graph
        further = reached.clone()
        further[children[reached[parents]]] = True
        if torch.equal(further, reached):
            return reached
        reached = further


def _draw_edges(batch: GraphBatch, ends: Tensor) -> Tensor:
    """(2, E) an edge between two nodes of the same graph in place of each edge."""
    graph = batch.graph_of[batch.edges[0]]
    return batch.ptr[graph] + (ends * batch.ptr.diff()[graph]).long()
