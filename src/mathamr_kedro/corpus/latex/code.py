r"""What LaTeX does not read: comments, ``\verb``, verbatim text and drawings.

```
Type \verb|$x$ % y|, % a comment     Type ⟦code⟧,
\begin{tikzpicture} \draw (0,0) ...   (nothing)
```

A dollar or a percent sign inside any of them means nothing to the rest of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mathamr_kedro.corpus.placeholders import protect_code
from mathamr_kedro.corpus.scanning import NextMatch

_BLOCKS = (
    "verbatim|Verbatim|lstlisting|minted|comment|filecontents|alltt"
    "|tikzpicture|pgfpicture|circuitikz|asy|xy|forest"
)
_STOP = re.compile(
    r"\\[\\%]|(?P<comment>%.*)"
    r"|\\(?:verb|lstinline(?:\[[^]\n]*\])?)\*?(?P<delimiter>[^a-zA-Z0-9\s*{\[])"
    rf"|\\begin\{{(?P<kind>{_BLOCKS})\*?\}}"
)
# A drawing often is all that a displayed formula holds.
_BEFORE = re.compile(r"(?:\\\[|\\begin\{(?:equation|displaymath)\*?\})\s*\Z")
_AFTER = re.compile(r"\s*(?:\\\]|\\end\{(?:equation|displaymath)\*?\})")
_LOOK_BACK = 40
_LINE_END = re.compile("\n")
_CODE = re.compile("\ue005(\\d{1,9})\ue006")  # stands for code while LaTeX is read


class LatexCode(NamedTuple):
    """A part of a source that is not read as LaTeX."""

    start: int
    end: int
    code: str | None = None
    """What ``\\verb`` shows."""
    is_block: bool = False
    """Whether a paragraph ends here."""


def find_code(text: str) -> Iterator[LatexCode]:
    r"""Yield comments, ``\verb``, verbatim text and drawings in their order.

    >>> source = r"a \verb|%$| b 5\% % c"
    >>> [(source[p.start : p.end], p.code) for p in find_code(source)]
    [('\\verb|%$|', '%$'), ('% c', None)]
    """
    ends: dict[str, NextMatch] = {}
    position = 0
    found = _STOP.search(text)
    while found is not None:
        part = _read(text, found, ends, position)
        if part is not None:
            yield part
            position = part.end
        found = _STOP.search(text, found.end() if part is None else part.end)


def take_code_out(text: str) -> tuple[str, list[str]]:
    """Drop comments, verbatim text and drawings; put marks for inline code."""
    pieces, position = [], 0
    code: list[str] = []
    for part in find_code(text):
        pieces.append(text[position : part.start])
        position = part.end
        if part.is_block:
            pieces.append("\n\n")
        elif part.code is not None:
            pieces.append(f"\ue005{len(code)}\ue006")
            code.append(protect_code(part.code))
    return "".join([*pieces, text[position:]]), code


def put_code_back(text: str, code: list[str]) -> str:
    """Replace the marks of inline code."""
    return _CODE.sub(lambda m: "".join(code[int(m[1]) : int(m[1]) + 1]), text)


def _read(
    text: str, found: re.Match[str], ends: dict[str, NextMatch], position: int
) -> LatexCode | None:
    if found["comment"] is not None:
        return LatexCode(*found.span())
    if found["delimiter"] is not None:
        line = ends.setdefault("\n", NextMatch(_LINE_END, text)).after(found.end())
        end = text.find(found["delimiter"], found.end(), line and line.start())
        if end < 0:
            return None
        return LatexCode(found.start(), end + 1, text[found.end() : end])
    kind = found["kind"]
    if kind is None:
        return None
    if kind not in ends:
        ends[kind] = NextMatch(re.compile(rf"\\end\{{{kind}\*?\}}"), text)
    closed = ends[kind].after(found.end())
    if closed is None:
        return None
    start, end = found.start(), closed.end()
    first = max(position, start - _LOOK_BACK)
    before, after = _BEFORE.search(text[first:start]), _AFTER.match(text, end)
    if before is not None and after is not None:
        start, end = first + before.start(), after.end()
    return LatexCode(start, end, is_block=True)
