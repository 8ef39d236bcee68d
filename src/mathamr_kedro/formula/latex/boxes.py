r"""Boxes, TeX's units of a formula, and how they become a row of items.

```
boxes   2  \frac13  \quad  {a b}        row   2+1/3  ,  a  b
        1 2 . 5                               12.5
        ( a , )^2 ]                           Row[( a , )]^2 ]
```

Adjacent boxes of one symbol are joined: digits of a number, letters of an upright name,
three dots. A brace group is one box to a script that follows it, but invisible to the
grammar: its items become part of the row. A number before a fraction of numbers is a
sum. Most spaces are ignored; a quad or more separates like a comma (which is not
drawn). Fences and scripts are arranged even in rows that the grammar cannot parse.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

from mathamr_kedro.formula.latex.alphabets import STICKY, Font
from mathamr_kedro.formula.latex.nodes import (
    App,
    Hint,
    Item,
    Row,
    ScriptMark,
    attach_script,
)
from mathamr_kedro.formula.latex.symbols import ABSENT, INVISIBLE_PLUS, SYMBOLS, Symbol

_DOT = SYMBOLS["."]
_CDOT = SYMBOLS[r"\cdot"]
_BANG = SYMBOLS["!"]
_COLON = SYMBOLS[":"]
_EQUALS = SYMBOLS["="]
_DOTS = Symbol("ID", "…", name="ldots")
_CENTERED_DOTS = Symbol("ID", "⋯", name="cdots")
_DOUBLE_FACTORIAL = Symbol("POSTFIX", "!!", "double-factorial")
_ASSIGN = Symbol("RELOP", ":=", "assign")
MAX_WORD = 200
"""Maximum characters of a number or a name; longer ones stay in pieces."""

_TRIPLES = {_DOT: _DOTS, _CDOT: _CENTERED_DOTS}
_PAIRS: dict[tuple[object, Symbol], Symbol] = {
    (_BANG, _BANG): _DOUBLE_FACTORIAL,
    (_COLON, _EQUALS): _ASSIGN,
}
_SECONDS = frozenset({_BANG, _EQUALS})
_SEPARATES = 10.0
"""Points of space from which it separates: one quad."""


def append_symbol(row: list[Any], symbol: Symbol) -> None:
    """Append a symbol to a row and join it with what precedes it."""
    row.append(symbol)
    if symbol in _SECONDS:
        joined = _PAIRS.get((row[-2], symbol)) if len(row) > 1 else None
        if joined is not None:
            row[-2:] = [joined]
    elif symbol in _TRIPLES:
        # Symbols are shared: equal characters of a font are one object.
        if len(row) > 2 and row[-2] is symbol and row[-3] is symbol:
            row[-3:] = [_TRIPLES[symbol]]
    else:
        if _is_word_part(symbol):
            _join_word(row, symbol)
        if symbol.role == "NUMBER" and row[-1] is symbol:
            _join_number(row, symbol)


def _is_word_part(item: object) -> TypeGuard[Symbol]:
    return (
        item.__class__ is Symbol
        and item.role in ("UNKNOWN", "NUMBER")
        and item.name is None
        and item.font.family in STICKY
        and item.text.isalnum()
        and item.text.isascii()
    )


def _join_word(row: list[Any], symbol: Symbol) -> None:
    """Join letters and digits of one upright font, if a letter is first."""
    start = len(row) - 1
    room = MAX_WORD - len(symbol.text)
    while start:
        item = row[start - 1]
        if not _is_word_part(item) or item.font != symbol.font:
            break
        room -= len(item.text)
        if room < 0:
            break
        start -= 1
    if start < len(row) - 1:
        text = "".join(item.text for item in row[start:])
        if not text[0].isdigit():
            row[start:] = [Symbol.word(text, symbol.font)]
        elif len(symbol.text) > 1 and symbol.role == "UNKNOWN":
            # a name behind a number was joined too early: its letters come apart
            row[-1:] = [_make_character(char, symbol.font) for char in symbol.text]


def _make_character(char: str, font: Font) -> Symbol:
    if char.isdigit():
        return Symbol.number(char, char, font)
    return Symbol.word(char, font)


def _join_number(row: list[Any], symbol: Symbol) -> None:
    """Join digits, periods and small spaces into one number."""
    start = len(row) - 1
    text, value = symbol.text, symbol.meaning or ""
    while start:
        item = row[start - 1]
        if item.__class__ is Symbol:
            if len(item.text) + len(text) > MAX_WORD:
                break
            if item.role == "NUMBER" and item.font == symbol.font:
                value = (item.meaning or "") + value
            elif item.role == "PERIOD":
                value = "." + value
            else:
                break
            text = item.text + text
        elif item.__class__ is Hint and item.char and len(text) < MAX_WORD:
            text = item.char + text
        else:
            break
        start -= 1
    if start < len(row) - 1:
        row[start:] = [Symbol.number(text, value, symbol.font)]


def arrange_fragments(items: list[Item]) -> list[Item]:
    """Return the row with fenced parts in rows of their own and scripts attached.

    A closing fence without an opening one closes everything before it, as published;
    scripts after it stay by themselves.
    """
    rows: list[list[Item]] = [[], []]  # the innermost open row comes last
    for item in items:
        role = item.role
        if role == "OPEN":
            rows.append([item])
        elif role == "CLOSE":
            rows[-1].append(item)
            _close_row(rows)
        else:
            rows[-1].append(item)
    while len(rows) > 1:
        _close_row(rows)
    arranged: list[Item] = []
    for item in rows[0]:
        if item.__class__ is Row and item.role == _MADE_HERE:
            arranged += item.items
        else:
            arranged.append(item)
    return arranged


_MADE_HERE = "FENCED"


def _close_row(rows: list[list[Item]]) -> None:
    attached = _attach_scripts(rows.pop())
    if not rows:
        rows.append([])
    if len(attached) == 1:
        rows[-1] += attached
    else:
        rows[-1].append(Row(attached, _MADE_HERE))


def _attach_scripts(items: list[Item]) -> list[Item]:
    """Return a row in which scripts hang on what precedes or follows them."""
    result: list[Item] = []
    before: list[ScriptMark] = []
    for place, item in enumerate(items):
        if item.__class__ is not ScriptMark:
            while before:
                item = attach_script(item, before.pop(), "pre")  # noqa: PLW2901
            result.append(item)
        elif item.floats:
            before.append(item)
        elif before and items[place - 1] is before[-1]:
            before.append(item)
        elif result:
            result[-1] = attach_script(result[-1], item)
        else:
            result.append(item)
    if before:
        result.append(_attach_to_nothing(before))
    return result


def _attach_to_nothing(marks: list[ScriptMark]) -> Item:
    """Return the scripts at the end of a row as scripts of nothing."""
    base: Item = marks.pop()
    if marks and not base.floats:  # type: ignore[union-attr]
        base = attach_script(ABSENT, base, "post")
        base = attach_script(base, marks.pop(), "post")
    while marks:
        base = attach_script(base, marks.pop(), "pre")
    return base


class Group:
    """Several boxes that act as one base.

    Args:
        boxes: what it holds.
        braced: whether braces made it; only then may it be empty.
    """

    __slots__ = ("boxes", "braced")
    role: str | None = None

    def __init__(self, boxes: list[Box], braced: bool) -> None:
        self.boxes = boxes
        self.braced = braced

    @property
    def is_empty(self) -> bool:
        """Whether it shows nothing: braces around spaces or nothing."""
        return self.braced and all(box.is_empty for box in self.boxes)


Box: TypeAlias = Item | Group


def append_group(boxes: list[Box], inner: list[Box], braced: bool) -> None:
    """Append a group; a single symbol needs none."""
    if len(inner) == 1 and inner[0].__class__ is Symbol:
        append_symbol(boxes, inner[0])
    elif inner or braced:
        boxes.append(Group(inner, braced))


def pour(boxes: list[Box]) -> list[Item]:
    """Return the items of boxes, with those of groups in their place."""
    if not any(box.__class__ is Group for box in boxes):
        return boxes  # type: ignore[return-value]
    items: list[Item] = []
    stack = [iter(boxes)]
    while stack:
        for box in stack[-1]:
            if box.__class__ is Group:
                stack.append(iter(box.boxes))
                break
            items.append(box)  # type: ignore[arg-type]
        else:
            stack.pop()
    return _join_neighbours(items)


def _join_neighbours(items: list[Item]) -> list[Item]:
    """Return a row in which neighbours that are one symbol are joined."""
    row: list[Item] = []
    for item in items:
        if item.__class__ is Symbol:
            append_symbol(row, item)
        else:
            row.append(item)
    return row


def settle_row(boxes: list[Box]) -> list[Item]:
    """Return the items of boxes as the grammar reads them."""
    items: list[Item] = boxes  # type: ignore[assignment]
    kinds = {box.__class__ for box in boxes}
    if Group in kinds:
        items = pour(boxes)
        kinds = {item.__class__ for item in items}
    if App in kinds:
        items = _join_mixed_numbers(items)
    if Hint in kinds:
        items = _settle_hints(items)
    return items


def _join_mixed_numbers(items: list[Item]) -> list[Item]:
    r"""Return a row in which ``2\frac13`` is a sum, not a product."""
    # From the right, so that replacing two items moves none that is still to be seen.
    for place in range(len(items) - 1, 0, -1):
        fraction = items[place]
        if fraction.__class__ is App and _is_mixed(items[place - 1], fraction):
            items = list(items)
            items[place - 1 : place + 1] = [
                App(INVISIBLE_PLUS, [items[place - 1], fraction])
            ]
    return items


def _is_mixed(whole: Item, fraction: App) -> bool:
    return (
        fraction.op.meaning == "divide"
        and _is_integer(whole)
        and all(map(_is_integer, fraction.args))
    )


def _is_integer(item: Item) -> bool:
    if item.__class__ is not Symbol or item.role != "NUMBER":
        return False
    value = item.meaning or ""
    return value.isascii() and value.isdigit()


def _settle_hints(items: list[Item]) -> list[Item]:
    """Return a row without its small spaces; wide ones become punctuation."""
    settled: list[Item] = []
    width = 0.0
    phantom = False
    for item in items:
        if item.__class__ is Hint:
            # Space at the start of a row or after an opening fence separates nothing.
            if settled and settled[-1].role != "OPEN":
                width += item.width
                phantom = phantom or item.phantom
            continue
        if width:
            _separate(settled, width, phantom)
            width, phantom = 0.0, False
        settled.append(item)
    if width:
        _separate(settled, width, phantom)
    return settled


def _separate(settled: list[Item], width: float, phantom: bool) -> None:
    if not phantom and width >= _SEPARATES and settled[-1].role != "PUNCT":
        settled.append(Hint(width))
