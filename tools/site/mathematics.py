r"""Formulas of pages as MathML, which browsers draw without a script."""

from __future__ import annotations

import re
from html import unescape

from mathamr_kedro.formula.latex.display_mathml import mathml_from_latex

_FORMULA = re.compile(
    r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.S
)


def draw_formulas(html: str) -> tuple[str, list[str]]:
    """Return a page with its formulas drawn, and those that could not be."""
    failed: list[str] = []

    def draw(found: re.Match[str]) -> str:
        latex = unescape(found[3]).strip()
        drawn = mathml_from_latex(latex, display=found[2] == "[")
        if drawn is None:
            failed.append(latex)
            return found[0]
        return f'<{found[1]} class="formula">{drawn}</{found[1]}>'

    return _FORMULA.sub(draw, html), failed
