r"""The commands of math mode, and what each token means in each font.

A token means a symbol or a handler: a function of the reader, which has just read the
token, and of the boxes so far; it reads its arguments and appends the result.
"""

from __future__ import annotations

import string
from functools import lru_cache, partial

from mathamr_kedro.formula.latex.alphabets import MATH, STICKY, Font
from mathamr_kedro.formula.latex.boxes import (
    Box,
    append_group,
    append_symbol,
)
from mathamr_kedro.formula.latex.commands import (
    constructs,
    diagrams,
    environments,
    words,
)
from mathamr_kedro.formula.latex.nodes import Hint
from mathamr_kedro.formula.latex.reader import (
    CLOSE_GROUP,
    DISPLAY,
    SCRIPT,
    SCRIPTSCRIPT,
    TEXT,
    Entry,
    Reader,
)
from mathamr_kedro.formula.latex.symbols import SYMBOLS, Symbol

__all__ = ["list_entries"]


def _read_braces(reader: Reader, boxes: list[Box]) -> None:
    inner = reader.read_scope(CLOSE_GROUP)
    if not reader.skip_if("}"):
        reader.note("missing_brace")
    append_group(boxes, inner, braced=True)


def _read_closing_brace(reader: Reader, boxes: list[Box]) -> None:
    reader.note("stray_brace")


def _read_dollar(reader: Reader, boxes: list[Box]) -> None:
    """Read a dollar that ends the formula before its end."""
    reader.note("stray_dollar")
    reader.i = len(reader.tokens) - 1


def _read_ampersand(reader: Reader, boxes: list[Box]) -> None:
    """Read an ampersand outside of a table; the first in a row is shown."""
    reader.note("stray_ampersand")
    if _AMPERSAND not in boxes:
        boxes.append(_AMPERSAND)


_AMPERSAND = Symbol.letter("&", MATH)


def _ignore(reader: Reader, boxes: list[Box]) -> None:
    pass


def _ignore_argument(reader: Reader, boxes: list[Box]) -> None:
    reader.skip_if("*")
    reader.take_raw_argument()


def _ignore_option(reader: Reader, boxes: list[Box]) -> None:
    reader.take_raw_option()


def _script(reader: Reader, boxes: list[Box], up: bool) -> None:
    reader.read_script(boxes, up)


def _read_primes(reader: Reader, boxes: list[Box]) -> None:
    """Read ``''``, and join a superscript after it."""
    tokens = [r"\prime"]
    while reader.skip_if("'"):
        tokens.append(r"\prime")
    if reader.skip_if("^"):
        tokens += reader.take_tokens()
    reader.read_made_script(boxes, tokens)


def _read_digit(reader: Reader, boxes: list[Box]) -> None:
    text, reader.i = _read_number(reader.tokens, reader.i - 1)
    symbol = Symbol.number(text, text, reader.font.choose("1"))
    if boxes and boxes[-1].role in _BEFORE_DIGITS:
        append_symbol(boxes, symbol)
    else:
        boxes.append(symbol)


_DIGITS = frozenset(string.digits)
_BEFORE_DIGITS = frozenset({"NUMBER", "PERIOD", "UNKNOWN", Hint.role})
"""Roles of what a digit may join with."""


def _read_number(tokens: list[str], place: int) -> tuple[str, int]:
    """Return the digits at ``place``, with a period among them, and the place after.

    >>> _read_number(["1", "2", ".", "5", ",", ""], 0)
    ('12.5', 4)
    """
    start = place
    while tokens[place] in _DIGITS:
        place += 1
        if tokens[place] == "." and tokens[place + 1] in _DIGITS:
            place += 1
    return "".join(tokens[start:place]), place


def _joined(reader: Reader, boxes: list[Box], symbol: Symbol) -> None:
    """Read a symbol that may join with the one before it."""
    if boxes:
        append_symbol(boxes, symbol)
    else:
        boxes.append(symbol)


def _styled(reader: Reader, boxes: list[Box], style: int) -> None:
    reader.style = style


_DOTS = (Symbol("ID", "…", name="dots"), Symbol("ID", "⋯", name="dots"))
_DOTS_BETWEEN = frozenset({"ADDOP", "BINOP", "MULOP", "RELOP"})


def _read_dots(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\dots``: centred before an operator, low elsewhere."""
    following = SYMBOLS.get(reader.peek())
    boxes.append(_DOTS[following is not None and following.role in _DOTS_BETWEEN])


_IGNORED = (
    r" \tiny \scriptsize \footnotesize \small \normalsize \large \Large \LARGE \huge"
    r" \Huge \nonumber \notag \relax \space \strut \mathstrut \displaylimits \nobreak"
    r" \allowbreak \break \noindent \hfill \hfil \hss \centering \protect \par \null"
    r" \/ \@ \- \DOTSB \DOTSI \DOTSX \nobreakdash \newline \boldmath \leavevmode"
    r" \unskip \ignorespaces \nolinebreak \linebreak \empty"
).split()

_BASE: dict[str, Entry] = {
    **SYMBOLS,
    **constructs.HANDLERS,
    **environments.HANDLERS,
    **diagrams.HANDLERS,
    **words.HANDLERS,
    **dict.fromkeys(_IGNORED, _ignore),
    **dict.fromkeys(string.digits, _read_digit),
    **{
        token: partial(_joined, symbol=SYMBOLS[token])
        for token in (".", "!", "=", r"\cdot")
    },
    " ": _ignore,
    "{": _read_braces,
    "}": _read_closing_brace,
    "$": _read_dollar,
    "&": _read_ampersand,
    **dict.fromkeys(("^", r"\sp"), partial(_script, up=True)),
    **dict.fromkeys(("_", r"\sb"), partial(_script, up=False)),
    **dict.fromkeys(("'", "’"), _read_primes),
    r"\dots": _read_dots,
    r"\displaystyle": partial(_styled, style=DISPLAY),
    r"\textstyle": partial(_styled, style=TEXT),
    r"\scriptstyle": partial(_styled, style=SCRIPT),
    r"\scriptscriptstyle": partial(_styled, style=SCRIPTSCRIPT),
    **dict.fromkeys(
        (
            r"\label \tag \vspace \raisetag \leftroot \uproot \xymatrixcolsep"
            r" \xymatrixrowsep"
        ).split(),
        _ignore_argument,
    ),
    r"\displaybreak": _ignore_option,
}


@lru_cache(maxsize=64)
def list_entries(font: Font) -> dict[str, Entry]:
    """Return what each token means while ``font`` is selected."""
    if font == MATH:
        return _BASE
    table = dict(_BASE)
    for token, symbol in SYMBOLS.items():
        entry = table[token]
        if entry.__class__ is Symbol and (font.forced or symbol.role == "UNKNOWN"):
            table[token] = symbol.with_font(font)
    for token in string.ascii_letters:
        symbol = Symbol.letter(token, font)
        table[token] = (
            partial(_joined, symbol=symbol) if font.family in STICKY else symbol
        )
    return table
