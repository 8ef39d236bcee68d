"""Cleaning by plain regular expressions: right, and quadratic on hostile texts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mathamr_kedro.corpus.delimiters import CLOSE, OPEN

ENVIRONMENTS = (
    "align|aligned|alignat|eqnarray|equation|gather|gathered|multline|flalign|split"
    "|displaymath|math|cases|[pbvBV]?matrix|smallmatrix|array|IEEEeqnarray|tikzcd|CD"
)
FORMULA = re.compile(
    rf"{OPEN}(?P<mark>\d+){CLOSE}"
    rf"|(?<!\\)\$\$(?P<display>[^{OPEN}]+?)(?<!\\)\$\$"
    rf"|(?<!\\)\$(?=[^\s$])(?P<inline>(?:[^$\\{OPEN}\n]|\\.|\n(?!\n))*?)(?<!\s)\$(?!\d)"
    rf"|(?<!\\)\$(?=[ \t\n])(?P<loose>(?:[^$\\{OPEN}\n]|\\.|\n(?![ \t]*\n))*)\$(?!\d)"
    rf"|(?<!\\)\\\((?P<round>[^{OPEN}]+?)\\\)"
    rf"|(?<!\\)\\\[(?P<square>[^{OPEN}]+?)\\\]"
    rf"|(?P<environment>\\begin\{{(?P<name>(?:{ENVIRONMENTS})\*?)\}}"
    rf"[^{OPEN}]+?\\end\{{(?P=name)\}})",
    re.DOTALL,
)
# What may follow a dollar and a blank: no words outside of commands.
FORMAL = re.compile(r"[a-zA-Z\\=<>^_+*/|]")
WORDLESS = re.compile(
    r"\\(?:text|mbox|textrm|operatorname|mathrm)\*?\{[^{}]*\}|\\[a-zA-Z]+"
)
PROSE = re.compile(
    r"[a-zA-Z]{3,}|\b(?:or|to|in|is|of|an|at|if|it|be|by|we|so|no|on|as|do|my|us)\b"
    r"|[.,;:?!]\s+[a-zA-Z]*\s*\Z"
)
BLANK_END = r"(?:\s|~|\\[ ,;:!>]|\\q?quad\b)*"
PUNCTUATED = re.compile(
    rf"^(.*?[^\s\\.,;:?~]){BLANK_END}([.,;:?]){BLANK_END}((?:\\end\{{[a-zA-Z]+\*?\}})?)$",
    re.DOTALL,
)
DELIMITER = re.compile(
    r"\\(?:left|right|middle|[bB]igg?[lmr]?)\s*([.,;:?])|\\[a-zA-Z]+|\\.|.", re.DOTALL
)
TAG = re.compile(
    r"<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)?)/?>"
    r"|<!--.*?-->",
    re.DOTALL,
)
AROUND_BREAK = re.compile(r"[ \t]*\n[ \t]*")


def find_formulas_slowly(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and LaTeX (or mark) of each formula."""
    kinds = ("mark", "display", "inline", "loose", "round", "square", "environment")
    match = FORMULA.search(text)
    while match is not None:
        loose = match["loose"]
        is_price = loose is not None and (
            not FORMAL.search(loose)
            or PROSE.search(WORDLESS.sub("", loose)) is not None
        )
        if not is_price:
            found = next(match[k] for k in kinds if match[k] is not None)
            yield (*match.span(), found)
        match = FORMULA.search(text, match.start() + 1 if is_price else match.end())


def split_punctuation_slowly(latex: str) -> tuple[str, str]:
    """Split the mark that ends the sentence off a formula."""
    # The delimiter of a \right is hidden behind a letter: both may end a formula.
    hidden = "".join(
        found[0][:-1] + "x" if found[1] else found[0]
        for found in DELIMITER.finditer(latex)
    )
    match = PUNCTUATED.match(hidden)
    if match is None:
        return latex, ""
    return latex[: match.end(1)] + match[3], match[2]


def find_tags_slowly(markup: str) -> Iterator[tuple[int, int, str, bool]]:
    """Span, name and whether it is an end tag; for markup without math spans."""
    for match in TAG.finditer(markup):
        yield (*match.span(), (match[2] or "").lower(), bool(match[1]))
