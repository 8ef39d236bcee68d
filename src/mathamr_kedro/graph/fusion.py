"""Fusion: the trees of the formulas into the AMR, so that nothing is lost.

Thesis 3.1::

    (s / show-01                      (s / show-01
      :ARG1 (f / FORMULA_0))    ──>     :ARG1 (f / FORMULA_0
                                          :opt (F0o0 / U!plus ...)
    FORMULA_1 is missing                  :slt (F0s0 / V!x ...))
                                        :math (F1 / FORMULA_1
                                          :opt ... :slt ...))

A formula has one node, however often the text names it: the second mention is a
re-entrancy. :func:`check_fusion` proves what was built; the stage does it once. Trees
are those of the store, by visual id; if it has none, the LaTeX is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.base.records import Failure, FormulaMention
from mathamr_kedro.formula import FormulaTree, TreeStore, find_trees
from mathamr_kedro.formula.node import OPT_EDGES
from mathamr_kedro.graph.math_graph import (
    MATH_ROLE,
    OPT_ROLE,
    SLT_ROLE,
    MathGraph,
    read_placeholder,
)
from mathamr_kedro.graph.penman_graph import (
    format_label,
    format_math_graph,
    read_math_graph,
    unify_formulas,
)
from mathamr_kedro.graph.penman_records import GraphRecord, number_formulas

_CACHED = 20_000
"""Formulas kept in memory; a few thousand make up most of what posts mention."""

_PREFIX = "F"


class TreeLines(NamedTuple):
    """A tree as a graph takes it up: preorder, one entry per node."""

    atoms: tuple[str, ...]
    parents: tuple[int, ...]
    """Of all nodes but the root: the number of the parent in the tree."""
    roles: tuple[str, ...]
    """Of all nodes but the root: the edge from the parent."""


class FormulaLines(NamedTuple):
    """Both trees of a formula; ``None`` if there is none."""

    opt: TreeLines | None
    slt: TreeLines | None


NO_TREES = FormulaLines(None, None)
TreeLookup: TypeAlias = Callable[[str, str], FormulaLines]
"""Finds the trees of a formula by its visual id, or else by its LaTeX; a formula
without trees has :data:`NO_TREES`."""


def lay_out_tree(tree: FormulaTree) -> TreeLines:
    """Return the nodes and edges of a tree as lines of a graph.

    Edges of operator trees are named by the number of the operand.

    >>> lay_out_tree(FormulaTree.from_string("[U!plus,0[V!x],1[N!1]]"))
    TreeLines(atoms=('U!plus', 'V!x', 'N!1'), parents=(0, 0), roles=('0', '0'))
    """
    edges = tree.edges
    roles = tuple(edge for _, edge, _ in edges)
    if tree.kind == "opt":
        roles = tuple(str(OPT_EDGES.index(edge)) for edge in roles)
    return TreeLines(
        tuple(map(format_label, tree.nodes)),
        tuple(parent for parent, _, _ in edges),
        roles,
    )


def lay_out_trees(opt: FormulaTree | None, slt: FormulaTree | None) -> FormulaLines:
    """Return both trees as lines of a graph."""
    return FormulaLines(
        lay_out_tree(opt) if opt is not None else None,
        lay_out_tree(slt) if slt is not None else None,
    )


class StoredTrees:
    """Looks trees up in a store, then in LaTeX; remembers the latest formulas."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def __call__(self, visual_id: str, latex: str) -> FormulaLines:
        """Return the trees of a formula."""
        # Not by the visual id only: formulas whose drawing failed share one, too, and
        # have the trees of their own LaTeX.
        return self._find(visual_id, latex)

    @cached_property
    def _find(self) -> TreeLookup:
        # Opened where it is used: a connection to the store cannot travel.
        store = TreeStore(self._path, read_only=True) if self._path else None

        @lru_cache(_CACHED)
        def find(visual_id: str, latex: str) -> FormulaLines:
            trees = find_trees(store, visual_id, latex)
            return NO_TREES if trees is None else lay_out_trees(trees.opt, trees.slt)

        return find


def fuse_formulas(amr: MathGraph, formulas: Mapping[int, FormulaLines]) -> MathGraph:
    """Put the trees of formulas below their ``FORMULA_n`` nodes."""
    return _Fusion(amr, formulas).build()


class _Fusion:
    """One graph under construction, in the order of its text."""

    def __init__(self, amr: MathGraph, formulas: Mapping[int, FormulaLines]) -> None:
        self._amr, self._formulas = amr, formulas
        self._prefix = _choose_prefix(amr)
        self._variables: list[str] = []
        self._atoms: list[str] = []
        self._parents: list[int] = []
        self._holders: list[int] = []
        self._roles: list[str] = []
        self._targets: list[int] = []

    def build(self) -> MathGraph:
        """Return the fused graph."""
        amr, formulas = self._amr, self._formulas
        atoms = amr.atoms
        placed: set[int] = set()
        numbers: list[int] = []  # the new number of each node of the AMR

        def define(node: int, parent: int) -> None:
            numbers.append(self._add_node(amr.variables[node], atoms[node], parent))
            if atoms[node][:8] == "FORMULA_":
                number = read_placeholder(atoms[node])
                if number is not None and number in formulas:
                    placed.add(number)
                    self._add_trees(numbers[-1], number)

        define(0, -1)
        for holder, role, target in zip(
            amr.holders, amr.roles, amr.targets, strict=True
        ):
            # Nodes are numbered in the order of the lines that define them.
            is_new = target == len(numbers)
            place = len(self._atoms) if is_new else numbers[target]
            self._add_line(numbers[holder], role, place)
            if is_new:
                define(target, numbers[holder])
        # Formulas that the AMR lost are attached to the root.
        for number in sorted(formulas):
            if number not in placed:
                self._add_line(0, MATH_ROLE, len(self._atoms))
                name = f"{self._prefix}{number}"
                node = self._add_node(name, f"FORMULA_{number}", 0)
                self._add_trees(node, number)
        columns = self._holders, self._roles, self._targets
        return MathGraph.of_columns(
            self._variables, self._atoms, columns, self._parents
        )

    def _add_node(self, variable: str, atom: str, parent: int) -> int:
        self._variables.append(variable)
        self._atoms.append(atom)
        self._parents.append(parent)
        return len(self._atoms) - 1

    def _add_line(self, holder: int, role: str, target: int) -> None:
        self._holders.append(holder)
        self._roles.append(role)
        self._targets.append(target)

    def _add_trees(self, formula: int, number: int) -> None:
        for role, mark, tree in _list_trees(self._formulas[number]):
            first = len(self._atoms)
            name = f"{self._prefix}{number}{mark}"
            holders = [formula, *[first + parent for parent in tree.parents]]
            self._variables += [f"{name}{i}" for i in range(len(tree.atoms))]
            self._atoms += tree.atoms
            self._parents += holders
            self._holders += holders
            self._roles += [role, *tree.roles]
            self._targets += range(first, len(self._atoms))


def _list_trees(formula: FormulaLines) -> list[tuple[str, str, TreeLines]]:
    """Return role from the formula, mark in names, and lines of each tree."""
    trees = (OPT_ROLE, "o", formula.opt), (SLT_ROLE, "s", formula.slt)
    return [(role, mark, tree) for role, mark, tree in trees if tree is not None]


def _choose_prefix(amr: MathGraph) -> str:
    """Return what no name of the AMR begins with, so that no two names are equal."""
    prefix = _PREFIX
    names = [v or a for v, a in zip(amr.variables, amr.atoms, strict=True)]
    while any(name.startswith(prefix) for name in names):
        prefix += _PREFIX
    return prefix


def check_fusion(
    fused: MathGraph, amr: MathGraph, formulas: Mapping[int, FormulaLines]
) -> None:
    """Refuse a fused graph that breaks an invariant.

    It is rooted and connected, every formula is in it once, with whole trees, and
    without them it is the AMR.

    Raises:
        GraphError: which formula, or what else, is not as it should be.
    """
    MathGraph(fused.variables, fused.atoms, fused.lines)
    parts = {part.number: part for part in fused.formulas}
    for number, formula in formulas.items():
        sizes = {mark: len(tree.atoms) for _, mark, tree in _list_trees(formula)}
        part = parts.get(number)
        found = {"o": len(part.opt), "s": len(part.slt)} if part is not None else None
        if found != {"o": 0, "s": 0} | sizes:
            raise GraphError(
                f"Expected FORMULA_{number} in the graph with trees of {sizes!r} nodes "
                f"(got {found!r})"
            )
    if fused.without_formulas() != amr:
        raise GraphError(
            f"Expected the AMR of {amr.num_nodes} nodes below the formulas (got "
            "another graph)"
        )


class FusedGraph(NamedTuple):
    """A math graph whose formulas have their trees."""

    graph: MathGraph
    amr: MathGraph
    formulas: dict[int, FormulaLines]
    unknown: list[int]
    """Of placeholders that the parser invented; they are words in the graph."""


def fuse_graph(
    amr: MathGraph, mentions: Mapping[int, FormulaMention], find_trees: TreeLookup
) -> FusedGraph:
    """Put the trees of its formulas into an AMR graph.

    Args:
        amr: the graph.
        mentions: formulas by ``n`` of ``FORMULA_n``.
        find_trees: e.g. :class:`StoredTrees`.
    """
    amr = unify_formulas(amr)
    formulas = {
        number: find_trees(mention.visual_id, mention.latex)
        for number, mention in mentions.items()
    }
    named = [read_placeholder(a) for a in amr.atoms if a[:8] == "FORMULA_"]
    unknown = sorted({n for n in named if n is not None} - formulas.keys())
    if unknown:
        names = {f"FORMULA_{n}": f"FORMULA-{n}" for n in unknown}
        atoms = [names.get(atom, atom) for atom in amr.atoms]
        amr = MathGraph(amr.variables, atoms, amr.lines)
    return FusedGraph(fuse_formulas(amr, formulas), amr, formulas, unknown)


class FusedRecord(NamedTuple):
    """A record whose graph has the trees of its formulas."""

    graph_id: str
    """Id of the post or of the topic."""
    graph: MathGraph
    post_type: str = "document"
    formula_map: tuple[FormulaMention, ...] = ()
    problems: tuple[Failure, ...] = ()
    """Defects of formulas, without source and place, which the caller knows."""

    @classmethod
    def read(
        cls, record: GraphRecord, find_trees: TreeLookup, check: bool = False
    ) -> FusedRecord:
        """Fuse an AMR record.

        Args:
            record: with the graph as text.
            find_trees: e.g. :class:`StoredTrees`.
            check: prove that fusion kept everything.

        Raises:
            GraphError: the AMR is no graph, or fusion broke an invariant.
        """
        amr = read_math_graph(record.graph)
        fused = fuse_graph(amr, record.formulas(), find_trees)
        if check:
            check_fusion(fused.graph, fused.amr, fused.formulas)
        return cls(
            record.graph_id,
            fused.graph,
            record.post_type,
            record.formula_map,
            _find_notes(record.graph_id, fused),
        )

    def formulas(self) -> dict[int, FormulaMention]:
        """Return the formulas by ``n`` of ``FORMULA_n``."""
        return number_formulas(self.graph_id, self.formula_map)

    @property
    def lost(self) -> tuple[str, ...]:
        """Placeholders of formulas that the parser lost; they hang from the root."""
        parts = self.graph.formulas
        return tuple(f"FORMULA_{part.number}" for part in parts if part.is_lost)

    def write(self) -> GraphRecord:
        """Return the record with its graph as PENMAN text."""
        text = format_math_graph(self.graph)
        return GraphRecord(
            self.graph_id, text, self.post_type, self.formula_map, self.lost
        )


def describe_failure(
    name: str, reason: str, detail: str, kept: bool = False
) -> Failure:
    """Return a failure of the stage, without source and place."""
    return Failure("graph_fusion", "", "", name, reason, detail, kept)


def _find_notes(name: str, fused: FusedGraph) -> tuple[Failure, ...]:
    notes: list[Failure] = []
    bare = [n for n, f in fused.formulas.items() if f.opt is None and f.slt is None]
    if bare:
        detail = f"no tree for {', '.join(f'FORMULA_{n}' for n in bare[:10])}"
        notes.append(describe_failure(name, "formula_without_tree", detail, True))
    if fused.unknown:
        strange = ", ".join(f"FORMULA_{n}" for n in fused.unknown[:10])
        detail = f"not in formula_map: {strange}"
        notes.append(describe_failure(name, "unknown_placeholder", detail, True))
    return tuple(notes)
