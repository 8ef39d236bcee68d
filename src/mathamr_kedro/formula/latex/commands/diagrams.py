r"""Diagrams: ``\xymatrix{...}`` and ``\begin{tikzcd} ... \end{tikzcd}``.

A diagram is a table of objects; each arrow belongs to the object it starts from.

```
A \ar[r]^f \ar@{^{(}->}[d] & B        O!diagram
\\ C &                                └─ M!M-2x2
                                         ├─ M!R!
                                         │  ├─ O!arrows
                                         │  │  ├─ V!𝐴
                                         │  │  ├─ O!arrow-r ── V!𝑓
                                         │  │  └─ O!arrow-d-hook
                                         │  └─ V!𝐵
                                         └─ M!R! ...
```

In the layout tree an arrow follows its object (``→``, ``↪``, ``↓``), its labels
over, under or within it.
"""

from __future__ import annotations

from mathamr_kedro.formula.latex.boxes import Box, Handler
from mathamr_kedro.formula.latex.commands.arrows import Arrow, CellTokens, Place
from mathamr_kedro.formula.latex.commands.tikzcd import TikzCell
from mathamr_kedro.formula.latex.commands.xypic import XyCell
from mathamr_kedro.formula.latex.nodes import (
    App,
    Array,
    Dual,
    Enclosed,
    Item,
    Row,
    Script,
    Undefined,
)
from mathamr_kedro.formula.latex.reader import SCRIPT, TEXT, Reader
from mathamr_kedro.formula.latex.symbols import ABSENT, Symbol
from mathamr_kedro.formula.latex.tokens import END

_DIAGRAM = Symbol("UNKNOWN", "", "diagram")
_ARROWS = Symbol("UNKNOWN", "", "arrows")
_ROW_ENDS = frozenset({r"\\", r"\cr"})
_LENGTH = frozenset("0123456789.-+ emxptcin")

_Table = list[list[list[str]]]


def _read_xymatrix(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\xymatrix@C=3pc{A \ar[r] & B}``."""
    if reader.peek() == "@":  # the distances of the entries
        while reader.peek() not in ("{", END):
            reader.i += 1
    if reader.peek() != "{":
        reader.note("missing_argument")
        boxes.append(Undefined(r"\xymatrix", reader.is_total))
        return
    start = reader.i
    tokens = reader.take_tokens()[1:-1]
    taken = reader.tokens[start : reader.i]
    if taken.count("{") != taken.count("}"):
        reader.note("missing_brace")
    boxes.append(_make_diagram(reader, _split_table(tokens, frozenset("&")), XyCell))


def _read_tikzcd(reader: Reader, boxes: list[Box]) -> None:
    r"""Read what follows ``\begin{tikzcd}``."""
    options = reader.take_raw_option() or ""
    separators = {"&", r"\&"} if "ampersand" in options else {"&"}
    tokens = _take_body(reader)
    if reader.skip_if(r"\end"):
        reader.take_raw_argument()
    else:
        reader.note("missing_end")
    table = _split_table(tokens, frozenset(separators))
    boxes.append(_make_diagram(reader, table, TikzCell))


def _take_body(reader: Reader) -> list[str]:
    r"""Take the tokens before the ``\end`` of an environment."""
    start = reader.i
    braces = environments = 0
    while (token := reader.tokens[reader.i]) is not END:
        if (token == "}" and not braces) or (token == r"\end" and not environments):
            break
        braces += (token == "{") - (token == "}")
        environments += (token == r"\begin") - (token == r"\end")
        reader.i += 1
    return reader.tokens[start : reader.i]


def _split_table(tokens: list[str], separators: frozenset[str]) -> _Table:
    """Return the tokens of all cells; empty rows at the end are dropped."""
    rows: _Table = [[[]]]
    depth = place = 0
    while place < len(tokens):
        token = tokens[place]
        place += 1
        if not depth and token in separators:
            rows[-1].append([])
        elif not depth and token in _ROW_ENDS:
            rows.append([[]])
            place = _skip_distance(tokens, place)
        else:
            depth += token in ("{", r"\begin")
            depth -= token in ("}", r"\end") and depth > 0
            rows[-1][-1].append(token)
    while rows and all(token == " " for cell in rows[-1] for token in cell):
        rows.pop()
    return rows


def _skip_distance(tokens: list[str], place: int) -> int:
    r"""Return the place behind the length of a ``\\[2em]``, if there is one."""
    if tokens[place : place + 1] != ["["]:
        return place
    end = place + 1
    while end < len(tokens) and tokens[end] in _LENGTH:
        end += 1
    return end + 1 if tokens[end : end + 1] == ["]"] else place


def _make_diagram(reader: Reader, table: _Table, kind: type[CellTokens]) -> Item:
    objects: _Table = []
    arrows: dict[Place, list[Arrow]] = {}
    for row, cells in enumerate(table):
        objects.append([])
        for column, tokens in enumerate(cells):
            rest, found = kind(tokens, (row, column)).split()
            objects[-1].append(rest)
            for arrow in found:
                if arrow.is_damaged:
                    reader.note("bad_arrow")
                arrows.setdefault(arrow.source, []).append(arrow)
    rows = [
        [
            _make_cell(reader, tokens, arrows.pop((row, column), []))
            for column, tokens in enumerate(cells)
        ]
        for row, cells in enumerate(objects)
    ]
    for _ in arrows:  # they start without an object
        reader.note("bad_arrow")
    array = Array(rows)
    return Dual(App(_DIAGRAM, [array]), array)


def _make_cell(reader: Reader, tokens: list[str], arrows: list[Arrow]) -> Item | None:
    """Return an object with the arrows that start from it; None for an empty cell."""
    boxes = reader.read_aside(tokens, TEXT)
    shown = None
    if not all(box.is_empty for box in boxes):
        shown = reader.make_item(boxes, punctuated=True)
    if not arrows:
        return shown
    made = [_make_arrow(reader, arrow) for arrow in arrows]
    content = App(_ARROWS, [ABSENT if shown is None else shown, *made])
    return Dual(content, Row([*([] if shown is None else [shown]), *made]))


def _make_arrow(reader: Reader, arrow: Arrow) -> Dual:
    labels = [
        (side, reader.make_item(reader.read_aside(tokens, SCRIPT)))
        for side, tokens in arrow.labels
    ]
    content = App(Symbol("ARROW", "", arrow.name), [item for _, item in labels])
    drawing: Item = Symbol("ARROW", arrow.sign)
    within = [item for side, item in labels if side == "|"]
    if within:
        drawing = Enclosed(Row(within), arrow.sign)
    for side, item in labels:
        if side != "|":
            drawing = Script(drawing, item, side == "^", "mid", reader.level)
    return Dual(content, drawing)


def _ignore_argument(reader: Reader, boxes: list[Box]) -> None:
    reader.take_raw_argument()


ENVIRONMENTS: dict[str, Handler] = {"tikzcd": _read_tikzcd}
"""By the name between ``\\begin{`` and ``}``."""

HANDLERS: dict[str, Handler] = {
    r"\xymatrix": _read_xymatrix,
    r"\xymatrixcolsep": _ignore_argument,
    r"\xymatrixrowsep": _ignore_argument,
}
