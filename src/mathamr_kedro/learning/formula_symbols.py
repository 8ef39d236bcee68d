"""What node types and relations mean inside formulas: kinds, and layout trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.formula import SLT_EDGES, find_kind
from mathamr_kedro.graph import RARE_NUMBERS, GraphSchema, PreparedGraphs

_ROOT = "slt"
_KINDS = ("V!", "N!")


class FormulaSymbols(NamedTuple):
    """The numbers of a schema, as far as formulas need them."""

    kind_of: NDArray[np.int64]
    """(T,) the type itself; T for all variables and T + 1 for all numbers."""
    is_layout: NDArray[np.bool_]
    """(F,) forward relations of layout trees, the one to their root among them."""

    @classmethod
    def of_schema(cls, schema: GraphSchema) -> FormulaSymbols:
        """Take all types for different and all edges for layout: no names known."""
        return cls(
            np.arange(schema.num_node_types), np.ones(schema.num_forward, np.bool_)
        )

    @classmethod
    def of_names(cls, types: Sequence[str], roles: Sequence[str]) -> FormulaSymbols:
        """Read kinds and layout edges off the names of types and relations.

        Graphs without layout trees (``formula_mode: opt``) lend those of operators.

        >>> found = FormulaSymbols.of_names(["[UNK]", "V!x", "+", "N!2"], ["n", "slt"])
        >>> found.kind_of.tolist(), found.is_layout.tolist()
        ([0, 4, 2, 5], [True, True])
        """
        names = ["N!" if t in RARE_NUMBERS.values() else find_kind(t) for t in types]
        number = {kind: len(types) + i for i, kind in enumerate(_KINDS)}
        kinds = [number.get(name, i) for i, name in enumerate(names)]
        layout = [role == _ROOT or role in SLT_EDGES for role in roles]
        if _ROOT not in roles:
            layout = [True] * len(roles)
        return cls(np.array(kinds), np.array(layout))

    @classmethod
    def of_graphs(cls, graphs: PreparedGraphs) -> FormulaSymbols:
        """Read them off the vocabularies of prepared graphs."""
        return cls.of_names(graphs.types.types, graphs.relations.roles)
