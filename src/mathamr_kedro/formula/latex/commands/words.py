r"""Fonts, spaces and text: ``\mathbf{x}``, ``\quad``, ``\text{if $x$}``.

A font holds for an argument (``\mathbf{x}``) or for the rest of a group (``\bf``). Text
keeps its spaces, and formulas between dollars are formulas again.
"""

from __future__ import annotations

import string
from functools import partial

from mathamr_kedro.formula.latex.alphabets import FONTS, MATH, ROMAN, Font
from mathamr_kedro.formula.latex.boxes import Box, append_group
from mathamr_kedro.formula.latex.nodes import Enclosed, Hint, Item, Text
from mathamr_kedro.formula.latex.reader import TEXT, Handler, Reader
from mathamr_kedro.formula.latex.symbols import SYMBOLS
from mathamr_kedro.formula.latex.tokens import END

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
_EM_SIZES = (1.0, 1.0, 0.7, 0.5)

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
_DOLLAR_ENDS = frozenset({"$", r"\)", END})

_TEXT_SPACES = {
    r"\ ": "\xa0",
    "~": "\xa0",
    r"\,": "\u2009",
    r"\;": "\u2004",
    r"\:": "\u2005",
    r"\>": "\u2005",
    r"\!": "\u200b",
    r"\quad": "\u2003",
    r"\qquad": "\u2003\u2003",
    r"\enspace": "\u2002",
    r"\space": " ",
    r"\\": " ",
    r"\newline": " ",
}

_CHARACTERS = {
    r"\%": "%",
    r"\&": "&",
    r"\#": "#",
    r"\$": "$",
    r"\_": "_",
    r"\{": "{",
    r"\}": "}",
    r"\ldots": "…",
    r"\dots": "…",
    r"\textbackslash": "\\",
    r"\ss": "ß",
    r"\o": "ø",
    r"\O": "Ø",
    r"\ae": "æ",
    r"\aa": "å",
    r"\l": "ł",
    r"\i": "ı",
}
_QUOTES = {"'": "’", "`": "‘", '"': "”", "<": "¡", ">": "¿", "|": "—"}
"""Characters that the text font of TeX shows as others."""

_LIGATURES = (
    ("’’", "”"),
    ("‘‘", "“"),
    ("---", "—"),
    ("--", "–"),
    ("...", "…"),
)

_FONT_COMMANDS = {
    r"\text": None,
    r"\mbox": None,
    r"\textrm": FONTS["rm"],
    r"\textnormal": FONTS["rm"],
    r"\textup": FONTS["rm"],
    r"\textmd": FONTS["rm"],
    r"\textsc": FONTS["rm"],
    r"\textbf": FONTS["bf"],
    r"\textit": FONTS["it"],
    r"\textsl": FONTS["it"],
    r"\emph": FONTS["it"],
    r"\textsf": FONTS["sf"],
    r"\texttt": FONTS["tt"],
}

_SWITCHES = {
    r"\bf": FONTS["bf"],
    r"\bfseries": FONTS["bf"],
    r"\it": FONTS["it"],
    r"\itshape": FONTS["it"],
    r"\em": FONTS["it"],
    r"\rm": FONTS["rm"],
    r"\sf": FONTS["sf"],
    r"\tt": FONTS["tt"],
}


def _in_font(reader: Reader, boxes: list[Box], font: Font) -> None:
    r"""Read ``\mathbf{...}`` and similar commands."""
    inner = reader.read_argument(reader.font.select(font))
    append_group(boxes, inner, braced=False)


def _bold_symbol(reader: Reader, boxes: list[Box]) -> None:
    inner = reader.read_argument(reader.font.embolden())
    append_group(boxes, inner, braced=False)


def _switch(reader: Reader, boxes: list[Box], font: Font) -> None:
    r"""Read ``\bf`` and similar commands: up to the end of the group."""
    reader.set_font(reader.font.select(font))


_FONTS: dict[str, Handler] = {
    **{
        command: partial(_in_font, font=FONTS[name])
        for command, name in _FONT_ARGUMENTS.items()
    },
    **{
        command: partial(_switch, font=FONTS[name])
        for command, name in _FONT_SWITCHES.items()
    },
    **dict.fromkeys((r"\boldsymbol", r"\pmb"), _bold_symbol),
}


def _space(width: float, char: str = "", is_em: bool = False) -> Handler:
    """Return the handler of a space of ``width`` points."""
    hints = [
        Hint(round(width * (size if is_em else 1.0), 1), char) for size in _EM_SIZES
    ]

    def read(reader: Reader, boxes: list[Box]) -> None:
        boxes.append(hints[reader.style])

    return read


def _measure(text: str) -> float:
    """Return a length in points, to one decimal; zero if it is malformed."""
    text = text.strip()
    digits = text.rstrip(string.ascii_letters + " ")
    unit = text[len(digits) :].strip()[:2]
    try:
        return round(float(digits) * _UNITS.get(unit, 0.0), 1)
    except ValueError:
        return 0.0


def _read_hspace(reader: Reader, boxes: list[Box]) -> None:
    reader.skip_if("*")
    width = _measure(reader.take_raw_argument())
    if width:
        boxes.append(Hint(width))


def _read_kern(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\kern 3pt`` and similar commands: a length without braces."""
    length = reader.take_length()
    boxes.append(Hint(_measure(length) if length.endswith("mu") else 0.0))


_SPACES: dict[str, Handler] = {
    "~": _space(3.33, is_em=True),
    **dict.fromkeys((r"\ ", "\\\n", "\\\t"), _space(5.0, " ", is_em=True)),
    **dict.fromkeys((r"\,", r"\thinspace"), _space(3 / 1.8, "\u2009")),
    **dict.fromkeys((r"\:", r"\>", r"\medspace"), _space(4 / 1.8, "\u2005")),
    **dict.fromkeys((r"\;", r"\thickspace"), _space(5 / 1.8, "\u2004")),
    **dict.fromkeys((r"\!", r"\negthinspace"), _space(-3 / 1.8)),
    r"\negmedspace": _space(-4 / 1.8),
    r"\negthickspace": _space(-5 / 1.8),
    **dict.fromkeys((r"\enspace", r"\enskip"), _space(5.0, is_em=True)),
    r"\quad": _space(10.0, is_em=True),
    r"\qquad": _space(20.0, is_em=True),
    **dict.fromkeys((r"\hspace", r"\mspace"), _read_hspace),
    **dict.fromkeys((r"\kern", r"\mkern", r"\mskip", r"\hskip"), _read_kern),
}


class _Words:
    """Text on its way from tokens to parts."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.parts: list[str | Item] = []
        self.chars: list[str] = []
        self.font = ROMAN

    def flush(self) -> None:
        """End the string begun."""
        text = "".join(self.chars)
        self.chars = []
        if not text:
            return
        for pattern, char in _LIGATURES:
            if pattern in text:
                text = text.replace(pattern, char)
        self.parts.append(self.font.restyle(text) or text)

    def read_group(self, font: Font | None) -> None:
        """Read tokens up to the end of a group, which is taken."""
        reader = self.reader
        saved = self.font
        if font is not None and font != saved:
            self.flush()
            self.font = font
        depth = 0
        while True:
            token = reader.tokens[reader.i]
            if token is END:
                reader.note("missing_brace")
                break
            reader.i += 1
            if token == "{":
                depth += 1
            elif token == "}":
                depth -= 1
                if depth < 0:
                    break
            else:
                self.read_token(token)
        if self.font != saved:
            self.flush()
            self.font = saved

    def read_token(self, token: str) -> None:
        """Read one token, and the arguments it takes."""
        if token in _QUOTES:
            self.chars.append(_QUOTES[token])
        elif token[0] != "\\" and token not in "$~":
            self.chars.append(token)
        elif token in ("$", r"\("):
            self.read_formula()
        elif token in _TEXT_SPACES:
            self.chars.append(_TEXT_SPACES[token])
        else:
            self.read_command(token)

    def read_command(self, token: str) -> None:
        """Read a command in text."""
        reader = self.reader
        if len(token) > 2:
            reader.skip_if(" ")
        if token in _CHARACTERS:
            self.chars.append(_CHARACTERS[token])
        elif token in _FONT_COMMANDS and reader.peek() == "{":
            reader.i += 1
            self.read_group(_FONT_COMMANDS[token])
        elif token in _SWITCHES:
            self.flush()
            self.font = _SWITCHES[token]
        elif token in SYMBOLS:
            self.flush()
            self.parts.append(SYMBOLS[token])
        else:
            reader.note("ignored_in_text", token[1:])

    def read_formula(self) -> None:
        """Read a formula between dollars."""
        self.flush()
        reader = self.reader
        saved = reader.font, reader.table, reader.style
        reader.set_font(MATH)
        reader.style = TEXT
        boxes = reader.read_boxes(_DOLLAR_ENDS | {"}"})
        if reader.tokens[reader.i] in ("$", r"\)"):
            reader.i += 1
        else:
            reader.note("missing_dollar")
        reader.font, reader.table, reader.style = saved
        self.parts.append(reader.make_item(boxes, punctuated=True))


def _read_text(reader: Reader, font: Font | None) -> Text:
    """Return the text of the argument that comes next."""
    words = _Words(reader)
    if reader.peek() == "{":
        reader.i += 1
        words.read_group(font)
    elif reader.peek() is not END:
        words.read_token(reader.take())
    words.flush()
    return Text(words.parts, reader.is_total)


def _text(reader: Reader, boxes: list[Box], font: Font | None) -> None:
    boxes.append(_read_text(reader, font))


def _framed(reader: Reader, boxes: list[Box]) -> None:
    boxes.append(Enclosed(_read_text(reader, None), "box"))


_TEXTS: dict[str, Handler] = {
    command: partial(_text, font=font) for command, font in _FONT_COMMANDS.items()
} | {r"\hbox": partial(_text, font=None), r"\fbox": _framed}


HANDLERS = _TEXTS | _SPACES | _FONTS
