"""Which node of a query matched which node of a formula, on both trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mathamr_kedro.formula import FormulaTree
from mathamr_kedro.systems.formula_rgcn.config import Kind

if TYPE_CHECKING:
    from mathamr_kedro.search.post_vectors import Vectors


@dataclass(frozen=True)
class NodeMatches:
    """The greedy alignment of Eq. 4 in one representation."""

    kind: Kind
    query: FormulaTree
    found: FormulaTree
    partners: tuple[int, ...]
    """Of each query node: its best partner, a node of the found formula."""
    similarities: tuple[float, ...]

    @classmethod
    def align(
        cls,
        kind: Kind,
        query: FormulaTree,
        found: FormulaTree,
        mine: Vectors,
        theirs: Vectors,
    ) -> NodeMatches:
        products = mine @ theirs.T
        return cls(
            kind,
            query,
            found,
            tuple(products.argmax(1).tolist()),
            tuple(products.max(1).tolist()),
        )
