r"""Formulas between delimiters: ``$..$``, ``\(..\)``, ``\begin{align}..\end{align}``.

The search is linear in the length of the text: the end of a formula is searched for
once, not once for each ``\(`` that is never closed
(:mod:`mathamr_kedro.corpus.scanning`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from mathamr_kedro.corpus.scanning import NextMatch

OPEN, CLOSE = "\ue001", "\ue002"
"""Around the number of a formula in a flat text."""

_ENVIRONMENTS = (
    "align|aligned|alignat|eqnarray|equation|gather|gathered|multline|flalign|split"
    "|displaymath|math|cases|[pbvBV]?matrix|smallmatrix|array|IEEEeqnarray|tikzcd|CD"
)
_START = re.compile(
    rf"{OPEN}\d+{CLOSE}|(?<!\\)\$\$?|(?<!\\)\\[(\[]"
    rf"|\\begin\{{((?:{_ENVIRONMENTS})\*?)\}}"
)
_LATEX_START = re.compile(
    rf"\\[\\$%]|{OPEN}\d+{CLOSE}|\$\$?|\\[(\[]|\\begin\{{((?:{_ENVIRONMENTS})\*?)\}}"
)
_FRAMES = re.compile(r"(?:equation|displaymath|math)\*?")
"""Environments that only mark a formula."""
_IN_LATEX = re.compile(rf"\\.|[{{}}$]|\n[ \t]*\n|{OPEN}", re.DOTALL)
# Pandoc's rule for single dollars keeps prices apart: no blank after the first
# dollar or before the second, no digit after the second.
_INLINE = re.compile(
    rf"\$(?=[^\s$])((?:[^$\\{OPEN}\n]|\\.|\n(?!\n))*?)(?<!\s)\$(?!\d)", re.DOTALL
)
# A blank after the first dollar is no price if what follows can only be a formula.
_LOOSE = re.compile(
    rf"\$(?=[ \t\n])((?:[^$\\{OPEN}\n]|\\.|\n(?![ \t]*\n))*+)\$(?!\d)", re.DOTALL
)
_SILENT = re.compile(
    r"\\(?:text|mbox|textrm|operatorname|mathrm)\*?\{[^{}]*\}|\\[a-zA-Z]+"
)
_PROSE = re.compile(
    r"[a-zA-Z]{3,}|\b(?:or|to|in|is|of|an|at|if|it|be|by|we|so|no|on|as|do|my|us)\b"
    r"|[.,;:?!]\s+[a-zA-Z]*\s*\Z"
)
_MATHEMATICS = re.compile(r"[a-zA-Z\\=<>^_+*/|]")
_MARK = re.compile(OPEN)
_ENDS = {
    "$$": re.compile(r"(?<!\\)\$\$"),
    r"\(": re.compile(r"\\\)"),
    r"\[": re.compile(r"\\\]"),
}
_WRAPPED = re.compile(r"\$\$(.*)\$\$|\$(.*)\$|\\\[(.*)\\\]|\\\((.*)\\\)", re.DOTALL)
_BRACE_OR_DOLLAR = re.compile(r"\\.|[{}$]", re.DOTALL)
_END_OF_ENVIRONMENT = re.compile(r"\\end\{[a-zA-Z]+\*?\}")
_BLANK_COMMANDS = (r"\qquad", r"\quad")
_SIZES = re.compile(r"\\(?:left|right|middle|[bB]igg?[lmr]?)")
_LONGEST_SIZE = len(r"\middle")


class Delimited(NamedTuple):
    """A formula in a flat text, or the mark of one that was already extracted."""

    start: int
    end: int
    latex: str
    mark: str | None = None
    """The number of a mark; there is no LaTeX then."""


def find_formulas(text: str, is_latex: bool = False) -> Iterator[Delimited]:
    r"""Yield formulas and marks in order; no formula extends over a mark.

    Args:
        text: to search.
        is_latex: whether it is LaTeX, where a dollar always delimits a formula.

    >>> [found.latex for found in find_formulas(r"for $5 or \(x\), $y$ and \( z")]
    ['x', 'y']
    >>> [found.latex for found in find_formulas("If $ a > 0$, then ($b$) holds")]
    [' a > 0', 'b']
    """
    reader = _FormulaReader(text, is_latex)
    pattern = _LATEX_START if is_latex else _START
    start = pattern.search(text)
    while start is not None:
        if start[0][0] == "\\" and start[0][1] in "\\$%":
            start = pattern.search(text, start.end())
            continue
        found = reader.read(start)
        if found is not None:
            yield found
        start = pattern.search(text, start.start() + 1 if found is None else found.end)


class _FormulaReader:
    """Finds where the formulas of a text end."""

    def __init__(self, text: str, is_latex: bool = False) -> None:
        self._text, self._is_latex = text, is_latex
        self._unclosed = 0  # up to here no dollar closes what braces keep open
        self._marks = NextMatch(_MARK, text)
        self._ends: dict[str, NextMatch] = {}

    def read(self, start: re.Match[str]) -> Delimited | None:
        opened, place = start[0], start.start()
        if opened[0] == OPEN:
            return Delimited(place, start.end(), "", opened[1:-1])
        if opened == "$":
            return self._read_inline(place)
        end = self._find_end(start[1] or opened, start.end() + 1)
        mark = self._marks.after(place)
        if end is None or (mark is not None and mark.start() < end.start()):
            return None
        first, last = start.end(), end.start()
        if start[1] and not (self._is_latex and _FRAMES.fullmatch(start[1])):
            first, last = place, end.end()  # the environment is part of its formula
        return Delimited(place, end.end(), self._text[first:last])

    def _read_inline(self, place: int) -> Delimited | None:
        if self._is_latex:
            end = self._find_dollar(place + 1)
            if end < 0:
                return None
            return Delimited(place, end + 1, self._text[place + 1 : end])
        inline = _INLINE.match(self._text, place)
        if inline is None and (loose := _LOOSE.match(self._text, place)) is not None:
            inside = _SILENT.sub("", loose[1])
            is_formula = _MATHEMATICS.search(loose[1]) and not _PROSE.search(inside)
            inline = loose if is_formula else None
        return None if inline is None else Delimited(place, inline.end(), inline[1])

    def _find_dollar(self, place: int) -> int:
        r"""Return the dollar that ends a formula of LaTeX, -1: the paragraph has none.

        One inside of braces belongs to a text in the formula (``\text{if $x$}``).
        """
        depth, first = 0, -1
        for found in _IN_LATEX.finditer(self._text, place):
            mark = found[0]
            if mark == "$" and (depth <= 0 or place < self._unclosed):
                return found.start()
            if mark == "$" and first < 0:
                first = found.start()
            elif mark in "{}":
                depth += 1 if mark == "{" else -1
            elif mark[0] in ("\n", OPEN):
                self._unclosed = max(self._unclosed, found.start())
                return first
        self._unclosed = len(self._text)
        return first

    def _find_end(self, name: str, place: int) -> re.Match[str] | None:
        if name not in self._ends:
            pattern = _ENDS.get(name) or re.compile(rf"\\end\{{{re.escape(name)}\}}")
            self._ends[name] = NextMatch(pattern, self._text)
        return self._ends[name].after(place)


def strip_delimiters(latex: str) -> str:
    r"""Remove white space and one pair of outer math delimiters.

    >>> strip_delimiters(r" $$x+1$$ "), strip_delimiters(r"\(x\)")
    ('x+1', 'x')
    >>> strip_delimiters(r"$a \text{ if $b$}$"), strip_delimiters("$a$ and $b$")
    ('a \\text{ if $b$}', '$a$ and $b$')
    """
    latex = latex.strip()
    if latex[:1] not in ("$", "\\"):
        return latex
    wrapped = _WRAPPED.fullmatch(latex)
    if wrapped is None:
        return latex
    inner = next(group for group in wrapped.groups() if group is not None)
    return latex if _has_dollar(inner) else inner.strip()


def _has_dollar(latex: str) -> bool:
    """Tell whether a dollar is outside of all braces: two formulas, not one."""
    if "$" not in latex:
        return False
    depth = 0
    for found in _BRACE_OR_DOLLAR.finditer(latex):
        if found[0] == "$" and depth <= 0:
            return True
        depth += {"{": 1, "}": -1}.get(found[0], 0)
    return False


def split_punctuation(latex: str) -> tuple[str, str]:
    r"""Split the sentence's punctuation off the end of a formula.

    >>> split_punctuation(r"x^2 = 2\,."), split_punctuation("n!")
    (('x^2 = 2', '.'), ('n!', ''))
    >>> split_punctuation(r"1, 2, ..."), split_punctuation(r"x\,")
    (('1, 2, ...', ''), ('x\\,', ''))

    A delimiter is not punctuation, whatever character it is:

    >>> split_punctuation(r"\left| x \right."), split_punctuation(r"\left| x \right.,")
    (('\\left| x \\right.', ''), ('\\left| x \\right.', ','))
    """
    end, environment = len(latex), ""
    if latex.endswith("}"):
        opened = max(latex.rfind(r"\end{"), 0)
        if _END_OF_ENVIRONMENT.fullmatch(latex, opened):
            end, environment = opened, latex[opened:]
    while (before := _skip_blank(latex, end)) is not None:
        end = before
    if not end or latex[end - 1] not in ".,;:?" or _is_delimiter(latex, end):
        return latex, ""
    place: int | None = end - 1
    last = 0  # where the formula ends: the first place that may be its end
    while place:
        char = latex[place - 1]
        if not (char.isspace() or char in "\\.,;:?~") or _is_delimiter(latex, place):
            last = place
        place = _skip_blank(latex, place)
    return (latex[:last] + environment, latex[end - 1]) if last else (latex, "")


def _is_delimiter(latex: str, end: int) -> bool:
    r"""Tell whether the character that ends at ``end`` belongs to a ``\right``."""
    if latex[end - 1] not in ".,;:?":
        return False
    end -= 1
    while end and latex[end - 1].isspace():
        end -= 1
    start = latex.rfind("\\", max(0, end - _LONGEST_SIZE), end)
    if start < 0 or _SIZES.fullmatch(latex, start, end) is None:
        return False
    before = latex[:start]  # of two backslashes, the second starts no command
    return (len(before) - len(before.rstrip("\\"))) % 2 == 0


def _skip_blank(latex: str, end: int) -> int | None:
    """Return where the blank starts that ends at ``end``; ``None``: there is none."""
    for command in _BLANK_COMMANDS:
        if latex.endswith(command, 0, end):
            return end - len(command)
    if end >= 2 and latex[end - 2] == "\\" and latex[end - 1] in " ,;:!>":
        return end - 2
    if end and (latex[end - 1].isspace() or latex[end - 1] == "~"):
        return end - 1
    return None
