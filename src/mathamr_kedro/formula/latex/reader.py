r"""The reader of LaTeX: tokens become items, commands are obeyed.

```
tokens ──> boxes (as TeX sees them: symbols, groups, scripts) ──> row ──> one item
```

A brace group is one box to a script that follows it, and nothing to the grammar: its
items are poured into the row. Arguments of commands are rows of their own and are read
by the grammar at once, so items are always ready-made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, Union

from mathamr_kedro.formula.latex.alphabets import MATH, Font, choose_font
from mathamr_kedro.formula.latex.factors import parse_row
from mathamr_kedro.formula.latex.fragments import arrange_fragments
from mathamr_kedro.formula.latex.grammar import WorkLimitError
from mathamr_kedro.formula.latex.ligatures import join_neighbours
from mathamr_kedro.formula.latex.nodes import (
    App,
    Dual,
    Hint,
    Item,
    Row,
    ScriptMark,
    Undefined,
)
from mathamr_kedro.formula.latex.spacing import settle_hints
from mathamr_kedro.formula.latex.symbols import (
    ABSENT,
    INVISIBLE_PLUS,
    Symbol,
    letter,
    number,
)
from mathamr_kedro.formula.latex.tokens import END

DISPLAY, TEXT, SCRIPT, SCRIPTSCRIPT = range(4)
"""Styles of math mode, from large to small."""

DEEPEST = 60
"""Groups, arguments and environments inside each other."""

CLOSE_GROUP = frozenset({"}", END})
_ENDS = frozenset({END, "}", r"\right", "&", r"\\", r"\cr", r"\end"})


class TooDeepError(Exception):
    """A formula nests deeper than :data:`DEEPEST`."""


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


Box: TypeAlias = Union[Item, Group]
Handler: TypeAlias = Callable[["Reader", list[Box]], None]
Entry: TypeAlias = Union[Symbol, Handler]


class Reader:
    """Reads one formula; see :func:`read_formula`.

    Args:
        tokens: the formula, ended by an empty token.
        tables: for each font, what its tokens mean.
        problems: reasons and how often they were met.
    """

    def __init__(
        self,
        tokens: list[str],
        tables: Callable[[Font], dict[str, Entry]],
        problems: dict[str, int],
    ) -> None:
        self.tokens = tokens
        self.i = 0
        self.tables = tables
        self.problems = problems
        self.font = MATH
        self.table = tables(MATH)
        self.style = DISPLAY
        self.level = 1
        self.depth = 0

    def note(self, problem: str) -> None:
        """Count a problem."""
        self.problems[problem] = self.problems.get(problem, 0) + 1

    def set_font(self, font: Font) -> None:
        """Read letters in another font from here on."""
        self.font = font
        self.table = self.tables(font)

    def peek(self) -> str:
        """Return the next token that is no space, without taking it."""
        while self.tokens[self.i] == " ":
            self.i += 1
        return self.tokens[self.i]

    def take(self) -> str:
        """Take the next token that is no space; at the end, nothing."""
        token = self.peek()
        if token is not END:
            self.i += 1
        return token

    def skip_if(self, token: str) -> bool:
        """Take the next token if it is ``token``."""
        if self.peek() != token:
            return False
        self.i += 1
        return True

    # Rows and groups

    def read_boxes(self, ends: frozenset[str]) -> list[Box]:
        """Return the boxes up to a token of ``ends``, which is left where it is."""
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeepError
        boxes: list[Box] = []
        tokens = self.tokens
        get = self.table.get
        font = self.font
        while True:
            token = tokens[self.i]
            entry = get(token)
            if entry.__class__ is Symbol:
                self.i += 1
                boxes.append(entry)  # type: ignore[arg-type]
                continue
            if token in ends:
                break
            self.i += 1
            if entry is None:
                boxes.append(self.read_unknown(token))
                continue
            entry(self, boxes)  # type: ignore[operator]
            if self.font is not font:
                font = self.font
                get = self.table.get
        self.depth -= 1
        return boxes

    def read_unknown(self, token: str) -> Item:
        """Return a character outside the tables, or a command nobody defined."""
        if token[0] != "\\":
            return letter(token, self.font)
        self.note(f"undefined:{token}")
        return Undefined(token)

    def read_scope(
        self,
        ends: frozenset[str],
        font: Font | None = None,
        style: int | None = None,
    ) -> list[Box]:
        """Return the boxes up to ``ends``; fonts and styles in them stay in them."""
        saved = self.font, self.table, self.style
        if font is not None:
            self.set_font(font)
        if style is not None:
            self.style = style
        self.level += 1
        boxes = self.read_boxes(ends)
        self.level -= 1
        self.font, self.table, self.style = saved
        return boxes

    def read_argument(
        self, font: Font | None = None, style: int | None = None
    ) -> list[Box]:
        """Return the boxes of the argument of a command: a group or one token."""
        token = self.peek()
        if token == "{":
            self.i += 1
            boxes = self.read_scope(CLOSE_GROUP, font, style)
            if not self.skip_if("}"):
                self.note("missing_brace")
            return boxes
        if token in _ENDS:
            self.note("missing_argument")
            return []
        saved = self.font, self.table, self.style
        if font is not None:
            self.set_font(font)
        if style is not None:
            self.style = style
        boxes = self.read_one()
        self.font, self.table, self.style = saved
        return boxes

    def read_one(self) -> list[Box]:
        """Return the boxes of one token and the arguments it takes."""
        token = self.take()
        entry = self.table.get(token)
        if entry.__class__ is Symbol:
            return [entry]  # type: ignore[list-item]
        if entry is None:
            return [self.read_unknown(token)]
        if token in _DIGITS:
            return [number(token, token, choose_font(token, self.font))]
        self.depth += 1
        if self.depth > DEEPEST:
            raise TooDeepError
        boxes: list[Box] = []
        entry(self, boxes)  # type: ignore[operator]
        self.depth -= 1
        return boxes

    def read_item(self, style: int | None = None, font: Font | None = None) -> Item:
        """Return the argument of a command as one item."""
        return self.make_item(self.read_argument(font, style))

    def read_option(self) -> list[Box] | None:
        """Return the boxes between square brackets, None if there are no brackets."""
        if self.peek() != "[":
            return None
        start = self.i + 1
        end = _find_bracket(self.tokens, start)
        boxes = self.read_aside(self.tokens[start:end], SCRIPT)
        self.i = min(end + 1, len(self.tokens) - 1)
        return boxes

    def read_aside(self, tokens: list[str], style: int) -> list[Box]:
        """Return the boxes of other tokens than the ones that come next."""
        saved = self.tokens, self.i
        self.tokens, self.i = [*tokens, END], 0
        boxes = self.read_scope(_END_ONLY, style=style)
        self.tokens, self.i = saved
        return boxes

    def take_raw_argument(self) -> str:
        """Take an argument that is no math, e.g. a name or a length."""
        token = self.take()
        if token != "{":
            return token
        depth = 1
        taken = []
        while depth:
            token = self.tokens[self.i]
            if token is END:
                break
            self.i += 1
            depth += (token == "{") - (token == "}")
            taken.append(token)
        if not depth:
            taken.pop()
        return "".join(taken)

    def take_raw_option(self) -> str | None:
        """Take what stands between square brackets, if they come next."""
        if self.peek() != "[":
            return None
        taken = []
        while self.tokens[self.i] not in ("]", END):
            self.i += 1
            taken.append(self.tokens[self.i])
        if self.tokens[self.i] == "]":
            self.i += 1
        return "".join(taken[:-1])

    def take_length(self) -> str:
        """Take a length without braces, e.g. ``-3pt``; nothing if there is none."""
        start = self.i
        while self.tokens[self.i] in _LENGTH_CHARS:
            self.i += 1
        unit = "".join(self.tokens[self.i : self.i + 2])
        if unit not in _UNITS:
            self.i = start
            return ""
        self.i += 2
        return "".join(self.tokens[start : self.i])

    def take_tokens(self) -> list[str]:
        """Take the tokens of an argument, braces and all."""
        start = self.i
        token = self.take()
        if token == "{":
            self.i -= 1
            self.take_raw_argument()
        return self.tokens[start : self.i]

    # From boxes to items

    def make_item(
        self, boxes: list[Box], rule: str = "anything", punctuated: bool = False
    ) -> Item:
        """Return what a row means: one item, or the row itself if nobody knows.

        Args:
            boxes: the row.
            rule: the rule of the grammar to read it by.
            punctuated: whether punctuation at the end is not part of the formula.
        """
        if len(boxes) == 1 and boxes[0].__class__ is Symbol and not punctuated:
            return boxes[0]  # type: ignore[return-value]
        items = pour(boxes)
        items = settle_hints(join_mixed_numbers(items))
        end = len(items)
        if punctuated:
            while end and items[end - 1].role in ("PUNCT", "PERIOD"):
                end -= 1
        if end < 2:
            result: Item | None = items[0] if end else ABSENT
        else:
            result = self._parse(items[:end] if end < len(items) else items, rule)
        if result is None:
            return Row(arrange_fragments(items))
        if end < len(items):
            return Dual(result, Row([result, *items[end:]]))
        return result

    def _parse(self, items: list[Item], rule: str) -> Item | None:
        try:
            result = parse_row(items, rule)
        except WorkLimitError:
            self.note("work_limit")
            return None
        if result is None:
            self.note("unparsed")
        return result

    # Scripts

    def read_script(self, boxes: list[Box], up: bool) -> None:
        """Read the script after ``^`` or ``_`` and append it to the boxes."""
        floats = find_base(boxes, up, self)
        level = self.level
        style = SCRIPT if self.style < SCRIPT else SCRIPTSCRIPT
        token = self.peek()
        rest: list[Box] = []
        if token == "{":
            script = self.read_argument(style=style)
        elif token in _ENDS:
            self.note("missing_script")
            return
        else:
            script, rest = self._read_single_script(style)
        if not all(map(is_empty, script)):
            rule = "superscript" if up else "subscript"
            item = self.make_item(script, rule)
            boxes.append(ScriptMark(item, up, floats, level))
        boxes += rest

    def read_made_script(self, boxes: list[Box], tokens: list[str]) -> None:
        """Read the superscript that ``tokens`` make, e.g. primes."""
        saved = self.tokens, self.i
        self.tokens, self.i = ["{", *tokens, "}", END], 0
        self.read_script(boxes, up=True)
        self.tokens, self.i = saved

    def _read_single_script(self, style: int) -> tuple[list[Box], list[Box]]:
        """Return the first box of the next token, and the boxes behind it."""
        found: list[Box] = []
        while not found and self.peek() not in _ENDS:
            found = self.read_argument(style=style)
        return found[:1], found[1:]


_DIGITS = frozenset("0123456789")
_LENGTH_CHARS = frozenset("0123456789.- ")
_UNITS = frozenset("pt em ex mu cm mm in pc bp px".split())
_END_ONLY = frozenset({END})


def _find_bracket(tokens: list[str], start: int) -> int:
    """Return the place of the ``]`` that ends an option, or of the end."""
    depth = 0
    for place in range(start, len(tokens)):
        token = tokens[place]
        if token == "]" and not depth:
            return place
        depth += (token == "{") - (token == "}")
        if depth < 0 or token is END:
            break
    return place


def is_empty(box: Box) -> bool:
    """Return whether a box shows nothing: a space or an empty group."""
    if box.__class__ is Hint:
        return True
    if box.__class__ is Group and box.braced:  # type: ignore[union-attr]
        return all(map(is_empty, box.boxes))  # type: ignore[union-attr]
    return False


def find_base(boxes: list[Box], up: bool, reader: Reader) -> bool:
    """Return whether a script floats because no box before it can carry it.

    An empty group right before the script makes it float, and disappears.
    """
    floats = True
    seen = 0
    spaced = False
    for place in range(len(boxes) - 1, -1, -1):
        box = boxes[place]
        if box.__class__ is Hint:
            spaced = True
            continue
        if is_empty(box):
            del boxes[place]
            break
        if box.__class__ is not ScriptMark:
            return False
        if box.up == up:  # type: ignore[union-attr]
            if not spaced:
                reader.note("double_script")
            return True
        floats = False
        seen += 1
        if box.floats or seen > 1:  # type: ignore[union-attr]
            break
    return floats


def pour(boxes: list[Box]) -> list[Item]:
    """Return the items of boxes, groups poured out."""
    for box in boxes:
        if box.__class__ is Group:
            break
    else:
        return boxes  # type: ignore[return-value]
    items: list[Item] = []
    stack = [iter(boxes)]
    while stack:
        for box in stack[-1]:
            if box.__class__ is Group:
                stack.append(iter(box.boxes))  # type: ignore[union-attr]
                break
            items.append(box)  # type: ignore[arg-type]
        else:
            stack.pop()
    return join_neighbours(items)


def join_mixed_numbers(items: list[Item]) -> list[Item]:
    r"""Return a row in which ``2\frac13`` is a sum, not a product."""
    for place in range(len(items) - 1, 0, -1):
        fraction = items[place]
        if fraction.__class__ is App and _is_mixed(items[place - 1], fraction):  # type: ignore[arg-type]
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
