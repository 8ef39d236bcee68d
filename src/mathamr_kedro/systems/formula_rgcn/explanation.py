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

from mathamr_kedro.formula import FormulaTree, draw_svg, draw_text
from mathamr_kedro.formula.node import Node
from mathamr_kedro.systems.formula_rgcn.config import Kind
from mathamr_kedro.systems.formula_rgcn.encoder import Vectors

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
        vectors: Sequence[Vectors],
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
        parts = [self.title, *lines]
        for name, tree in self._mark():
            parts += ["", f"{name}:", draw_text(tree)]
        return "\n".join(parts)

    @staticmethod
    def draw(all_matches: Sequence[NodeMatches]) -> str:
        """Return all trees with their matches as one SVG picture."""
        return draw_svg(
            [
                (f"{matches.title}: {name}", tree)
                for matches in all_matches
                for name, tree in matches._mark()
            ]
        )

    def _mark(self) -> tuple[tuple[str, FormulaTree], tuple[str, FormulaTree]]:
        asked = [f" ·{i + 1} {s:.2f}" for i, s in enumerate(self.similarities)]
        chosen: list[list[str]] = [[] for _ in self.found.nodes]
        for place, partner in enumerate(self.partners):
            chosen[partner].append(str(place + 1))
        marks = [f" ·{','.join(numbers)}" if numbers else "" for numbers in chosen]
        return ("query", _relabel(self.query, asked)), (
            "found",
            _relabel(self.found, marks),
        )


def _relabel(tree: FormulaTree, marks: Sequence[str]) -> FormulaTree:
    """Return the tree with a mark behind the label of each node."""
    labels = [label + mark for label, mark in zip(tree.nodes, marks, strict=True)]
    children: list[list[tuple[str, int]]] = [[] for _ in labels]
    for parent, edge, child in tree.edges:
        children[parent].append((edge, child))
    nodes: dict[int, Node] = {}
    for place in reversed(range(len(labels))):  # children stand behind their parents
        below = [(edge, nodes[child]) for edge, child in children[place]]
        if tree.kind == "opt":  # unordered operands share one name
            nodes[place] = Node.operator(labels[place], [node for _, node in below])
            continue
        nodes[place] = Node(labels[place])
        nodes[place].edges = dict(below)
    return FormulaTree(tree.kind, nodes[0])
