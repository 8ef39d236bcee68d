"""Formulas as trees: Symbol Layout Trees (SLT) and Operator Trees (OPT).

Names are imported on first use, so that reading MathML does not load the LaTeX
reader, and the other way round.

>>> from mathamr_kedro.formula import slt_from_mathml
>>> slt_from_mathml("<msup><mi>x</mi><mn>2</mn></msup>").to_string()
'[V!x,a[N!2]]'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mathamr_kedro.formula.latex import trees_from_latex
    from mathamr_kedro.formula.mathml import opt_from_mathml, slt_from_mathml
    from mathamr_kedro.formula.tree import FormulaTree, FormulaTrees, from_string

_HOME = {
    "FormulaTree": "tree",
    "FormulaTrees": "tree",
    "from_string": "tree",
    "opt_from_mathml": "mathml",
    "slt_from_mathml": "mathml",
    "trees_from_latex": "latex",
}

__all__ = [
    "FormulaTree",
    "FormulaTrees",
    "from_string",
    "opt_from_mathml",
    "slt_from_mathml",
    "trees_from_latex",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
