r"""Words with formulas as HTML, for pages that need nothing else.

>>> render_text("so $x$ <b>")
'so <math alttext="x"><mi>x</mi></math> &lt;b&gt;'
"""

from __future__ import annotations

import re
from html import escape

from mathamr_kedro.formula.latex.display_mathml import mathml_from_latex

_DOLLARS = re.compile(r"\$([^$]+)\$")

MATH_STYLE = """
math{font-family:"Latin Modern Math","STIX Two Math","Cambria Math",math;
font-size:1.08em}
mtable.left mtd{text-align:left}
mtable.align mtd{text-align:right;padding-left:0;padding-right:0}
mtable.align mtd:nth-child(even){text-align:left}
mtable.small{font-size:.75em}.boxed{border:1px solid;padding:.2em .35em}
.overlined{border-top:.06em solid;padding-top:.12em}
.underlined{border-bottom:.06em solid;padding-bottom:.12em}
.struck{background:linear-gradient(to top right,transparent calc(50% - .5px),
currentColor,transparent calc(50% + .5px))}
"""
"""What a page needs beside MathML: lines and columns that it cannot say itself."""


def render_text(text: str) -> str:
    """Return a text with formulas between dollars as HTML.

    What is no formula, or cannot be drawn, is kept as it was written.
    """
    pieces = _DOLLARS.split(text)
    return "".join(
        _render(piece) if number % 2 else escape(piece)
        for number, piece in enumerate(pieces)
    )


def _render(latex: str) -> str:
    drawn = mathml_from_latex(latex)
    return f"<code>${escape(latex)}$</code>" if drawn is None else drawn
