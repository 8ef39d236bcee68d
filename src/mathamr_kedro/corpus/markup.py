"""HTML, Markdown, LaTeX and plain text to flat text with marks for formulas.

```
<p>Let <span class="math-container" id="7">x</span> be real:</p><ul><li>even</li></ul>
        ▼
Let ⟦0⟧ be real:          marks: formula 0 has the id "7" and the LaTeX "x"

- even
```

Formulas are kept apart: :mod:`.placeholders` turns their marks into ``FORMULA_n``.

Bodies are scanned for tags (:mod:`.scanning`) instead of parsed: posts hold stray ``<``
inside LaTeX that an HTML parser would read as tags, and scanning is ten times faster.
It is linear in the length of the text, whatever the text holds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from markdown_it import MarkdownIt

from mathamr_kedro.corpus.delimiters import find_formulas
from mathamr_kedro.corpus.latex.text import flatten_latex
from mathamr_kedro.corpus.math_elements import MathElement, may_hold_math
from mathamr_kedro.corpus.placeholders import (
    FormulaMarks,
    clear_private,
    protect_code,
)
from mathamr_kedro.corpus.scanning import (
    find_code,
    find_tags,
    unescape_latex,
    unescape_text,
)

_MAX_LEVEL = 3
_BREAK = re.compile("\n")
_DISPLAYED = ("$$", r"\[", r"\begin")
_MARKDOWN = MarkdownIt("commonmark").enable("table")
# Skips what is in blocks: that takes seconds a megabyte.
_BLOCKS = MarkdownIt("commonmark").enable("table").disable("inline")
_ALT = re.compile(r"""\balt\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_MARK = re.compile("(\ue001\\d+\ue002)")
_PRIVATE_ENTITY = re.compile(r"&#(?:[xX]0*[eE]00[1-6]|0*573(?:4[5-9]|50));?")
_SPACE = re.compile(r"[^\S\ue001-\ue004]+")
_PARAGRAPHS = frozenset(
    "p div blockquote pre ul ol dl table hr h1 h2 h3 h4 h5 h6 section article "
    "header footer figure center details summary".split()
)
_LINES = frozenset("br tr dt dd li".split())
_CELLS = frozenset(("td", "th"))
_SILENT = frozenset(("script", "style", "head", "template"))
# A row of tabs is read once: from its start, and never given back.
_AROUND_BREAK = re.compile(r"(?:(?<![ \t])[ \t]++)?\n[ \t]*+")
_MANY_BREAKS = re.compile(r"\n{3,}")
_ITEM_BREAK = re.compile(r"^[ \t]*(- |\d+\. )\s*\n\s*", re.MULTILINE)
_MANY_SPACES = re.compile(r"(?<=\S) {2,}")
_INDENTED = re.compile(r"^(?: {4}| {0,3}\t)", re.MULTILINE)


class MarkdownBlocks(NamedTuple):
    """Where blocks start and end."""

    headings: list[tuple[int, int, int, str]]
    """Headings of the first three levels, underlined ones too, with level and title."""
    indented: list[tuple[int, int]]
    """Code that is indented by four blanks or a tab."""


def render_markdown(text: str) -> str:
    """Return Markdown as HTML."""
    return _MARKDOWN.render(text)


def find_markdown_blocks(text: str) -> MarkdownBlocks:
    r"""Find headings and indented code.

    Lines of a displayed formula are ignored, whatever they look like.

    >>> find_markdown_blocks("Primes\n======\n\n    # no heading\n")
    MarkdownBlocks(headings=[(0, 14, 1, 'Primes')], indented=[(15, 32)])
    >>> find_markdown_blocks("$$\na\n=\nb\n$$").headings
    []
    """
    tokens = _BLOCKS.parse(text)
    starts = [0, *(found.end() for found in _BREAK.finditer(text)), len(text)]
    headings, code, fenced = [], [], []
    for token, after in zip_longest(tokens, tokens[1:]):
        if token.map is None:
            continue
        start, end = (starts[min(line, len(starts) - 1)] for line in token.map)
        if token.type == "fence":
            fenced.append((start, end))
        elif token.type == "code_block":
            code.append((start, end))
        elif token.type == "heading_open" and token.level == 0 and after is not None:
            level = int(token.tag[1:])
            if level <= _MAX_LEVEL:
                headings.append((start, end, level, " ".join(after.content.split())))
    formulas = _find_displayed(text, sorted(code + fenced)) if headings or code else []
    return MarkdownBlocks(
        [h for h in headings if not _reaches_into(h[0], h[1], formulas)],
        [c for c in code if not _reaches_into(*c, formulas)],
    )


def _find_displayed(text: str, code: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [
        (found.start, found.end)
        for found in find_formulas(text)
        if text.startswith(_DISPLAYED, found.start)
        and not _reaches_into(found.start, found.start + 1, code)
    ]


def _reaches_into(start: int, end: int, spans: list[tuple[int, int]]) -> bool:
    """Tell whether a part overlaps one of the spans, which are in order."""
    number = bisect_right(spans, start, key=lambda span: span[1])
    return number < len(spans) and spans[number][0] < end


def flatten_markup(text: str, marks: FormulaMarks, markup: str) -> str:
    """Return the flat text of a source in one of the known markups."""
    if markup == "html":
        return _flatten_html(text, marks)
    if markup == "markdown":
        return _flatten_markdown(text, marks)
    if markup == "latex":
        return _tidy_lines(flatten_latex(text, marks))
    return _tidy_lines(marks.mark_delimited(text))


def _flatten_html(markup: str, marks: FormulaMarks) -> str:
    r"""Return the text of HTML with a mark for each formula.

    Paragraphs are separated by an empty line, list items and rows are on lines of
    their own (``- `` or ``1. ``), code keeps its line breaks, a link gives its text.

    >>> _flatten_html("<p>a &amp; b<br>c</p><ol><li>one<li>two</ol>", FormulaMarks())
    'a & b\nc\n\n1. one\n2. two'
    """
    return _Flattener(marks).flatten(markup)


def _flatten_markdown(text: str, marks: FormulaMarks) -> str:
    r"""Flatten Markdown; formulas are taken out first, so ``_`` and ``*`` stay theirs.

    >>> marks = FormulaMarks()
    >>> _flatten_markdown("# Sum\n\nLet $a_1 * b_1$ be *big*.", marks)[:4]
    'Sum\n'
    >>> marks.latex
    ['a_1 * b_1']
    """
    text = _PRIVATE_ENTITY.sub("", text)  # it would pass for a mark of ours
    pieces, position = [], 0
    for start, end in _find_markdown_code(text):
        pieces += [_mark_formulas(text[position:start], marks), text[start:end]]
        position = end
    pieces.append(_mark_formulas(text[position:], marks))
    return _flatten_html(render_markdown("".join(pieces)), marks)


def _find_markdown_code(text: str) -> Iterator[tuple[int, int]]:
    """Yield code, fenced, between backticks or indented, in order."""
    has_indents = _INDENTED.search(text) is not None
    indented = find_markdown_blocks(text).indented if has_indents else []
    position = 0
    for start, end in sorted([*find_code(text), *indented]):
        if start >= position:
            yield start, end
            position = end


def _mark_formulas(text: str, marks: FormulaMarks) -> str:
    """Take formulas out of Markdown: MathML, and what is between delimiters."""
    pieces, position = [], 0
    for tag in find_tags(text) if may_hold_math(text) else ():
        if tag.mathml:
            latex = MathElement(tag.mathml, tag.attributes).read_latex()
            pieces += [text[position : tag.start], marks.mark(latex, mathml=tag.mathml)]
            position = tag.end
    return marks.mark_delimited("".join([*pieces, text[position:]]))


def _tidy_lines(text: str) -> str:
    """Trim lines, keep at most one empty line between paragraphs."""
    text = _MANY_SPACES.sub(" ", text)
    text = _ITEM_BREAK.sub(r"\1", text)
    text = _AROUND_BREAK.sub("\n", text)
    return _MANY_BREAKS.sub("\n\n", text).strip()


class _Flattener:
    """State of one walk over the tags: open lists, and depth of code."""

    def __init__(self, marks: FormulaMarks) -> None:
        self._marks = marks
        self._pieces: list[str] = []
        self._lists: list[int | None] = []  # next number, None for bullets
        self._code = 0
        self._preformatted = 0
        self._silent = 0

    def flatten(self, markup: str) -> str:
        position = 0
        for tag in find_tags(markup):
            if tag.start > position:
                self._add_text(markup[position : tag.start])
            position = tag.end
            if tag.mathml:
                latex = MathElement(tag.mathml, tag.attributes).read_latex()
                self._add_formula(latex, None, tag.mathml)
            elif tag.latex is not None:
                self._add_formula(unescape_latex(tag.latex), tag.formula_id)
            elif tag.is_end:
                self._close(tag.name)
            elif tag.name:
                self._open(tag.name, tag.attributes)
        if position < len(markup):
            self._add_text(markup[position:])
        return _tidy_lines("".join(self._pieces))

    def _add_formula(
        self, latex: str, formula_id: str | None, mathml: str = ""
    ) -> None:
        if not self._silent:
            self._pieces.append(self._marks.mark(latex, formula_id, mathml))

    def _add_text(self, text: str) -> None:
        if self._silent:
            return
        if "&" in text:
            # Marks of formulas stay; characters that entities spell are no marks.
            parts = _MARK.split(text)
            parts[::2] = (clear_private(unescape_text(p)) for p in parts[::2])
            text = "".join(parts)
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
