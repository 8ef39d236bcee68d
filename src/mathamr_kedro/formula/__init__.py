"""Formulas as trees: Symbol Layout Trees (SLT) and Operator Trees (OPT).

Names are imported on first use, so that reading MathML does not load the LaTeX
reader, and the other way round.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mathamr_kedro.formula.tree import FormulaTree, FormulaTrees, from_string

_HOME = {
    "FormulaTree": "tree",
    "FormulaTrees": "tree",
    "from_string": "tree",
    "trees_from_latex": "latex",
}

__all__ = ["FormulaTree", "FormulaTrees", "from_string", "trees_from_latex"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
