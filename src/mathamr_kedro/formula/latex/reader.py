r"""The reader of LaTeX: tokens become items, commands are executed.

```
tokens ──> boxes (as TeX sees them: symbols, groups, scripts) ──> row ──> one item
```

Arguments of commands are rows of their own and are parsed by the grammar at once, so
items are always complete.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from mathamr_kedro.formula.latex.alphabets import MATH, Font
from mathamr_kedro.formula.latex.boxes import Box, arrange_fragments, settle_row
from mathamr_kedro.formula.latex.grammar import parse_row
from mathamr_kedro.formula.latex.limits import MAX_DEPTH, LimitError
from mathamr_kedro.formula.latex.nodes import (
    Dual,
    Hint,
    Item,
    Row,
    ScriptMark,
    Undefined,
)
from mathamr_kedro.formula.latex.symbols import ABSENT, Symbol
from mathamr_kedro.formula.latex.tokens import END, TokenStream

Handler: TypeAlias = Callable[["Reader", list[Box]], None]
"""Executes a command: reads its arguments and appends boxes."""
Entry: TypeAlias = Symbol | Handler
"""What a token means."""

DISPLAY, TEXT, SCRIPT, SCRIPTSCRIPT = range(4)
"""Styles of math mode, from large to small."""

CLOSE_GROUP = frozenset({"}", END})
_ENDS = frozenset({END, "}", r"\right", "&", r"\\", r"\cr", r"\end"})
_END_ONLY = frozenset({END})
_DIGITS = frozenset("0123456789")


class Reader(TokenStream):
    """Reads one formula.

    Args:
        tokens: the formula, ended by :data:`END`.
        tables: for each font, what its tokens mean.
        problems: reasons with their counts; filled here.
        is_total: whether to keep names that the published trees lose.
    """

    def __init__(
        self,
        tokens: list[str],
        tables: Callable[[Font], dict[str, Entry]],
        problems: dict[str, int],
        is_total: bool = False,
    ) -> None:
        super().__init__(tokens)
        self.is_total = is_total
        self.tables = tables
        self.problems = problems
        self.font = MATH
        self.table = tables(MATH)
        self.style = DISPLAY
        self.level = 1
        self.depth = 0

    def note(self, problem: str, name: str = "") -> None:
        """Count a problem; the name of its cause is kept if it is a short word."""
        if name and len(name) <= 30 and name.isascii() and name.isalpha():
            problem = f"{problem}:{name}"
        self.problems[problem] = self.problems.get(problem, 0) + 1

    def set_font(self, font: Font) -> None:
        """Read letters in another font from here on."""
        self.font = font
        self.table = self.tables(font)

    # Rows and groups

    def read_boxes(self, ends: frozenset[str]) -> list[Box]:
        """Return the boxes up to a token of ``ends``, which is left where it is."""
        self._descend()
        boxes: list[Box] = []
        tokens = self.tokens
        get = self.table.get
        font = self.font
        while True:
            token = tokens[self.i]
            entry = get(token)
            if entry.__class__ is Symbol:
                self.i += 1
                # Most tokens are symbols, none of which ends a row: the cheapest test
                # comes first.
                boxes.append(entry)
                continue
            if token in ends:
                break
            self.i += 1
            if entry is None:
                boxes.append(self._read_unknown(token))
                continue
            entry(self, boxes)  # type: ignore[operator]
            # A command like \bf changes the font for the rest of the group.
            if self.font is not font:
                font = self.font
                get = self.table.get
        self.depth -= 1
        return boxes

    def _descend(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise LimitError("too_deep")

    def _read_unknown(self, token: str) -> Item:
        """Return a character outside the tables, or an undefined command."""
        if token[0] != "\\":
            return Symbol.letter(token, self.font)
        self.note("undefined", token[1:])
        return Undefined(token, self.is_total)

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

    def read_aside(self, tokens: list[str], style: int) -> list[Box]:
        """Return the boxes of other tokens than the ones that come next."""
        saved = self.tokens, self.i
        self.tokens, self.i = [*tokens, END], 0
        boxes = self.read_scope(_END_ONLY, style=style)
        self.tokens, self.i = saved
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
            return [entry]
        # TeX takes one digit as an argument: \frac12 is a half.
        if token in _DIGITS:
            return [Symbol.number(token, token, self.font.choose(token))]
        boxes: list[Box] = []
        if entry is not None:
            self._descend()
            entry(self, boxes)  # type: ignore[operator]
            self.depth -= 1
        elif token is not END:
            boxes.append(self._read_unknown(token))
        return boxes

    def read_item(self, style: int | None = None, font: Font | None = None) -> Item:
        """Return the argument of a command as one item."""
        return self.make_item(self.read_argument(font, style))

    def read_option(self) -> list[Box] | None:
        """Return the boxes between square brackets, None if there are no brackets."""
        tokens = self.take_option_tokens()
        return None if tokens is None else self.read_aside(tokens, SCRIPT)

    # From boxes to items

    def make_item(
        self, boxes: list[Box], rule: str = "anything", punctuated: bool = False
    ) -> Item:
        """Return a row as one item, or the row itself if it cannot be parsed.

        Args:
            boxes: the row.
            rule: the rule of the grammar to read it by.
            punctuated: whether punctuation at the end is not part of the formula.
        """
        # Most arguments are one symbol, which no rule changes.
        if len(boxes) == 1 and boxes[0].__class__ is Symbol and not punctuated:
            return boxes[0]
        items = settle_row(boxes)
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
        except LimitError as error:
            self.note(error.reason)
            return None
        if result is None:
            self.note("unparsed")
        return result

    # Scripts

    def read_script(self, boxes: list[Box], up: bool) -> None:
        """Read the script after ``^`` or ``_`` and append it to the boxes."""
        floats, is_double = _find_base(boxes, up)
        if is_double:
            self.note("double_script")
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
        if not all(box.is_empty for box in script):
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


def _find_base(boxes: list[Box], up: bool) -> tuple[bool, bool]:
    """Return whether a script floats for want of a base, and if it is a second one.

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
        if box.is_empty:
            del boxes[place]
            break
        if box.__class__ is not ScriptMark:
            return False, False
        if box.up == up:
            return True, not spaced
        floats = False
        seen += 1
        if box.floats or seen > 1:
            break
    return floats, False
