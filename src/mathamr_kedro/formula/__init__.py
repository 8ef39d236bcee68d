r"""Formulas as trees: Symbol Layout Trees (SLT) and Operator Trees (OPT).

```
MathML ──> mathml/ ──┐                      ┌─> text_drawing, svg_drawing
LaTeX ───> latex/ ───┴─> tree: FormulaTree ─┼─> graphs/: graphs and strings of papers
   │                     (node, labels,     └─> tree_rows, tree_store: one row per
   │                      bracket strings,      visually distinct formula, on disk
   │                      tuples)
   └─────> latex/display_mathml: what browsers draw; rendered_text: words and formulas
```

Names are imported on first use, so that reading MathML does not load the LaTeX
reader, and the other way round.

>>> from mathamr_kedro.formula import slt_from_mathml
>>> slt_from_mathml("<msup><mi>x</mi><mn>2</mn></msup>").to_string()
'[V!x,a[N!2]]'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.formula.latex import trees_from_latex
    from mathamr_kedro.formula.latex.display_mathml import mathml_from_latex
    from mathamr_kedro.formula.latex.typed import mark_formulas, write_latex
    from mathamr_kedro.formula.mathml import (
        TreeError,
        opt_from_mathml,
        slt_from_mathml,
    )
    from mathamr_kedro.formula.node import SLT_EDGES, find_kind
    from mathamr_kedro.formula.query_variables import PatternMatch, QueryPattern
    from mathamr_kedro.formula.rendered_text import MATH_STYLE, render_text
    from mathamr_kedro.formula.resemblance import Resemblance, compare_trees
    from mathamr_kedro.formula.svg_drawing import draw_svg
    from mathamr_kedro.formula.text_drawing import draw_text
    from mathamr_kedro.formula.tree import FormulaTree, FormulaTrees
    from mathamr_kedro.formula.tree_rows import TreeRow, find_trees
    from mathamr_kedro.formula.tree_store import TreeStore


__all__ = [
    "MATH_STYLE",
    "SLT_EDGES",
    "FormulaTree",
    "FormulaTrees",
    "PatternMatch",
    "QueryPattern",
    "Resemblance",
    "TreeError",
    "TreeRow",
    "TreeStore",
    "compare_trees",
    "draw_svg",
    "draw_text",
    "find_kind",
    "find_trees",
    "mark_formulas",
    "mathml_from_latex",
    "opt_from_mathml",
    "render_text",
    "slt_from_mathml",
    "trees_from_latex",
    "write_latex",
]

__getattr__, __dir__ = load_lazily(__name__, __file__)
