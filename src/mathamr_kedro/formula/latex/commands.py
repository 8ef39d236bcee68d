r"""The commands of math mode, and what each token means in each font."""

from __future__ import annotations

import string
from functools import lru_cache

from mathamr_kedro.formula.latex import environments, fences, structures, words
from mathamr_kedro.formula.latex.alphabets import (
    FONTS,
    MATH,
    STICKY,
    Font,
    choose_font,
    embolden,
    merge_fonts,
)
from mathamr_kedro.formula.latex.ligatures import append_symbol, read_number
from mathamr_kedro.formula.latex.nodes import Hint
from mathamr_kedro.formula.latex.reader import (
    CLOSE_GROUP,
    DISPLAY,
    SCRIPT,
    SCRIPTSCRIPT,
    TEXT,
    Box,
    Entry,
    Group,
    Handler,
    Reader,
)
from mathamr_kedro.formula.latex.structures import big_operator
from mathamr_kedro.formula.latex.symbols import (
    LIMITS,
    SYMBOLS,
    Symbol,
    in_font,
    letter,
    number,
)

_EM_SIZES = (1.0, 1.0, 0.7, 0.5)


def _read_braces(reader: Reader, boxes: list[Box]) -> None:
    inner = reader.read_scope(CLOSE_GROUP)
    if not reader.skip_if("}"):
        reader.note("missing_brace")
    _append_group(boxes, inner, braced=True)


def _append_group(boxes: list[Box], inner: list[Box], braced: bool) -> None:
    """Append a group; a symbol alone needs none."""
    if len(inner) == 1 and inner[0].__class__ is Symbol:
        append_symbol(boxes, inner[0])  # type: ignore[arg-type]
    elif inner or braced:
        boxes.append(Group(inner, braced))


def _read_closing_brace(reader: Reader, boxes: list[Box]) -> None:
    reader.note("stray_brace")


def _read_dollar(reader: Reader, boxes: list[Box]) -> None:
    """Read a dollar that ends the formula before its end."""
    reader.note("stray_dollar")
    reader.i = len(reader.tokens) - 1


def _ignore(reader: Reader, boxes: list[Box]) -> None:
    pass


def _ignore_argument(reader: Reader, boxes: list[Box]) -> None:
    reader.skip_if("*")
    reader.take_raw_argument()


def _ignore_option(reader: Reader, boxes: list[Box]) -> None:
    reader.take_raw_option()


def _script(up: bool) -> Handler:
    def read(reader: Reader, boxes: list[Box]) -> None:
        reader.read_script(boxes, up)

    return read


def _read_primes(reader: Reader, boxes: list[Box]) -> None:
    """Read ``''``, and join a superscript after it."""
    tokens = [r"\prime"]
    while reader.peek() == "'":
        reader.i += 1
        tokens.append(r"\prime")
    if reader.skip_if("^"):
        tokens += reader.take_tokens()
    reader.read_made_script(boxes, tokens)


def _read_digit(reader: Reader, boxes: list[Box]) -> None:
    text, reader.i = read_number(reader.tokens, reader.i - 1)
    symbol = number(text, text, choose_font("1", reader.font))
    if boxes:
        append_symbol(boxes, symbol)  # type: ignore[arg-type]
    else:
        boxes.append(symbol)


def _joined(symbol: Symbol) -> Handler:
    """Return the handler of a symbol that may join with the one before it."""

    def read(reader: Reader, boxes: list[Box]) -> None:
        append_symbol(boxes, symbol)  # type: ignore[arg-type]

    return read


def _space(width: float, char: str = "", is_em: bool = False) -> Handler:
    """Return the handler of a space of ``width`` points."""
    hints = [Hint(width * (size if is_em else 1.0), char) for size in _EM_SIZES]

    def read(reader: Reader, boxes: list[Box]) -> None:
        boxes.append(hints[reader.style])

    return read


_UNITS = {
    "pt": 1.0,
    "em": 10.0,
    "ex": 4.3,
    "mu": 1 / 1.8,
    "cm": 28.45,
    "mm": 2.845,
    "in": 72.27,
    "pc": 12.0,
    "bp": 1.00375,
    "px": 0.75,
}


def _measure(text: str) -> float:
    """Return a length in points; zero if it is none."""
    text = text.strip()
    digits = text.rstrip(string.ascii_letters + " ")
    unit = text[len(digits) :].strip()[:2]
    try:
        return float(digits) * _UNITS.get(unit, 0.0)
    except ValueError:
        return 0.0


def _read_hspace(reader: Reader, boxes: list[Box]) -> None:
    reader.skip_if("*")
    width = _measure(reader.take_raw_argument())
    if width:
        boxes.append(Hint(width))


def _read_kern(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\kern 3pt`` and its kin: a length without braces."""
    length = reader.take_length()
    boxes.append(Hint(_measure(length) if length.endswith("mu") else 0.0))


def _styled(style: int) -> Handler:
    def read(reader: Reader, boxes: list[Box]) -> None:
        reader.style = style

    return read


def _in_font(name: str) -> Handler:
    r"""Return the handler of ``\mathbf{...}`` and its kin."""
    font = FONTS[name]

    def read(reader: Reader, boxes: list[Box]) -> None:
        inner = reader.read_argument(merge_fonts(reader.font, font))
        _append_group(boxes, inner, braced=False)

    return read


def _bold_symbol(reader: Reader, boxes: list[Box]) -> None:
    inner = reader.read_argument(embolden(reader.font))
    _append_group(boxes, inner, braced=False)


def _switch(name: str) -> Handler:
    r"""Return the handler of ``\bf`` and its kin: up to the end of the group."""
    font = FONTS[name]

    def read(reader: Reader, boxes: list[Box]) -> None:
        reader.set_font(merge_fonts(reader.font, font))

    return read


_DOTS = (Symbol("ID", "…", name="dots"), Symbol("ID", "⋯", name="dots"))
_DOTS_BETWEEN = frozenset({"ADDOP", "BINOP", "MULOP", "RELOP"})


def _read_dots(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\dots``: centred before an operator, low elsewhere."""
    following = SYMBOLS.get(reader.peek())
    boxes.append(_DOTS[following is not None and following.role in _DOTS_BETWEEN])


_FONT_ARGUMENTS = {
    r"\mathrm": "rm",
    r"\mathit": "it",
    r"\mathbf": "bf",
    r"\mathsf": "sf",
    r"\mathtt": "tt",
    r"\mathcal": "cal",
    r"\mathscr": "cal",
    r"\mathbb": "bb",
    r"\Bbb": "bb",
    r"\bold": "bb",
    r"\mathfrak": "frak",
    r"\frak": "frak",
    r"\mathnormal": "normal",
}
_FONT_SWITCHES = {
    r"\rm": "rm",
    r"\it": "it",
    r"\bf": "bf",
    r"\sf": "sf",
    r"\tt": "tt",
    r"\sl": "it",
    r"\cal": "cal",
    r"\mit": "normal",
}
_IGNORED = (
    r" \tiny \scriptsize \footnotesize \small \normalsize \large \Large \LARGE \huge"
    r" \Huge \nonumber \notag \relax \space \strut \mathstrut \displaylimits"
    r" \nobreak \allowbreak \break \noindent \hfill \hfil \hss \centering \protect"
    r" \par \null \/ \@ \- \DOTSB \DOTSI \DOTSX \nobreakdash \newline \boldmath"
    r" \limits@ \leavevmode \unskip \ignorespaces \nolinebreak \linebreak \hskip@"
).split()

_BASE: dict[str, Entry] = (
    SYMBOLS
    | structures.HANDLERS
    | fences.HANDLERS
    | environments.HANDLERS
    | words.HANDLERS
    | {command: big_operator(command) for command in LIMITS}
    | {command: _in_font(name) for command, name in _FONT_ARGUMENTS.items()}
    | {command: _switch(name) for command, name in _FONT_SWITCHES.items()}
    | dict.fromkeys(_IGNORED, _ignore)
    | dict.fromkeys(string.digits, _read_digit)
    | {token: _joined(SYMBOLS[token]) for token in (".", "!", "=", r"\cdot")}
    | {
        " ": _ignore,
        "{": _read_braces,
        "}": _read_closing_brace,
        "$": _read_dollar,
        "^": _script(True),
        "_": _script(False),
        r"\sp": _script(True),
        r"\sb": _script(False),
        "'": _read_primes,
        "’": _read_primes,
        "~": _space(3.33, is_em=True),
        r"\ ": _space(5.0, " ", is_em=True),
        r"\,": _space(3 / 1.8, "\u2009"),
        r"\thinspace": _space(3 / 1.8, "\u2009"),
        r"\:": _space(4 / 1.8, "\u2005"),
        r"\>": _space(4 / 1.8, "\u2005"),
        r"\medspace": _space(4 / 1.8, "\u2005"),
        r"\;": _space(5 / 1.8, "\u2004"),
        r"\thickspace": _space(5 / 1.8, "\u2004"),
        r"\!": _space(-3 / 1.8),
        r"\negthinspace": _space(-3 / 1.8),
        r"\negmedspace": _space(-4 / 1.8),
        r"\negthickspace": _space(-5 / 1.8),
        r"\enspace": _space(5.0, is_em=True),
        r"\enskip": _space(5.0, is_em=True),
        r"\quad": _space(10.0, is_em=True),
        r"\qquad": _space(20.0, is_em=True),
        **dict.fromkeys((r"\hspace", r"\mspace"), _read_hspace),
        **dict.fromkeys((r"\kern", r"\mkern", r"\mskip", r"\hskip"), _read_kern),
        r"\displaystyle": _styled(DISPLAY),
        r"\textstyle": _styled(TEXT),
        r"\scriptstyle": _styled(SCRIPT),
        r"\scriptscriptstyle": _styled(SCRIPTSCRIPT),
        **dict.fromkeys((r"\boldsymbol", r"\pmb"), _bold_symbol),
        r"\dots": _read_dots,
        **dict.fromkeys(
            (r"\label", r"\tag", r"\vspace", r"\raisetag", r"\leftroot", r"\uproot"),
            _ignore_argument,
        ),
        r"\displaybreak": _ignore_option,
    }
)


@lru_cache(maxsize=64)
def list_entries(font: Font) -> dict[str, Entry]:
    """Return what each token means while ``font`` is selected."""
    if font == MATH:
        return _BASE
    table = dict(_BASE)
    for token, symbol in SYMBOLS.items():
        entry = table[token]
        if entry.__class__ is Symbol and (font.forced or symbol.role == "UNKNOWN"):
            table[token] = in_font(symbol, font)
    for token in string.ascii_letters:
        symbol = letter(token, font)
        table[token] = _joined(symbol) if font.family in STICKY else symbol
    return table
