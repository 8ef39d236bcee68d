r"""Reading markup in linear time, whatever it contains.

A pattern such as ``<!--.*?-->`` reads the rest of a text for every mark that is never
closed: 80 kB of ``<!--`` take half a minute. Here, the end is searched for only once:
:class:`NextMatch` remembers how far it has searched.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_SPAN = re.compile(r"<span\b([^<>]*)>")
_IS_MATH = re.compile(r"\bmath-container\b")
_END_OF_SPAN = re.compile(r"</span\s*>")
_START_OF_MATH = re.compile(r"<(?:\w+:)?math(?=[\s>])", re.IGNORECASE)
_END_OF_MATH = re.compile(r"</(?:\w+:)?math\s*>", re.IGNORECASE)
_END_OF_COMMENT = re.compile(r"-->")
_DECLARATION = re.compile(r"<(?:!doctype|\?xml)\b[^<>]*>", re.IGNORECASE)
_PLAIN_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)(\s[^<>\"']*|/|)>")
_START_OF_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)(?=\s)")
_STOP = re.compile(r"[<>\"']")
_ID = re.compile(r"""\bid\s*=\s*["']?([^"'\s>]+)""")
_ENTITY = re.compile(
    r"&(?:#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,8}|[a-zA-Z][a-zA-Z0-9]{1,31});"
)
_START_OF_CODE = re.compile(r"^(?P<kind>```|~~~)|`[^`\n]+`", re.MULTILINE)
_ENDS_OF_CODE = {
    fence: re.compile(rf"^{fence}[ \t]*$", re.MULTILINE) for fence in ("```", "~~~")
}
_HUGE_NUMBER = re.compile(r"&#[0-9]{9,};?")  # Python refuses thousands of digits


class NextMatch:
    """Finds the next match of a pattern from places that never go back.

    Each part of the text is searched once, however often the question is asked.
    """

    def __init__(self, pattern: re.Pattern[str], text: str) -> None:
        self._pattern, self._text = pattern, text
        self._found: re.Match[str] | None = None
        self._is_over = False

    def after(self, place: int) -> re.Match[str] | None:
        """Return the first match that starts at ``place`` or later."""
        if self._found is not None and self._found.start() >= place:
            return self._found
        if not self._is_over:
            self._found = self._pattern.search(self._text, place)
            self._is_over = self._found is None
        return self._found


def find_blocks(
    text: str, start: re.Pattern[str], ends: Mapping[str, re.Pattern[str]]
) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Yield the start and end match of each block; a block that never ends is ignored.

    Args:
        text: to search.
        start: what opens a block; its group ``kind``, if it has one, names the end. A
            match without its kind is a block of its own.
        ends: kind to what ends the block; ``""`` if there is only one kind.
    """
    nexts = {kind: NextMatch(pattern, text) for kind, pattern in ends.items()}
    opened = start.search(text)
    while opened is not None:
        kind = opened["kind"] if "kind" in start.groupindex else ""
        end = opened if kind is None else nexts[kind].after(opened.end())
        if end is not None:
            yield opened, end
        place = opened.start() + 1 if end is None else end.end()
        opened = start.search(text, place)


def find_code(text: str) -> Iterator[tuple[int, int]]:
    """Yield start and end of the code of Markdown, fenced or between backticks."""
    for start, end in find_blocks(text, _START_OF_CODE, _ENDS_OF_CODE):
        yield start.start(), end.end()


class Tag(NamedTuple):
    """A tag, a comment, a declaration, or a whole math span or element."""

    start: int
    end: int
    name: str
    """In lower case; empty for comments, declarations and formulas."""
    is_end: bool = False
    attributes: str = ""
    latex: str | None = None
    """Raw content of a math span, entities included."""
    formula_id: str | None = None
    mathml: str = ""
    """A ``<math>`` element with its tags."""


def find_tags(markup: str) -> Iterator[Tag]:
    r"""Yield the tags of HTML, each math span as one.

    Everything in a math span is LaTeX, even a raw ``<`` or what looks like a tag.

    >>> span = r'<span class="math-container" id="7">a<b \le c>d</span>'
    >>> [(tag.name, tag.latex) for tag in find_tags(f"<p>{span}")]
    [('p', None), ('', 'a<b \\le c>d')]
    """
    return _TagReader(markup).read()


def unescape_latex(latex: str) -> str:
    r"""Replace entities in LaTeX; the ``&`` of a matrix is not one.

    >>> unescape_latex(r"a &lt; b &notin c")
    'a < b &notin c'
    """
    if "&" not in latex:
        return latex
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), latex)


def unescape_text(text: str) -> str:
    """Replace the entities of a text as browsers do.

    >>> unescape_text("a &amp; b &lt c"), len(unescape_text("&#" + 5000 * "9" + ";"))
    ('a & b < c', 1)
    """
    if "&" not in text:
        return text
    return html.unescape(_HUGE_NUMBER.sub("\ufffd", text))


class _TagReader:
    """One walk over the tags of a text."""

    def __init__(self, markup: str) -> None:
        self._markup = markup
        self._end_of_span = NextMatch(_END_OF_SPAN, markup)
        self._end_of_math = NextMatch(_END_OF_MATH, markup)
        self._end_of_comment = NextMatch(_END_OF_COMMENT, markup)
        self._ends: dict[int, int] | None = None

    def read(self) -> Iterator[Tag]:
        start = self._markup.find("<")
        while start >= 0:
            tag = self._read_tag(start)
            if tag is not None:
                yield tag
            start = self._markup.find("<", start + 1 if tag is None else tag.end)

    def _read_tag(self, start: int) -> Tag | None:
        formula = self._find_formula(start)
        if formula is not None:
            return formula
        plain = _PLAIN_TAG.match(self._markup, start)
        if plain is not None:
            is_end, name, attributes = plain.groups()
            return Tag(start, plain.end(), name.lower(), bool(is_end), attributes)
        opened = _START_OF_TAG.match(self._markup, start)
        if opened is not None:
            end = self._find_end(opened.end())
            if end < 0:
                return None
            attributes = self._markup[opened.end() : end - 1]
            return Tag(start, end, opened[2].lower(), bool(opened[1]), attributes)
        if self._markup.startswith("<!--", start):
            comment = self._end_of_comment.after(start + 4)
            return None if comment is None else Tag(start, comment.end(), "")
        declared = _DECLARATION.match(self._markup, start)
        return None if declared is None else Tag(start, declared.end(), "")

    def _find_formula(self, start: int) -> Tag | None:
        span = _SPAN.match(self._markup, start)
        if span is not None and _IS_MATH.search(span[1]):
            return self._read_formula(span)
        opened = _START_OF_MATH.match(self._markup, start)
        return None if opened is None else self._read_math(opened)

    def _read_math(self, opened: re.Match[str]) -> Tag | None:
        """Read a ``<math>`` element; one that never ends is an ordinary tag."""
        end = self._find_end(opened.end())
        closed = self._end_of_math.after(end) if end >= 0 else None
        if closed is None:
            return None
        start = opened.start()
        attributes = self._markup[opened.end() : end - 1]
        markup = self._markup[start : closed.end()]
        return Tag(start, closed.end(), "", attributes=attributes, mathml=markup)

    def _read_formula(self, span: re.Match[str]) -> Tag | None:
        """Read up to the end of the span, or of the math spans inside it.

        ARQMath-2 holds ``<span class="math-container">$<span class="math-container"
        id="q_501">x</span>$</span>``: one formula, its id inside.
        """
        pieces: list[str] = []
        attributes = [span[1]]
        place, depth = span.end(), 1
        end = None
        while depth and (closing := self._end_of_span.after(place)) is not None:
            end = closing
            piece = self._markup[place : closing.start()]
            inner = [a for a in _SPAN.findall(piece) if _IS_MATH.search(a)]
            if inner:
                piece = _SPAN.sub(
                    lambda m: "" if _IS_MATH.search(m[1]) else m[0], piece
                )
            pieces.append(piece)
            attributes += inner
            depth += len(inner) - 1
            place = closing.end()
        if end is None:
            return None
        found = [match for a in attributes if (match := _ID.search(a)) is not None]
        ids = [html.unescape(match[1]) for match in found]
        return Tag(
            span.start(), end.end(), "", latex="".join(pieces),
            formula_id=ids[0] if ids else None,
        )  # fmt: skip

    def _find_end(self, place: int) -> int:
        """Return the end of a tag whose attributes start at ``place``, -1 for none."""
        if self._ends is None:
            self._ends = _list_ends(self._markup)
        stop = _STOP.search(self._markup, place)
        return -1 if stop is None else self._ends[stop.start()]


def _list_ends(markup: str) -> dict[int, int]:
    """Return, for each bracket and quote, where a tag ends that is open before it.

    A tag ends at the first ``>`` outside of quotes; a ``<`` there means that it was
    none. Read from the end, every answer follows from the next one.
    """
    ends: dict[int, int] = {}
    outside = in_double = in_single = -1
    for stop in reversed(list(_STOP.finditer(markup))):
        match stop[0]:
            case ">":
                outside = stop.end()
            case "<":
                outside = -1
            case '"':
                outside, in_double = in_double, outside
            case _:
                outside, in_single = in_single, outside
        ends[stop.start()] = outside
    return ends
