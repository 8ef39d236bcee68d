r"""LaTeX to both formula trees, without any program beside Python.

>>> trees = trees_from_latex(r"\frac{a}{2}")
>>> trees.slt.to_string(), trees.opt.to_string()
('[O!divide,o[V!a],u[N!2]]', '[O!divide,0[V!𝑎],1[N!2]]')
>>> trees_from_latex(r"\foo + 1").problems
{'undefined:\\foo': 1}
"""

from __future__ import annotations

from typing import NamedTuple

from mathamr_kedro.formula.latex.commands import list_entries
from mathamr_kedro.formula.latex.layout_tree import build_slt
from mathamr_kedro.formula.latex.macros import ExpansionLimitError, expand_macros
from mathamr_kedro.formula.latex.nodes import Item
from mathamr_kedro.formula.latex.operator_tree import build_opt
from mathamr_kedro.formula.latex.reader import Reader, TooDeepError
from mathamr_kedro.formula.latex.tokens import END, clean_source, split_tokens
from mathamr_kedro.formula.tree import FormulaTree

__all__ = ["LONGEST", "LatexTrees", "trees_from_latex"]

LONGEST = 20_000
"""Characters a formula may have."""

_NOTHING = frozenset({END})


class LatexTrees(NamedTuple):
    """Both trees of a formula, and what stood in the way."""

    slt: FormulaTree | None
    """Symbol Layout Tree; None if the formula is empty or beyond the limits."""
    opt: FormulaTree | None
    """Operator Tree; None where the other is."""
    problems: dict[str, int]
    """Reasons and how often each was met, e.g. ``{"unparsed": 1}``."""

    @property
    def deviations(self) -> tuple[str, ...]:
        """The problems as reasons, one per event."""
        return tuple(r for r, count in self.problems.items() for _ in range(count))


def trees_from_latex(latex: str) -> LatexTrees:
    r"""Return the Symbol Layout Tree and the Operator Tree of a formula.

    The trees are those of LaTeXML 0.8.7 and the published converters for formulas that
    both can read. This function never raises: what it cannot read becomes an error
    node, and formulas that are empty, too long or too deep have no trees; ``problems``
    says why.

    Args:
        latex: a formula as people write it, with or without dollars.
    """
    problems: dict[str, int] = {}
    try:
        item = _read(latex, problems)
        if item is not None:
            slt = build_slt(item)
            if slt is not None:
                opt = build_opt(item)
                return LatexTrees(
                    FormulaTree("slt", slt), FormulaTree("opt", opt), problems
                )
            problems["empty"] = 1
    except (TooDeepError, RecursionError):
        problems["too_deep"] = 1
    except ExpansionLimitError:
        problems["expansion_limit"] = 1
    return LatexTrees(None, None, problems)


def _read(latex: str, problems: dict[str, int]) -> Item | None:
    """Return the formula as one item; None, with the reason, if there is none."""
    if len(latex) > LONGEST:
        problems["too_long"] = 1
        return None
    source = clean_source(latex)
    if not source:
        problems["empty"] = 1
        return None
    tokens = expand_macros(split_tokens(source), problems)
    reader = Reader(tokens, list_entries, problems)
    boxes = reader.read_boxes(_NOTHING)
    return reader.make_item(boxes, punctuated=True)
