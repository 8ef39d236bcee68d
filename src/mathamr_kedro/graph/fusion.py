"""Fusion: the trees of the formulas into the AMR, so that nothing is lost.

``mathamr_plus`` (thesis 3.1)::

    (s / show-01                      (s / show-01
      :ARG1 (f / FORMULA_0))    ──>     :ARG1 (f / FORMULA_0
                                          :opt (F0o0 / U!plus ...)
    FORMULA_1 is missing                  :slt (F0s0 / V!x ...))
                                        :math (F1 / FORMULA_1
                                          :opt ... :slt ...))

``mathamr`` (Mansouri, Oard and Zanibbi 2022) has operator trees alone, below ``:math``,
their edges renamed to ``:op0``, ``:op1``, ...

A formula has one node, however often the text names it: the second mention is a
re-entrancy. :func:`fuse_formulas` checks what it built, see :func:`check_fusion`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from mathamr_kedro.amr import AMRGraph, Attribute, Edge
from mathamr_kedro.errors import GraphError
from mathamr_kedro.graph.math_graph import (
    MATH_ROLE,
    OPT_ROLE,
    SLT_ROLE,
    Line,
    MathGraph,
    read_placeholder,
)
from mathamr_kedro.graph.penman_graph import from_amr
from mathamr_kedro.graph.tree_lookup import FormulaLines, TreeLines

FusionMode: TypeAlias = Literal["mathamr_plus", "mathamr"]

_PREFIX = "F"


class _Tree(NamedTuple):
    """A tree on its way into the graph: role from the formula, mark, role prefix."""

    role: str
    mark: str
    edge_prefix: str
    lines: TreeLines


def fuse_formulas(
    amr: MathGraph,
    formulas: Mapping[int, FormulaLines],
    mode: FusionMode = "mathamr_plus",
) -> MathGraph:
    """Put the trees of formulas below their ``FORMULA_n`` nodes.

    Args:
        amr: the graph of the text; see :func:`unify_formulas`.
        formulas: trees of all formulas of the text by ``n``.
        mode: see above.

    Raises:
        GraphError: what was built breaks an invariant.
    """
    fused = _Fusion(amr, formulas, mode).build()
    check_fusion(fused, amr, formulas, mode)
    return fused


class _Fusion:
    """One graph under construction, in the order of its text."""

    def __init__(
        self, amr: MathGraph, formulas: Mapping[int, FormulaLines], mode: FusionMode
    ) -> None:
        self._amr, self._formulas, self._mode = amr, formulas, mode
        self._prefix = _choose_prefix(amr)
        self._variables: list[str] = []
        self._atoms: list[str] = []
        self._lines: list[Line] = []

    def build(self) -> MathGraph:
        """Return the fused graph."""
        amr, formulas = self._amr, self._formulas
        atoms = amr.atoms
        placed: set[int] = set()
        numbers: list[int] = []  # where each node of the AMR stands now

        def define(node: int) -> None:
            numbers.append(self._add_node(amr.variables[node], atoms[node]))
            if atoms[node][:8] == "FORMULA_":
                number = read_placeholder(atoms[node])
                if number is not None and number in formulas:
                    placed.add(number)
                    self._add_trees(numbers[-1], number)

        define(0)
        for holder, role, target in amr.lines:
            is_new = target == len(numbers)
            place = len(self._atoms) if is_new else numbers[target]
            self._lines.append((numbers[holder], role, place))
            if is_new:
                define(target)
        for number in sorted(formulas):
            if number not in placed:
                self._lines.append((0, MATH_ROLE, len(self._atoms)))
                node = self._add_node(f"{self._prefix}{number}", f"FORMULA_{number}")
                self._add_trees(node, number)
        return MathGraph(self._variables, self._atoms, self._lines)

    def _add_node(self, variable: str, atom: str) -> int:
        self._variables.append(variable)
        self._atoms.append(atom)
        return len(self._atoms) - 1

    def _add_trees(self, formula: int, number: int) -> None:
        for role, mark, edge_prefix, tree in _list_trees(
            self._formulas[number], self._mode
        ):
            first = len(self._atoms)
            name = f"{self._prefix}{number}{mark}"
            self._variables += [f"{name}{i}" for i in range(len(tree.atoms))]
            self._atoms += tree.atoms
            self._lines.append((formula, role, first))
            self._lines += [
                (first + parent, edge_prefix + edge, child)
                for child, (parent, edge) in enumerate(
                    zip(tree.parents, tree.roles, strict=True), start=first + 1
                )
            ]


def _list_trees(formula: FormulaLines, mode: FusionMode) -> list[_Tree]:
    trees: list[_Tree] = []
    if formula.opt is not None:
        role, edges = (MATH_ROLE, "op") if mode == "mathamr" else (OPT_ROLE, "")
        trees.append(_Tree(role, "o", edges, formula.opt))
    if formula.slt is not None and mode == "mathamr_plus":
        trees.append(_Tree(SLT_ROLE, "s", "", formula.slt))
    return trees


def _choose_prefix(amr: MathGraph) -> str:
    """Return what no name of the AMR begins with, so that no two names are equal."""
    prefix = _PREFIX
    names = [v or a for v, a in zip(amr.variables, amr.atoms, strict=True)]
    while any(name.startswith(prefix) for name in names):
        prefix += _PREFIX
    return prefix


def remove_formulas(fused: MathGraph) -> MathGraph:
    """Return the AMR: the graph without trees and without what hangs by ``:math``."""
    gone = bytearray(fused.num_nodes)
    for part in fused.formulas:
        trees = (part.opt, part.slt, range(part.node, part.node + part.is_lost))
        for nodes in trees:
            gone[nodes.start : nodes.stop] = b"\x01" * len(nodes)
    kept = [node for node in range(fused.num_nodes) if not gone[node]]
    numbers = dict(zip(kept, range(len(kept)), strict=True))
    return MathGraph(
        [fused.variables[node] for node in kept],
        [fused.atoms[node] for node in kept],
        [
            (numbers[holder], role, numbers[target])
            for holder, role, target in fused.lines
            if not gone[holder] and not gone[target]
        ],
    )


def check_fusion(
    fused: MathGraph,
    amr: MathGraph,
    formulas: Mapping[int, FormulaLines],
    mode: FusionMode = "mathamr_plus",
) -> None:
    """Refuse a fused graph that breaks an invariant.

    That it is rooted and connected a :class:`MathGraph` makes sure itself. Here: every
    formula stands in it once, with whole trees, and without them it is the AMR.

    Raises:
        GraphError: which formula, or what else, is not as it should be.
    """
    parts = {part.number: part for part in fused.formulas}
    for number, formula in formulas.items():
        sizes = {
            tree.mark: len(tree.lines.atoms) for tree in _list_trees(formula, mode)
        }
        part = parts.get(number)
        found = {"o": len(part.opt), "s": len(part.slt)} if part is not None else None
        if found != {"o": 0, "s": 0} | sizes:
            raise GraphError(
                f"Expected FORMULA_{number} in the graph with trees of {sizes!r} nodes "
                f"(got {found!r})"
            )
    if remove_formulas(fused) != amr:
        raise GraphError(
            f"Expected the AMR of {amr.num_nodes} nodes below the formulas (got "
            "another graph)"
        )


def unify_formulas(amr: MathGraph) -> MathGraph:
    """Give each placeholder one node, where a parser made two or a constant of it.

    ```
    (a / and :op1 (f / FORMULA_0) :op2 (g / FORMULA_0))    two nodes
    (a / and :op1 (f / FORMULA_0) :op2 f)                  a re-entrancy
    ```
    """
    places: dict[int, list[int]] = {}
    for node, atom in enumerate(amr.atoms):
        if "FORMULA_" in atom:
            number = read_placeholder(atom)
            if number is not None:
                places.setdefault(number, []).append(node)
    if all(len(p) == 1 and amr.variables[p[0]] for p in places.values()):
        return amr
    return from_amr(_join_nodes(amr, list(places.values())))


def _join_nodes(amr: MathGraph, groups: Sequence[Sequence[int]]) -> AMRGraph:
    taken = {v or a for v, a in zip(amr.variables, amr.atoms, strict=True)}
    names = list(amr.variables)
    atoms = list(amr.atoms)
    for group in groups:
        number = read_placeholder(atoms[group[0]])
        name = next((names[node] for node in group if names[node]), "")
        if not name:
            name = f"f{number}"
            while name in taken:
                name += "f"
        for node in group:
            names[node], atoms[node] = name, f"FORMULA_{number}"
    nodes = {v: atom for v, atom in zip(names, atoms, strict=True) if v}
    edges = [(names[s], role, t) for s, role, t in amr.edges()]
    joined = [Edge(s, role, names[t]) for s, role, t in edges if names[t]]
    return AMRGraph(
        names[0],
        nodes,
        [edge for edge in dict.fromkeys(joined) if edge.source != edge.target],
        [Attribute(s, role, atoms[t]) for s, role, t in edges if not names[t]],
    )
