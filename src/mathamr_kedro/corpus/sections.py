"""Sections of a document: where its headings are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from mathamr_kedro.corpus.headings import Headings
from mathamr_kedro.corpus.markdown_blocks import find_markdown_blocks, split_markdown
from mathamr_kedro.corpus.markup import flatten_markup
from mathamr_kedro.corpus.placeholders import FormulaMarks
from mathamr_kedro.corpus.raw import MAX_TEXT, Markup
from mathamr_kedro.corpus.scanning import find_blocks

_HTML_PARAGRAPH = re.compile(r"(?=<p\b[^<>]*>)", re.I)
_EMPTY_LINES = re.compile(r"\n[ \t]*\n\s*")
_HTML_HEADING = re.compile(r"<h([1-3])[^<>]*>", re.I)
_END_OF_HTML_HEADING = re.compile(r"</h[1-3]\s*>", re.I)


class Section(NamedTuple):
    """A part of a document under its heading."""

    line: int
    """Of the heading, from 0."""
    title: str
    body: str


def split_sections(
    text: str, markup: Markup, by_paragraph: bool = False
) -> list[Section]:
    """Split at headings of the first three levels; those inside code do not count.

    What is before the first heading is a section without a title. Sections have a text:
    a heading without one goes to the titles of those below it.

    Args:
        text: of the whole file.
        markup: ``markdown``, ``html`` or ``text``; LaTeX has units of its own.
        by_paragraph: whether sections are split further.
    """
    sections = _split_at_headings(text, markup)
    if not by_paragraph:
        return sections
    return [
        Section(line + body.count("\n", 0, start), title, body[start:end])
        for line, title, body in sections
        for start, end in _find_paragraphs(body, markup)
    ]


def _split_at_headings(text: str, markup: Markup) -> list[Section]:
    found = [_Heading(0, 0, 0, ""), *_find_headings(text, markup)]
    headings = Headings()
    sections = []
    line = last = 0
    starts = [*(heading.start for heading in found[1:]), len(text)]
    for (start, end, level, name), next_start in zip(found, starts, strict=True):
        line, last = line + text.count("\n", last, start), start
        body = text[end:next_start]
        has_text = bool(flatten_markup(body[:MAX_TEXT], FormulaMarks(), markup))
        title = headings.title(level, name, has_text)
        if title is not None:
            sections.append(Section(line, title, body))
    return sections


def _find_paragraphs(text: str, markup: Markup) -> list[tuple[int, int]]:
    """Return where paragraphs start and end; a text without any is one."""
    if markup == "markdown":
        parts = split_markdown(text)
    else:
        pattern = _HTML_PARAGRAPH if markup == "html" else _EMPTY_LINES
        cuts = [0, *(found.end() for found in pattern.finditer(text)), len(text)]
        parts = list(pairwise(cuts))
    return [p for p in parts if text[p[0] : p[1]].strip()] or [(0, len(text))]


class _Heading(NamedTuple):
    start: int
    end: int
    level: int
    title: str


def _find_headings(text: str, markup: Markup) -> Iterator[_Heading]:
    if markup == "html":
        ends = {"": _END_OF_HTML_HEADING}
        for opened, end in find_blocks(text, _HTML_HEADING, ends):
            title = text[opened.end() : end.start()]
            yield _Heading(opened.start(), end.end(), int(opened[1]), title)
    elif markup == "markdown":
        yield from (_Heading(*found) for found in find_markdown_blocks(text).headings)
