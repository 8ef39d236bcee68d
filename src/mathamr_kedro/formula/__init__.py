r"""Formulas as trees: Symbol Layout Trees (SLT) and Operator Trees (OPT).

```
MathML ──> mathml/ ──┐                      ┌─> drawing; matching: compared trees
LaTeX ───> latex/ ───┴─> tree: FormulaTree ─┼─> graphs: graphs and strings of papers
   │                     (node)             └─> tree_store: one row per visually
   │                                            distinct formula, on disk
   └─────> latex/display_mathml: what browsers draw
```

Names are imported on first use: reading MathML does not load the LaTeX reader, and vice
versa.

>>> from mathamr_kedro.formula import slt_from_mathml
>>> slt_from_mathml("<msup><mi>x</mi><mn>2</mn></msup>").to_string()
'[V!x,a[N!2]]'
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mathamr_kedro.base.lazy_imports import load_lazily

if TYPE_CHECKING:
    from mathamr_kedro.formula.drawing import draw_svg, draw_text
    from mathamr_kedro.formula.latex import trees_from_latex
    from mathamr_kedro.formula.latex.display_mathml import (
        MATH_STYLE,
        mathml_from_latex,
        render_text,
    )
    from mathamr_kedro.formula.latex.typed import mark_formulas, write_latex
    from mathamr_kedro.formula.matching import (
        PatternMatch,
        QueryPattern,
        Resemblance,
        compare_trees,
    )
    from mathamr_kedro.formula.mathml import (
        TreeError,
        opt_from_mathml,
        slt_from_mathml,
    )
    from mathamr_kedro.formula.node import SLT_EDGES, find_kind
    from mathamr_kedro.formula.tree import FormulaTree, FormulaTrees
    from mathamr_kedro.formula.tree_store import TreeRow, TreeStore, find_trees


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
