r"""Light Markdown to HTML as Math Stack Exchange serves it.

What a writer types, and what is in the body of the post::

    If $p \mid n$, **then**       <p>If <span class="math-container" id="7">p
    - $p \le n$                  \mid n</span>, <strong>then</strong></p>
    - $n = pk$                   <ul><li><span ...>p \le n</span></li>...</ul>

A text that starts with ``<`` is HTML already: only ``<m>LaTeX</m>`` (a formula) and
``<m bare>LaTeX</m>`` (a formula without id, as some real posts have) are replaced.
"""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Callable, Iterator
from itertools import groupby
from typing import TypeAlias

WriteFormula: TypeAlias = Callable[[str, bool], str]
"""Turns LaTeX (and whether it is displayed) into a span that carries an id."""

# Code comes first: a dollar inside it opens no formula. Then display before inline.
_ATOMS = re.compile(
    r"`(?P<code>[^`\n]+)`"
    r"|(?P<dollar>\\\$)"
    r"|\$\$(?P<display>.+?)\$\$"
    r"|\$(?P<inline>[^$]+?)\$",
    re.DOTALL,
)
_RAW_FORMULA = re.compile(r"<m(?P<bare> bare)?>(?P<latex>.*?)</m>", re.DOTALL)
# Characters for private use replace what is finished already.
_OPEN, _CLOSE = "\ue000", "\ue001"
_FINISHED = re.compile(f"{_OPEN}(\\d+){_CLOSE}")
_LINK = re.compile(r"\[([^\]]+)\]\((https?://[^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\)")
_MARKS = {"ul": re.compile(r"- +"), "ol": re.compile(r"\d+\. +")}
_QUOTE = re.compile(r"> ?")


def math_span(latex: str, formula_id: str | None, dollars: str = "") -> str:
    r"""Return a formula as ARQMath marks it; ``dollars`` surround it in topics.

    >>> math_span("a < b", "7")
    '<span class="math-container" id="7">a &lt; b</span>'
    >>> math_span("x", None, "$")
    '<span class="math-container">$x$</span>'
    """
    identity = "" if formula_id is None else f' id="{formula_id}"'
    body = html.escape(f"{dollars}{latex}{dollars}", quote=False)
    return f'<span class="math-container"{identity}>{body}</span>'


def render_body(text: str, write_formula: WriteFormula) -> str:
    r"""Turn a whole text into HTML blocks, formulas written by ``write_formula``.

    >>> render_body("We *know* $x$:\n\n- one\n- two", lambda latex, _: f"[{latex}]")
    '<p>We <em>know</em> [x]:</p>\n<ul>\n<li>one</li>\n<li>two</li>\n</ul>'
    """
    if text.startswith("<"):
        return _render_html(text, write_formula)
    finished: list[str] = []
    text = _set_atoms_aside(inspect.cleandoc(text), finished, write_formula)
    blocks = "\n".join(_render_blocks(_typed_lines(text)))
    return _FINISHED.sub(lambda found: finished[int(found[1])], blocks)


def render_line(text: str, write_formula: WriteFormula) -> str:
    """Turn a title or a comment into HTML without blocks around it."""
    finished: list[str] = []
    text = _set_atoms_aside(" ".join(text.split()), finished, write_formula)
    return _FINISHED.sub(lambda found: finished[int(found[1])], _render_inline(text))


def _render_html(text: str, write_formula: WriteFormula) -> str:
    def write(found: re.Match[str]) -> str:
        if found["bare"]:
            return math_span(found["latex"], None)
        return write_formula(found["latex"], False)

    return _RAW_FORMULA.sub(write, text)


def _set_atoms_aside(
    text: str, finished: list[str], write_formula: WriteFormula
) -> str:
    def write(found: re.Match[str]) -> str:
        if found["code"]:
            piece = f"<code>{html.escape(found['code'], quote=False)}</code>"
        elif found["dollar"]:
            piece = "$"
        else:
            latex = found["display"] or found["inline"]
            latex = " ".join(latex.split())
            piece = write_formula(latex, found["display"] is not None)
        finished.append(piece)
        return f"{_OPEN}{len(finished) - 1}{_CLOSE}"

    return _ATOMS.sub(write, text)


def _typed_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield each line with its kind: ``p``, ``ul``, ``ol``, ``quote`` or ``blank``."""
    kind = "blank"
    for line in text.split("\n"):
        kind = _kind_of(line, kind)
        yield kind, line.rstrip()


def _kind_of(line: str, before: str) -> str:
    if not line.strip():
        return "blank"
    if _QUOTE.match(line):
        return "quote"
    if _MARKS["ul"].match(line):
        return "ul"
    # As in Markdown, only "1." may end a paragraph: "... is\n2. Then" is prose.
    if _MARKS["ol"].match(line) and (before != "p" or line.startswith("1.")):
        return "ol"
    return before if before in _MARKS else "p"


def _render_blocks(lines: Iterator[tuple[str, str]]) -> Iterator[str]:
    groups = [(k, [ln for _, ln in g]) for k, g in groupby(lines, key=lambda x: x[0])]
    for kind, group in _join_lists(groups):
        if kind in _MARKS:
            yield _render_list(kind, group)
        elif kind == "quote":
            inner = "\n".join(_QUOTE.sub("", line, count=1) for line in group)
            blocks = "\n".join(_render_blocks(_typed_lines(inner)))
            yield f"<blockquote>\n{blocks}\n</blockquote>"
        elif kind == "p":
            yield f"<p>{_render_inline(' '.join(map(str.strip, group)))}</p>"


def _join_lists(groups: list[tuple[str, list[str]]]) -> list[tuple[str, list[str]]]:
    """Join lists of one kind that only blank lines part."""
    joined: list[tuple[str, list[str]]] = []
    for kind, group in groups:
        if kind == "blank":
            continue
        if joined and kind in _MARKS and joined[-1][0] == kind:
            joined[-1][1].extend(group)
        else:
            joined.append((kind, list(group)))
    return joined


def _render_list(kind: str, lines: list[str]) -> str:
    items: list[list[str]] = []
    for line in lines:
        mark = _MARKS[kind].match(line)
        if mark:
            items.append([line[mark.end() :]])
        else:
            items[-1].append(line.strip())
    body = "\n".join(f"<li>{_render_inline(' '.join(item))}</li>" for item in items)
    return f"<{kind}>\n{body}\n</{kind}>"


def _render_inline(text: str) -> str:
    text = html.escape(text, quote=False)
    text = _LINK.sub(r'<a href="\2">\1</a>', text)
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\*(\S(?:.*?\S)?)\*", r"<em>\1</em>", text)
