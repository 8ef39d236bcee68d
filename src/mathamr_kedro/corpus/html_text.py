"""HTML to text as a reader would read it, formulas kept apart.

```
<p>Let <span class="math-container" id="7">x</span> be real:</p><ul><li>even</li></ul>
        ▼
Let ⟦0⟧ be real:          formulas[0] = FoundFormula("7", "x")

- even
```

``⟦0⟧`` stands for two private-use characters around a number, so that no text of a
post can be taken for a formula. :mod:`.placeholders` turns them into ``FORMULA_n``.

Bodies are scanned with one regular expression instead of an HTML parser: posts hold
stray ``<`` inside LaTeX that a parser would read as tags, and it is ten times faster.
"""

from __future__ import annotations

import html
import re
from typing import NamedTuple

OPEN, CLOSE = "\ue001", "\ue002"
"""Around the number of a formula in a flat text."""
LITERAL_DOLLAR, LITERAL_BACKSLASH = "\ue003", "\ue004"
"""Characters of code that must not start a formula."""

_PRIVATE = re.compile("[\ue001-\ue004]")
_TOKEN = re.compile(
    r"<span\b([^<>]*\bmath-container\b[^<>]*)>(.*?)</span\s*>"
    r"|<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:\s(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)?)/?>"
    r"|<!--.*?-->",
    re.DOTALL,
)
_ID = re.compile(r"""\bid\s*=\s*["']?([^"'\s>]+)""")
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_SPACE = re.compile(r"[^\S\ue001-\ue004]+")

_PARAGRAPHS = frozenset(
    "p div blockquote pre ul ol dl table hr h1 h2 h3 h4 h5 h6 section article "
    "header footer figure center details summary".split()
)
_LINES = frozenset("br tr dt dd li".split())
_CELLS = frozenset(("td", "th"))
_SILENT = frozenset(("script", "style", "head", "template"))


class FoundFormula(NamedTuple):
    """A formula as it was found; the id is missing where the source gave none."""

    formula_id: str | None
    latex: str


def mark_formula(formulas: list[FoundFormula], formula: FoundFormula) -> str:
    """Append the formula and return its mark for a flat text."""
    formulas.append(formula)
    return f"{OPEN}{len(formulas) - 1}{CLOSE}"


def flatten_html(markup: str, formulas: list[FoundFormula]) -> str:
    r"""Return the text of HTML with a mark for each formula, appended to ``formulas``.

    Paragraphs are separated by an empty line, list items and rows stand on lines of
    their own (``- `` or ``1. ``), code keeps its line breaks, a link gives its text.

    >>> found = []
    >>> flatten_html("<p>a &amp; b<br>c</p><ol><li>one<li>two</ol>", found)
    'a & b\nc\n\n1. one\n2. two'
    """
    return _Flattener(formulas).flatten(markup)


def protect_code(text: str) -> str:
    """Hide the dollars and backslashes of code from the search for formulas."""
    return text.replace("$", LITERAL_DOLLAR).replace("\\", LITERAL_BACKSLASH)


def remove_marks(text: str) -> str:
    """Drop private-use characters that a source brought along."""
    return _PRIVATE.sub("", text) if _PRIVATE.search(text) else text


class _Flattener:
    """State of one walk over the tags: open lists, and depth of code."""

    def __init__(self, formulas: list[FoundFormula]) -> None:
        self._formulas = formulas
        self._pieces: list[str] = []
        self._lists: list[int | None] = []  # next number, None for bullets
        self._code = 0
        self._preformatted = 0
        self._silent = 0

    def flatten(self, markup: str) -> str:
        position = 0
        for token in _TOKEN.finditer(markup):
            if token.start() > position:
                self._add_text(markup[position : token.start()])
            position = token.end()
            if token[1] is not None:
                self._add_formula(token[1], token[2])
            elif token[4] is not None:
                name = token[4].lower()
                if token[3]:
                    self._close(name)
                else:
                    self._open(name, token[5])
        if position < len(markup):
            self._add_text(markup[position:])
        return tidy_lines("".join(self._pieces))

    def _add_formula(self, attributes: str, content: str) -> None:
        found = _ID.search(attributes)
        latex = html.unescape(_TOKEN.sub(" ", content) if "<" in content else content)
        formula = FoundFormula(found[1] if found else None, latex)
        if not self._silent:
            self._pieces.append(mark_formula(self._formulas, formula))

    def _add_text(self, text: str) -> None:
        if self._silent:
            return
        if "&" in text:
            text = remove_marks(html.unescape(text))
        if self._code or self._preformatted:
            text = protect_code(text)
        self._pieces.append(text if self._preformatted else _SPACE.sub(" ", text))

    def _open(self, name: str, attributes: str) -> None:
        if name in _PARAGRAPHS:
            self._pieces.append("\n\n")
        elif name in _LINES:
            self._pieces.append("\n")
        elif name in _CELLS:
            self._pieces.append(" ")
        if name == "li":
            self._pieces.append(self._next_item())
        elif name in ("ul", "ol"):
            self._lists.append(1 if name == "ol" else None)
        elif name == "pre":
            self._preformatted += 1
        elif name == "code":
            self._code += 1
        elif name == "img":
            alt = _ALT.search(attributes)
            self._add_text((alt[1] or alt[2] or "") if alt else "")
        elif name in _SILENT:
            self._silent += 1

    def _close(self, name: str) -> None:
        if name in _PARAGRAPHS:
            self._pieces.append("\n\n")
        if name in ("ul", "ol"):
            if self._lists:
                self._lists.pop()
        elif name == "pre":
            self._preformatted = max(0, self._preformatted - 1)
        elif name == "code":
            self._code = max(0, self._code - 1)
        elif name in _SILENT:
            self._silent = max(0, self._silent - 1)

    def _next_item(self) -> str:
        if not self._lists or self._lists[-1] is None:
            return "- "
        number = self._lists[-1]
        self._lists[-1] = number + 1
        return f"{number}. "


_AROUND_BREAK = re.compile(r"[ \t]*\n[ \t]*")
_MANY_BREAKS = re.compile(r"\n{3,}")
_ITEM_BREAK = re.compile(r"^[ \t]*(- |\d+\. )\s*\n\s*", re.MULTILINE)
_MANY_SPACES = re.compile(r"(?<=\S) {2,}")


def tidy_lines(text: str) -> str:
    """Trim lines, keep at most one empty line between paragraphs."""
    text = _MANY_SPACES.sub(" ", text)
    text = _ITEM_BREAK.sub(r"\1", text)
    text = _AROUND_BREAK.sub("\n", text)
    return _MANY_BREAKS.sub("\n\n", text).strip()
