r"""How much of two formulas is the same, and up to which names of variables.

::

    asked   \sum_{j=1}^m j^2      found   s = \sum_{k=1}^n k^2
    a part of it is the same, with j -> k, m -> n
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from mathamr_kedro.formula.query_variables import find_renaming
from mathamr_kedro.formula.terms import Term
from mathamr_kedro.formula.tree import FormulaTree

_STRUCTURE = 0.8
"""What structure counts; the names of variables are the rest."""


class Resemblance(NamedTuple):
    """How a formula resembles another one."""

    share: float
    """How much is the same: 1 only for the same operator tree."""
    names: Mapping[str, str] | None = None
    """Variables that differ, by name, if the formula that was asked for is in the other
    one up to them; ``None``: it is not."""
    is_whole: bool = False
    """Whether it is all of the other one; else a part of it."""


def compare_trees(asked: FormulaTree | None, found: FormulaTree | None) -> Resemblance:
    r"""Compare two operator trees.

    The share is Dice's coefficient of their nodes and edges; variables count as equal
    for four fifths of it.

    >>> from mathamr_kedro.formula import trees_from_latex
    >>> trees = [trees_from_latex(latex).opt for latex in (r"\sqrt p", r"\sqrt n")]
    >>> compare_trees(*trees)
    Resemblance(share=0.92, names={'p': 'n'}, is_whole=True)
    """
    if asked is None or found is None:
        return Resemblance(0.0)
    mine, theirs = (Term.list_subtrees(tree)[0] for tree in (asked, found))
    if mine.key == theirs.key:
        return Resemblance(1.0, {}, is_whole=True)
    bags = [[Counter(_list_parts(t, n)) for n in (False, True)] for t in (mine, theirs)]
    plain, named = (_measure_dice(a, b) for a, b in zip(*bags, strict=True))
    share = min(_STRUCTURE * plain + (1 - _STRUCTURE) * named, 0.99)
    renamed = find_renaming(asked, found)
    if renamed is None:
        return Resemblance(share)
    names = {a: b for a, b in renamed.bindings.items() if a != b}
    return Resemblance(share, names, renamed.is_whole)


def _list_parts(term: Term, with_names: bool) -> Iterator[str]:
    """Yield nodes and edges; operands of ordered operators with their place."""
    stack = [term]
    while stack:
        parent = stack.pop()
        label = _name(parent, with_names)
        yield label
        for place, child in enumerate(parent.children):
            where = "" if parent.is_unordered else place
            yield f"{label} {where} {_name(child, with_names)}"
        stack += parent.children


def _name(term: Term, with_names: bool) -> str:
    return "V!" if term.label.startswith("V!") and not with_names else term.label


def _measure_dice(one: Counter[str], other: Counter[str]) -> float:
    return 2 * (one & other).total() / (one.total() + other.total())
