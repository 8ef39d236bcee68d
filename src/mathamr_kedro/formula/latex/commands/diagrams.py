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

An arrow has a direction (``r`` right, ``d`` down, ``ddr`` ...: the way from the object
it starts from), styles in plain words (``hook``, ``two-heads`` ...) and labels.
Options that only shift or bend an arrow are read and dropped.
"""

from __future__ import annotations

import re
from typing import ClassVar, NamedTuple

from mathamr_kedro.formula.latex.boxes import Box
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
from mathamr_kedro.formula.latex.reader import SCRIPT, TEXT, Handler, Reader
from mathamr_kedro.formula.latex.symbols import ABSENT, Symbol
from mathamr_kedro.formula.latex.tokens import END, TokenStream

Place = tuple[int, int]
"""Row and column of a cell, from zero; or how far down and to the right."""

Label = tuple[str, list[str]]
"""The side of a label (``^``, ``_``, ``|`` for within) and its tokens."""

_SIGNS = dict(
    zip(
        [(0, 1), (0, -1), (-1, 0), (1, 0), (-1, 1), (-1, -1), (1, 1), (1, -1), (0, 0)],
        "→←↑↓↗↖↘↙↻",
        strict=True,
    )
)

_STYLED_SIGNS = {
    "hook": dict(zip("→←", "↪↩", strict=True)),
    "mapsto": dict(zip("→←↑↓", "↦↤↥↧", strict=True)),
    "tail": dict(zip("→←", "↣↢", strict=True)),
    "two-heads": dict(zip("→←↑↓", "↠↞↟↡", strict=True)),
    "double": dict(zip("→←↑↓↗↖↘↙", "⇒⇐⇑⇓⇗⇖⇘⇙", strict=True)),
    "equal": dict(zip("→←↑↓", "==∥∥", strict=True)),
    "dashed": dict(zip("→←↑↓", "⇢⇠⇡⇣", strict=True)),
    "squiggly": dict(zip("→←", "⇝⇜", strict=True)),
}

_TIKZ_STYLES = {
    "hook": ("hook", "hook'", "hookrightarrow", "hookleftarrow"),
    "mapsto": ("mapsto", "mapsto'", "mapsfrom"),
    "tail": ("tail", "rightarrowtail"),
    "two-heads": ("twoheads", "twoheadrightarrow"),
    "double": ("Rightarrow", "Leftarrow"),
    "equal": ("equal", "equals", "Equal"),
    "dashed": ("dashed", "dotted", "denselydashed", "denselydotted"),
    "squiggly": ("squiggly", "rightsquigarrow"),
    "line": ("dash", "nohead"),
    "both": ("leftrightarrow", "Leftrightarrow"),
    "reversed": ("leftarrow",),
    "phantom": ("phantom",),
}
_WORDS = {word: name for name, words in _TIKZ_STYLES.items() for word in words}
_SHORT_FORMS = {rf"\{way}ar": way for way in "r l d u dr ur dl ul".split()}
_CELL = re.compile(r"(\d{1,2})-(\d{1,2})")

_XY_STYLES = (
    # pattern of the arrow between the braces of @{...}, and its name
    (re.compile(r"[()]"), "hook"),
    (re.compile(r"^\|"), "mapsto"),
    (re.compile(r"^>"), "tail"),
    (re.compile(r">>$"), "two-heads"),
    (re.compile(r"=[^>]*>"), "double"),
    (re.compile(r"=$"), "equal"),
    (re.compile(r"--|\."), "dashed"),
    (re.compile(r"~"), "squiggly"),
    (re.compile(r"^[-.]+$"), "line"),
    (re.compile(r"^<.*>$"), "both"),
    (re.compile(r"^<[^>]*$"), "reversed"),
    (re.compile(r"^$"), "phantom"),
)
_OFFSET = re.compile(r"(-?\d{1,2}),(-?\d{1,2})")
_CLOSING = {"<": ">", "/": "/", "(": ")"}
_SIDES = frozenset("^_|")
_BEFORE_LABELS = frozenset("-<>([!*")
_BEFORE_STYLES = frozenset("*!?^_23")
_STEMS = frozenset("=-.~:")
_FRAMES = frozenset("*+-=!<>.,|()0123456789pcemxt")
_DIAGRAM = Symbol("UNKNOWN", "", "diagram")
_ARROWS = Symbol("UNKNOWN", "", "arrows")
_ROW_ENDS = frozenset({r"\\", r"\cr"})
_LENGTH = frozenset("0123456789.-+ emxptcin")
_Table = list[list[list[str]]]


class Arrow(NamedTuple):
    """An arrow of a diagram."""

    source: Place
    offset: Place
    styles: tuple[str, ...]
    labels: tuple[Label, ...]
    is_damaged: bool = False

    @property
    def direction(self) -> str:
        """The direction to its end: ``r``, ``ddr``; empty for a loop."""
        down, right = self.offset
        vertical = ("d" if down > 0 else "u") * abs(down)
        return vertical + ("r" if right > 0 else "l") * abs(right)

    @property
    def name(self) -> str:
        """Its name in the operator tree: ``arrow-r-hook``."""
        return "-".join(["arrow", *filter(None, [self.direction]), *self.styles])

    @property
    def sign(self) -> str:
        """Its sign in the layout tree; a long arrow includes its direction."""
        down, right = self.offset
        sign = _SIGNS[(down > 0) - (down < 0), (right > 0) - (right < 0)]
        for style in self.styles:
            sign = _STYLED_SIGNS.get(style, {}).get(sign, sign)
        return sign + self.direction if max(abs(down), abs(right)) > 1 else sign


class CellTokens(TokenStream):
    """The tokens of one cell: an object and the arrows written beside it."""

    commands: ClassVar[frozenset[str]]
    """Those that make an arrow."""

    def __init__(self, tokens: list[str], place: Place) -> None:
        super().__init__([*tokens, END])
        self.place = place
        self.is_damaged = False

    def read_arrow(self, command: str) -> Arrow:
        """Return the arrow whose command was taken."""
        raise NotImplementedError

    def take_entry(self) -> list[str]:
        """Take what begins the cell and has a notation of its own."""
        return []

    def split(self) -> tuple[list[str], list[Arrow]]:
        """Return the tokens of the object, and the arrows."""
        rest = self.take_entry()
        arrows: list[Arrow] = []
        environments = 0
        while (token := self.tokens[self.i]) is not END:
            if token == "{":
                rest += self.take_tokens()
                continue
            self.i += 1
            if environments or token not in self.commands:
                environments += (token == r"\begin") - (token == r"\end")
                rest.append(token)
            else:
                self.is_damaged = False
                arrows.append(self.read_arrow(token))
        return rest, arrows

    def take_brackets(self) -> list[str]:
        """Take the tokens between square brackets, which come next."""
        tokens = self.take_option_tokens() or []
        if self.tokens[self.i - 1] != "]":
            self.is_damaged = True
        return tokens

    def make_arrow(
        self, offset: Place, styles: list[str], labels: list[Label]
    ) -> Arrow:
        """Return an arrow that starts here; each style counts once, blanks do not."""
        shown = [(side, t) for side, t in labels if not {"{", "}", " "}.issuperset(t)]
        names = tuple(dict.fromkeys(styles))
        return Arrow(self.place, offset, names, tuple(shown), self.is_damaged)

    def add_steps(self, way: str) -> Place:
        """Return the steps of a direction in letters; other letters are malformed."""
        if way.strip("udlr"):
            self.is_damaged = True
        return way.count("d") - way.count("u"), way.count("r") - way.count("l")


class TikzCell(CellTokens):
    """A cell of ``tikzcd``."""

    commands = frozenset({r"\arrow", r"\ar", *_SHORT_FORMS})

    def read_arrow(self, command: str) -> Arrow:
        r"""Read options, or the older notation: ``\arrow{r}{f}``, ``\rar{f}``."""
        options = _Options(_SHORT_FORMS.get(command))
        if self.peek() == "[":
            options.read(self.take_brackets())
        if options.way is None and not options.ends and self.peek() == "{":
            options.way = "".join(self.take_tokens()[1:-1]).replace(" ", "")
        if self.peek() == "[":
            options.read(self.take_brackets())
        while not options.is_quoted and self.peek() == "{":
            options.labels.append(("_" if options.swaps else "^", self.take_tokens()))
        offset = self.add_steps(options.way or "")
        source = options.ends.get("from", self.place)
        if "to" in options.ends:
            row, column = options.ends["to"]
            offset = (row - source[0], column - source[1])
        arrow = self.make_arrow(offset, options.styles, options.labels)
        return arrow._replace(source=source)


class _Options:
    """What is between the square brackets of an arrow."""

    def __init__(self, way: str | None) -> None:
        self.way = way
        self.ends: dict[str, Place] = {}
        self.styles: list[str] = []
        self.labels: list[Label] = []
        self.is_quoted = False
        self.swaps = False

    def read(self, tokens: list[str]) -> None:
        for option in _split_options(tokens):
            if option[:1] == ['"']:
                self._read_label(option)
            else:
                self._read_word("".join(option).replace(" ", ""))

    def _read_label(self, option: list[str]) -> None:
        end = option.index('"', 1) if '"' in option[1:] else len(option)
        behind = "".join(option[end + 1 :])
        side = "|" if "description" in behind else "_" if "'" in behind else "^"
        self.labels.append((side, option[1:end]))
        self.is_quoted = True

    def _read_word(self, word: str) -> None:
        name, _, value = word.partition("=")
        cell = _CELL.fullmatch(value)
        if name in ("from", "to") and cell:
            self.ends[name] = (int(cell[1]) - 1, int(cell[2]) - 1)
        elif word and not word.strip("udlr"):
            self.way = word
        elif word in _WORDS:
            self.styles.append(_WORDS[word])
        elif word == "swap":
            self.swaps = True
            self.labels = [("_", tokens) for _, tokens in self.labels]
        elif word == "description":
            self.labels = [("|", tokens) for _, tokens in self.labels]


def _split_options(tokens: list[str]) -> list[list[str]]:
    """Split options at commas outside of braces and quotes."""
    options: list[list[str]] = [[]]
    depth, quoted = 0, False
    for token in tokens:
        depth += (token == "{") - (token == "}")
        quoted ^= token == '"' and not depth
        if token == "," and not depth and not quoted:
            options.append([])
        elif options[-1] or token != " ":
            options[-1].append(token)
    return options


class XyCell(CellTokens):
    r"""A cell of ``\xymatrix``."""

    commands = frozenset({r"\ar"})

    def take_entry(self) -> list[str]:
        """Take an object with a frame: ``*+[F]{X}``."""
        start = self.i
        if self.peek() == "*":
            while self.peek() in _FRAMES or self.peek() == "[":
                if self.take_option_tokens() is None:
                    self.i += 1
            if self.peek() == "{":
                return self.take_tokens()
            self.i = start
        return []

    def read_arrow(self, command: str) -> Arrow:
        """Read modifiers, targets and labels, in any order."""
        offset: Place = (0, 0)
        styles: list[str] = []
        labels: list[Label] = []
        has_target = False
        while True:
            token = self.peek()
            if token == "@":
                self.i += 1
                styles += self._read_modifier()
            elif token == "[":
                offset, has_target = self._read_target(), True
            elif token in ("'", ";", "`") and self.tokens[self.i + 1] == "[":
                self.i += 1  # the way leads over the next target
            elif token in _SIDES:
                self.i += 1
                labels.append((token, self._read_label()))
            else:
                break
        self.is_damaged = self.is_damaged or not has_target
        return self.make_arrow(offset, styles, labels)

    def _read_target(self) -> Place:
        """Return the place of ``[dr]`` or ``[1,1]`` relative to this one."""
        text = "".join(self.take_brackets()).replace(" ", "")
        numbers = _OFFSET.fullmatch(text)
        if numbers:
            return int(numbers[1]), int(numbers[2])
        return self.add_steps(text)

    def _read_modifier(self) -> list[str]:
        """Return the styles of what follows an ``@``."""
        while self.peek() in _BEFORE_STYLES:
            self.i += 1
        token = self.peek()
        if token == "{":
            return _name_styles("".join(self.take_tokens()[1:-1]))
        if token == "[":
            self.take_brackets()
        elif token in _CLOSING:
            self._skip_to(_CLOSING[token])
        else:
            start = self.i
            while self.peek() in _STEMS:
                self.i += 1
            stem = "".join(self.tokens[start : self.i])
            return _name_styles(stem) if stem else []
        return []

    def _skip_to(self, closing: str) -> None:
        self.i += 1
        while self.peek() not in (closing, END):
            self.i += 1
        if not self.skip_if(closing):
            self.is_damaged = True

    def _read_label(self) -> list[str]:
        """Return the tokens of a label; none for a hole or a tip."""
        while (token := self.peek()) in _BEFORE_LABELS:
            if token == "(":
                self._skip_to(")")
            elif token == "[":
                self.take_brackets()
            else:
                self.i += 1
                if token == "!":
                    self.take_tokens()
        if self.skip_if("@"):
            self._read_modifier()
            return []
        label = self.take_tokens()
        if not label:
            self.is_damaged = True
        return [] if label == [r"\hole"] else label


def _name_styles(text: str) -> list[str]:
    """Name what is between the braces of ``@{...}``.

    >>> _name_styles("^{(}->"), _name_styles("-->"), _name_styles("->")
    (['hook'], ['dashed'], [])
    """
    text = text.replace(" ", "")
    return [name for pattern, name in _XY_STYLES if pattern.search(text)]


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


ENVIRONMENTS: dict[str, Handler] = {"tikzcd": _read_tikzcd}
"""By the name between ``\\begin{`` and ``}``."""

HANDLERS: dict[str, Handler] = {r"\xymatrix": _read_xymatrix}
