"""Where the trees of a formula come from: the store, or its LaTeX.

```
formula_map ── visual id ──> in the store? ── yes ─> the trees of ingestion
                                           └─ no ──> read the LaTeX
```
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from mathamr_kedro.formula import FormulaTree, TreeStore, find_trees
from mathamr_kedro.graph.penman_graph import format_label

_CACHED = 20_000
"""Formulas kept in memory; a few thousand make up most of what posts mention."""


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
        roles = tuple(str(_read_operand(edge)) for edge in roles)
    return TreeLines(
        tuple(map(format_label, tree.nodes)),
        tuple(parent for parent, _, _ in edges),
        roles,
    )


def _read_operand(edge: str) -> int:
    """Return the number of the operand that an edge of an operator tree names.

    >>> [_read_operand(edge) for edge in "09AZaz{"]
    [0, 9, 10, 35, 36, 61, 62]
    """
    code = ord(edge)
    if code < 58:
        return code - 48
    return code - 55 if code < 91 else code - 61


def lay_out_trees(opt: FormulaTree | None, slt: FormulaTree | None) -> FormulaLines:
    """Return both trees as lines of a graph."""
    return FormulaLines(
        lay_out_tree(opt) if opt is not None else None,
        lay_out_tree(slt) if slt is not None else None,
    )


class StoredTrees:
    """Looks trees up in a store, then in LaTeX; remembers the latest formulas."""

    def __init__(self, path: Path | None) -> None:
        self._store = TreeStore(path, read_only=True) if path is not None else None
        self._known: OrderedDict[tuple[str, str], FormulaLines] = OrderedDict()

    def __call__(self, visual_id: str, latex: str) -> FormulaLines:
        """Return the trees of a formula."""
        # Not the visual id only: formulas whose drawing failed share one, too, and
        # have the trees of their own LaTeX.
        key = (visual_id, latex)
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
            return found
        found = self._known[key] = self._find(visual_id, latex)
        if len(self._known) > _CACHED:
            self._known.popitem(last=False)
        return found

    def _find(self, visual_id: str, latex: str) -> FormulaLines:
        found = find_trees(self._store, visual_id, latex)
        return NO_TREES if found is None else lay_out_trees(found.opt, found.slt)
