"""Sections of a document: where its headings are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mathamr_kedro.corpus.headings import Headings
from mathamr_kedro.corpus.markdown_blocks import find_markdown_blocks
from mathamr_kedro.corpus.markup import flatten_markup
from mathamr_kedro.corpus.placeholders import FormulaMarks
from mathamr_kedro.corpus.raw import MAX_TEXT, Markup
from mathamr_kedro.corpus.scanning import find_blocks

_HTML_HEADING = re.compile(r"<h([1-3])[^<>]*>", re.I)
_END_OF_HTML_HEADING = re.compile(r"</h[1-3]\s*>", re.I)


class Section(NamedTuple):
    """A part of a document under its heading."""

    line: int
    """Of the heading, from 0."""
    title: str
    body: str


def split_sections(text: str, markup: Markup) -> list[Section]:
    r"""Split at headings of the first three levels; those inside code do not count.

    What is before the first heading is a section without a title. Sections have a text:
    a heading without one goes to the titles of those below it.

    Args:
        text: of the whole file.
        markup: ``markdown``, ``html`` or ``text``; LaTeX has units of its own.

    >>> text = "<h1>Rings</h1>\nA set.\n<h2>Ideals</h2>\nA part."
    >>> [(section.line, section.title) for section in split_sections(text, "html")]
    [(0, 'Rings'), (2, 'Ideals')]
    """
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
