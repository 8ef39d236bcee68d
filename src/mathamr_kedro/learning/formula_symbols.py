"""What node types and relations mean inside formulas: kinds, and the two trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.formula import SLT_EDGES, find_kind
from mathamr_kedro.graph import RARE_NUMBERS, GraphSchema, PreparedGraphs
from mathamr_kedro.graph.math_graph import MATH_ROLE, OPT_ROLE, SLT_ROLE

_KINDS = ("V!", "N!")
_ARGUMENTS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Edges of operator trees, by the number of the argument; further ones are rare, and
named as edges of layout trees are."""


class FormulaSymbols(NamedTuple):
    """The numbers of a schema, as far as formulas need them."""

    kind_of: NDArray[np.int64]
    """(T,) the type itself; T for all variables and T + 1 for all numbers."""
    is_layout: NDArray[np.bool_]
    """(F,) forward relations of layout trees, the one to their root among them."""
    is_operator: NDArray[np.bool_]
    """(F,) the same of operator trees."""

    @classmethod
    def of_schema(cls, schema: GraphSchema) -> FormulaSymbols:
        """Take all types for different, all edges for those of both: no names known."""
        every = np.ones(schema.num_forward, np.bool_)
        return cls(np.arange(schema.num_node_types), every, every)

    @classmethod
    def of_names(cls, types: Sequence[str], roles: Sequence[str]) -> FormulaSymbols:
        """Read kinds and layout edges off the names of types and relations.

        Graphs without layout trees (``formula_mode: opt``) lend those of operators.

        >>> roles = ["n", "slt", "0", "opt", "ARG1"]
        >>> found = FormulaSymbols.of_names(["[UNK]", "V!x", "+", "N!2"], roles)
        >>> found.kind_of.tolist(), found.is_layout.tolist()
        ([0, 4, 2, 5], [True, True, False, False, False])
        >>> found.is_operator.tolist()
        [False, False, True, True, False]
        """
        names = ["N!" if t in RARE_NUMBERS.values() else find_kind(t) for t in types]
        number = {kind: len(types) + i for i, kind in enumerate(_KINDS)}
        kinds = [number.get(name, i) for i, name in enumerate(names)]
        layout = [role == SLT_ROLE or role in SLT_EDGES for role in roles]
        operator = [role in (OPT_ROLE, MATH_ROLE, *_ARGUMENTS) for role in roles]
        if SLT_ROLE not in roles:
            layout = [True] * len(roles)
        return cls(np.array(kinds), np.array(layout), np.array(operator))

    def turn_to_operators(self) -> FormulaSymbols:
        """Return them with operator trees in place of layout trees."""
        return self._replace(is_layout=self.is_operator)

    @classmethod
    def of_graphs(cls, graphs: PreparedGraphs) -> FormulaSymbols:
        """Read them off the vocabularies of prepared graphs."""
        return cls.of_names(graphs.types.names, graphs.relations.names)
