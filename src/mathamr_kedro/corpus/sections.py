"""Sections of a document: where its headings are."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from mathamr_kedro.corpus.latex_code import LatexCode
from mathamr_kedro.corpus.markdown_blocks import MarkdownBlocks
from mathamr_kedro.corpus.raw import Markup
from mathamr_kedro.corpus.scanning import find_blocks

_LATEX_HEADING = re.compile(
    r"\\(?:chapter|section|subsection)\*?\{(?P<title>(?:[^{}]|\{[^{}]*\})*)\}"
)
_HTML_HEADING = re.compile(r"<h[1-3][^<>]*>", re.I)
_END_OF_HTML_HEADING = re.compile(r"</h[1-3]\s*>", re.I)


class Section(NamedTuple):
    """A part of a document under its heading."""

    line: int
    """Of the heading, from 0."""
    title: str
    body: str

    @classmethod
    def split(cls, text: str, markup: Markup) -> list[Section]:
        """Split at headings of the first three levels; those inside code do not count.

        What stands before the first heading of Markdown is a section without a title.
        """
        headings = list(_find_headings(text, markup))
        if not headings:
            return [Section(0, "", text)]
        sections = []
        line = last = 0
        starts = [*(heading.start for heading in headings[1:]), len(text)]
        for (start, end, title), next_start in zip(headings, starts, strict=True):
            line, last = line + text.count("\n", last, start), start
            sections.append(Section(line, title, text[end:next_start]))
        start_of_text = text[: headings[0].start]
        has_preamble = bool(start_of_text.strip()) and markup == "markdown"
        return [Section(0, "", start_of_text), *sections] if has_preamble else sections


class _Heading(NamedTuple):
    start: int
    end: int
    title: str


def _find_headings(text: str, markup: Markup) -> Iterator[_Heading]:
    if markup == "html":
        ends = {"": _END_OF_HTML_HEADING}
        for opened, end in find_blocks(text, _HTML_HEADING, ends):
            title = text[opened.end() : end.start()]
            yield _Heading(opened.start(), end.end(), title)
    elif markup == "latex":
        unread = list(LatexCode.find(text))
        for found in _LATEX_HEADING.finditer(text):
            number = bisect_right(unread, found.start(), key=lambda part: part.end)
            if number == len(unread) or unread[number].start > found.start():
                yield _Heading(found.start(), found.end(), found["title"])
    elif markup == "markdown":
        yield from (_Heading(*found) for found in MarkdownBlocks.find(text).headings)
