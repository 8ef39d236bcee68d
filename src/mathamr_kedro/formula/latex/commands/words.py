r"""Text inside formulas: ``\text{if $x$ is even}``.

Text keeps its spaces, and formulas between dollars are formulas again.
"""

from __future__ import annotations

from mathamr_kedro.formula.latex.alphabets import FONTS, MATH, ROMAN, Font
from mathamr_kedro.formula.latex.boxes import Box, Handler
from mathamr_kedro.formula.latex.nodes import Enclosed, Item, Text
from mathamr_kedro.formula.latex.reader import TEXT, Reader
from mathamr_kedro.formula.latex.symbols import SYMBOLS
from mathamr_kedro.formula.latex.tokens import END

_DOLLAR_ENDS = frozenset({"$", r"\)", END})

_SPACES = {
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
        elif token in _SPACES:
            self.chars.append(_SPACES[token])
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


def _text(font: Font | None) -> Handler:
    def read(reader: Reader, boxes: list[Box]) -> None:
        boxes.append(_read_text(reader, font))

    return read


def _framed(reader: Reader, boxes: list[Box]) -> None:
    boxes.append(Enclosed(_read_text(reader, None), "box"))


HANDLERS: dict[str, Handler] = {
    command: _text(font) for command, font in _FONT_COMMANDS.items()
} | {r"\hbox": _text(None), r"\fbox": _framed}
