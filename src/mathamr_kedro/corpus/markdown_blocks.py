"""Blocks of Markdown: its headings and indented code, as CommonMark has them."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from itertools import zip_longest
from typing import NamedTuple

from markdown_it import MarkdownIt

from mathamr_kedro.corpus.delimiters import find_formulas

_MAX_LEVEL = 3
_BREAK = re.compile("\n")
_DISPLAYED = ("$$", r"\[", r"\begin")


class MarkdownBlocks(NamedTuple):
    """Where blocks start and end."""

    headings: list[tuple[int, int, int, str]]
    """Of the first three levels, underlined ones too, each with its level and title."""
    indented: list[tuple[int, int]]
    """Code that is indented by four blanks or a tab."""


def render_markdown(text: str) -> str:
    """Return Markdown as HTML."""
    return _make_reader().render(text)


def find_markdown_blocks(text: str) -> MarkdownBlocks:
    r"""Find headings and indented code.

    Lines of a displayed formula are neither, whatever they look like.

    >>> find_markdown_blocks("Primes\n======\n\n    # no heading\n")
    MarkdownBlocks(headings=[(0, 14, 1, 'Primes')], indented=[(15, 32)])
    >>> find_markdown_blocks("$$\na\n=\nb\n$$").headings
    []
    """
    tokens = _make_block_reader().parse(text)
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


@cache
def _make_reader() -> MarkdownIt:
    """Return the reader of Markdown: CommonMark with tables."""
    return MarkdownIt("commonmark").enable("table")


@cache
def _make_block_reader() -> MarkdownIt:
    """Return one that skips what is in blocks: that takes seconds a megabyte."""
    return MarkdownIt("commonmark").enable("table").disable("inline")


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
