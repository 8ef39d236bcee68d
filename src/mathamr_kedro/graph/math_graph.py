"""Math graphs: an AMR whose formulas carry their operator and layout trees.

"`x + 1` is even", drawn, as PENMAN text, and as a :class:`MathGraph` holds it::

    e: even-01 ──ARG1── f: FORMULA_0 ─┬─opt── U!plus ─┬─0── V!x
                                      │               └─0── N!1
                                      └─slt── V!x ──n── + ──n── N!1

    (e / even-01                             number  variable  atom       line
      :ARG1 (f / FORMULA_0                     0     e         even-01
        :opt (F0o0 / U!plus                    1     f         FORMULA_0  (0, ARG1, 1)
          :0 (F0o1 / V!x)                      2     F0o0      U!plus     (1, opt, 2)
          :0 (F0o2 / N!1))                     3     F0o1      V!x        (2, 0, 3)
        :slt (F0s0 / V!x                       4     F0o2      N!1        (2, 0, 4)
          :n (F0s1 / +                         5     F0s0      V!x        (1, slt, 5)
            :n (F0s2 / N!1)))))                6     F0s1      +          (5, n, 6)
                                               7     F0s2      N!1        (6, n, 7)

Nodes are numbered in the order of the text, lines are kept as they are written: an
inverted role (``:ARG1-of``) is turned round only by :meth:`MathGraph.edges`. A constant
(``:polarity -``) is a node without a variable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple, TypeAlias

from mathamr_kedro.base.errors import GraphError

Line: TypeAlias = tuple[int, str, int]
"""Node that holds the line, role as written (without colon), node it points to."""

Triple: TypeAlias = tuple[int, str, int]
"""Source, role, target; never inverted."""

OPT_ROLE, SLT_ROLE, MATH_ROLE = "opt", "slt", "math"
"""From a formula to its trees, and from the root to a formula that the AMR lost."""

_TREE_ROLES = frozenset({OPT_ROLE, SLT_ROLE, MATH_ROLE})
_PLACEHOLDER = re.compile(r'"?FORMULA_(\d+)"?')
# Roles whose name ends like that of an inverted one (AMR's own list).
_NOT_INVERTED = frozenset({"consist-of", "prep-on-behalf-of", "prep-out-of"})


class FormulaPart(NamedTuple):
    """The place of a formula in a graph."""

    number: int
    """``n`` of ``FORMULA_n``."""
    node: int
    opt: range
    """Nodes of its operator tree, the root first; empty if there is none."""
    slt: range
    is_lost: bool
    """Whether the AMR lost it, so that it hangs from the root by ``:math``."""


class MathGraph:
    """A rooted, connected graph in the order of its PENMAN text; a value.

    Args:
        variables: of each node; empty for constants. Node 0 is the root.
        atoms: concept or constant of each node, as PENMAN writes it.
        lines: in the order of the text; the first line that points to a node defines
            it, so the nodes are defined in ascending order.

    Raises:
        GraphError: the lines are not in the order of a text.
    """

    variables: Sequence[str]
    atoms: Sequence[str]
    holders: Sequence[int]
    roles: Sequence[str]
    targets: Sequence[int]
    """The three parts of the lines."""
    parents: list[int]
    """Node below which each node is defined; -1 for the root."""

    def __init__(
        self, variables: Sequence[str], atoms: Sequence[str], lines: Sequence[Line]
    ) -> None:
        self.variables, self.atoms = variables, atoms
        self.holders = [holder for holder, _, _ in lines]
        self.roles = [role for _, role, _ in lines]
        self.targets = [target for _, _, target in lines]
        self.parents = self._find_parents()

    @classmethod
    def of_columns(
        cls,
        variables: Sequence[str],
        atoms: Sequence[str],
        columns: tuple[Sequence[int], Sequence[str], Sequence[int]],
        parents: list[int],
        ends: list[int] | None = None,
    ) -> MathGraph:
        """Return the graph that a reader has found in the order of a text.

        Nothing is checked: the order of the text is known to be right.
        """
        graph = cls.__new__(cls)
        graph.variables, graph.atoms = variables, atoms
        graph.holders, graph.roles, graph.targets = columns
        graph.parents = parents
        if ends is not None:
            graph.ends = ends
        return graph

    @property
    def lines(self) -> list[Line]:
        """The lines of the text."""
        return list(zip(self.holders, self.roles, self.targets, strict=True))

    def _find_parents(self) -> list[int]:
        """Return the node below which each node is defined; -1 for the root."""
        parents = [-1]
        path = [0]
        for holder, target in zip(self.holders, self.targets, strict=True):
            while path and path[-1] != holder:
                path.pop()
            if not path or target > len(parents):
                raise GraphError(
                    f"Expected lines in the order of a text (got one from node "
                    f"{holder} to {target} after {len(parents)} nodes)"
                )
            if target == len(parents):
                parents.append(holder)
                path.append(target)
        if not len(self.atoms) == len(self.variables) == len(parents):
            raise GraphError(
                f"Expected every node to hang from the root {self.atoms[:1]!r} (got "
                f"{len(self.atoms)} nodes, {len(parents)} defined by lines)"
            )
        return parents

    @property
    def num_nodes(self) -> int:
        """Nodes, constants among them."""
        return len(self.atoms)

    @property
    def num_edges(self) -> int:
        """Edges, those to constants among them."""
        return len(self.roles)

    @cached_property
    def ends(self) -> list[int]:
        """One past the last node that is defined below each node (or is it)."""
        ends = list(range(1, len(self.parents) + 1))
        for node in range(len(ends) - 1, 0, -1):
            parent = self.parents[node]
            ends[parent] = max(ends[parent], ends[node])
        return ends

    def edges(self) -> list[Triple]:
        """Return the edges, inverted roles turned round.

        >>> lines = [(0, "ARG1-of", 1)]
        >>> MathGraph(["f", "p"], ["FORMULA_0", "prove-01"], lines).edges()
        [(1, 'ARG1', 0)]
        """
        variables = self.variables
        return [
            (target, role[:-3], holder)
            if role[-3:] == "-of" and is_inverted(role) and variables[target]
            else (holder, role, target)
            for holder, role, target in zip(
                self.holders, self.roles, self.targets, strict=True
            )
        ]

    @cached_property
    def formulas(self) -> list[FormulaPart]:
        """The formulas of the graph by ascending number.

        Raises:
            GraphError: a placeholder is at two nodes.
        """
        nodes: dict[int, int] = {}
        atoms = self.atoms
        for node in [n for n, atom in enumerate(atoms) if atom[:8] == "FORMULA_"]:
            number = read_placeholder(atoms[node])
            if number is None or not self.variables[node]:
                continue
            if number in nodes:
                raise GraphError(f"Expected one node for {atoms[node]!r} (got two)")
            nodes[number] = node
        return self._find_parts(nodes)

    def _find_parts(self, nodes: dict[int, int]) -> list[FormulaPart]:
        if not nodes:
            return []
        owners = set(nodes.values())
        opt: dict[int, range] = {}
        slt: dict[int, range] = {}
        lost: set[int] = set()
        for line in [n for n, role in enumerate(self.roles) if role in _TREE_ROLES]:
            holder, role, target = (
                self.holders[line], self.roles[line], self.targets[line],
            )  # fmt: skip
            if role == MATH_ROLE:
                if holder == 0:
                    lost.add(target)
            elif holder in owners:
                trees = slt if role == SLT_ROLE else opt
                trees[holder] = range(target, self.ends[target])
        none = range(0)
        return [
            FormulaPart(
                number, node, opt.get(node, none), slt.get(node, none), node in lost
            )
            for number, node in sorted(nodes.items())
        ]

    def without_formulas(self) -> MathGraph:
        """Return the AMR: without trees, and without what hangs by ``:math``."""
        gone = bytearray(self.num_nodes)
        for part in self.formulas:
            trees = (part.opt, part.slt, range(part.node, part.node + part.is_lost))
            for nodes in trees:
                gone[nodes.start : nodes.stop] = b"\x01" * len(nodes)
        return self.take([node for node in range(self.num_nodes) if not gone[node]])

    def take(self, nodes: Sequence[int]) -> MathGraph:
        """Return the graph of some nodes, ascending, and of the lines between them."""
        numbers = dict(zip(nodes, range(len(nodes)), strict=True))
        return MathGraph(
            [self.variables[node] for node in nodes],
            [self.atoms[node] for node in nodes],
            [
                (numbers[holder], role, numbers[target])
                for holder, role, target in self.lines
                if holder in numbers and target in numbers
            ],
        )

    def _as_value(self) -> tuple[tuple[object, ...], ...]:
        return tuple(self.variables), tuple(self.atoms), tuple(self.lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MathGraph) and self._as_value() == other._as_value()

    def __hash__(self) -> int:
        return hash(self._as_value())

    def __repr__(self) -> str:
        return f"MathGraph({self.atoms[0]!r}, {self.num_nodes} nodes)"


def is_inverted(role: str) -> bool:
    """Tell whether a role points from its target to its holder.

    >>> [is_inverted(role) for role in ("ARG0-of", "ARG0", "consist-of")]
    [True, False, False]
    """
    return role.endswith("-of") and role not in _NOT_INVERTED


def read_placeholder(atom: str) -> int | None:
    """Return ``n`` for ``FORMULA_n``, bare or quoted, else ``None``.

    >>> read_placeholder("FORMULA_12"), read_placeholder("formula")
    (12, None)
    """
    match = _PLACEHOLDER.fullmatch(atom)
    return int(match[1]) if match else None
