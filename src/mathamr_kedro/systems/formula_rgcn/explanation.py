"""Which node of a query matched which node of a formula, drawn on both trees.

::

    query       U!plus ·1 0.97       found   U!minus ·1,4
                ├─0─ V!x ·2 1.00             ├─0─ V!x ·2
                ...                          ...

Nodes of the query are numbered and show how near their partner is; a node of the found
formula shows whose partner it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from mathamr_kedro.formula import FormulaTree, draw_svg, draw_text
from mathamr_kedro.formula.node import Node
from mathamr_kedro.systems.formula_rgcn.config import Kind

_NAMES = {"slg": "Symbol Layout Tree", "opg": "Operator Tree"}


@dataclass(frozen=True)
class NodeMatches:
    """The greedy alignment of Eq. 4 in one representation."""

    kind: Kind
    query: FormulaTree
    found: FormulaTree
    partners: tuple[int, ...]
    """Of each query node: its best partner, a node of the found formula."""
    similarities: tuple[float, ...]
    """Their cosines, whose sum is the score."""

    @classmethod
    def align(
        cls,
        kind: Kind,
        trees: tuple[FormulaTree, FormulaTree],
        vectors: Sequence[NDArray[Any]],
    ) -> NodeMatches:
        """Match the nodes of a query and of a found formula by their vectors."""
        mine, theirs = vectors
        products = mine @ theirs.T
        partners, best = products.argmax(1), products.max(1)
        return cls(kind, *trees, tuple(partners.tolist()), tuple(best.tolist()))

    @property
    def score(self) -> float:
        """Eq. 4."""
        return sum(self.similarities)

    @property
    def mean(self) -> float:
        """Eq. 4 over the number of query nodes."""
        return self.score / len(self.partners)

    @property
    def title(self) -> str:
        """Name of the trees, and their score."""
        return (
            f"{_NAMES[self.kind]}: {self.mean:.4f}, the mean over "
            f"{len(self.partners)} query nodes"
        )

    def describe(self) -> str:
        """Return both trees with their matches as lines of text."""
        pairs = zip(self.partners, self.similarities, strict=True)
        mine, theirs = self.query.nodes, self.found.nodes
        lines = [
            f"{similarity:8.4f}  ·{place + 1} {mine[place]}  ~  {theirs[partner]}"
            for place, (partner, similarity) in enumerate(pairs)
        ]
        drawn = [f"\n{name}:\n{draw_text(tree)}" for name, tree in self._label()]
        return "\n".join([self.title, *lines, *drawn])

    @staticmethod
    def draw(all_matches: Sequence[NodeMatches]) -> str:
        """Return all trees with their matches as one SVG picture."""
        return draw_svg(
            [
                (f"{matches.title}: {name}", tree)
                for matches in all_matches
                for name, tree in matches._label()
            ]
        )

    def _label(self) -> list[tuple[str, FormulaTree]]:
        asked = [f" ·{i + 1} {s:.2f}" for i, s in enumerate(self.similarities)]
        chosen: list[list[str]] = [[] for _ in self.found.nodes]
        for place, partner in enumerate(self.partners):
            chosen[partner].append(str(place + 1))
        notes = [f" ·{','.join(numbers)}" if numbers else "" for numbers in chosen]
        trees = {"query": (self.query, asked), "found": (self.found, notes)}
        return [(name, _relabel(*noted)) for name, noted in trees.items()]


def _relabel(tree: FormulaTree, notes: Sequence[str]) -> FormulaTree:
    """Return the tree with a note behind the label of each node."""
    labels = [label + note for label, note in zip(tree.nodes, notes, strict=True)]
    children: list[list[tuple[str, int]]] = [[] for _ in labels]
    for parent, edge, child in tree.edges:
        children[parent].append((edge, child))
    nodes: dict[int, Node] = {}
    for place in reversed(range(len(labels))):  # children come behind their parents
        below = [(edge, nodes[child]) for edge, child in children[place]]
        if tree.kind == "opt":  # unordered operands share one name
            nodes[place] = Node.operator(labels[place], [node for _, node in below])
            continue
        nodes[place] = Node(labels[place])
        nodes[place].edges = dict(below)
    return FormulaTree(tree.kind, nodes[0])
