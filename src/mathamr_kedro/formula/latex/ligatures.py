r"""Neighbours that are one symbol: digits of a number, letters of a name, dots.

```
1 2 . 5      12.5             \mathrm{l c m}   lcm           : =   :=
1 \, 0 0 0   1 000, worth 1000       . . .     …             ! !   !!
```
"""

from __future__ import annotations

from typing import Any, TypeGuard

from mathamr_kedro.formula.latex.alphabets import STICKY, Font
from mathamr_kedro.formula.latex.nodes import Hint
from mathamr_kedro.formula.latex.symbols import SYMBOLS, Symbol

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
"""Characters that a number or a name may have; longer ones stay in pieces."""

_TRIPLES = {_DOT: _DOTS, _CDOT: _CENTERED_DOTS}
_PAIRS: dict[tuple[object, Symbol], Symbol] = {
    (_BANG, _BANG): _DOUBLE_FACTORIAL,
    (_COLON, _EQUALS): _ASSIGN,
}
_SECONDS = frozenset({_BANG, _EQUALS})


def append_symbol(row: list[Any], symbol: Symbol) -> None:
    """Append a symbol to a row and join it with what precedes it."""
    row.append(symbol)
    if symbol in _SECONDS:
        joined = _PAIRS.get((row[-2], symbol)) if len(row) > 1 else None
        if joined is not None:
            row[-2:] = [joined]
    elif symbol in _TRIPLES:
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
