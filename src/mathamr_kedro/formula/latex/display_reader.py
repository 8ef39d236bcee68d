r"""The reader of LaTeX for the eye: what is drawn, and nothing of what it means.

```
2\,(a+b)_1     Row[2, space, (, a, +, b, ), )_1]         every space and brace counts
\left( x \right)^2    Row[( x )] stretched, with a script
```

The commands are those of the trees; only rows stay as they were written, and commands
that mean the same but look different (``\hat`` and ``\widehat``) are told apart.
"""

from __future__ import annotations

from functools import lru_cache

from mathamr_kedro.formula.latex.alphabets import MATH, Font
from mathamr_kedro.formula.latex.boxes import Box, Entry, Group, Handler
from mathamr_kedro.formula.latex.commands import list_entries
from mathamr_kedro.formula.latex.commands.constructs import long_arrow
from mathamr_kedro.formula.latex.nodes import (
    App,
    Enclosed,
    Hint,
    Item,
    Row,
    Script,
    ScriptMark,
)
from mathamr_kedro.formula.latex.reader import Reader
from mathamr_kedro.formula.latex.symbols import ABSENT, Symbol

STRETCHED = "STRETCHED"
"""Role of a row whose fences are as high as what they hold."""

WIDE = "wide"
"""Name of an accent that is as wide as its base."""


class DisplayReader(Reader):
    """Reads one formula as it is drawn."""

    def __init__(self, tokens: list[str], problems: dict[str, int], style: int) -> None:
        super().__init__(tokens, _list_display_entries, problems)
        self.style = style

    def make_item(
        self, boxes: list[Box], rule: str = "anything", punctuated: bool = False
    ) -> Item:
        """Return a row as it is, scripts on their bases; the grammar is not asked."""
        items = self._arrange(boxes)
        return items[0] if len(items) == 1 else Row(items)

    def _arrange(self, boxes: list[Box]) -> list[Item]:
        items: list[Item] = []
        for place, box in enumerate(boxes):
            if box.__class__ is Group:
                items.append(self._open_group(box.boxes))
            elif box.__class__ is _StyleSwitch:
                rest = Row(self._arrange(boxes[place + 1 :]))
                return [*items, Enclosed(rest, box.name)]
            elif box.__class__ is ScriptMark:
                base = ABSENT if box.floats or not items else items.pop()
                items.append(_attach(base, box))
            else:
                items.append(box)  # type: ignore[arg-type]
        return items

    def _open_group(self, boxes: list[Box]) -> Item:
        """Return a group as one item; a single symbol acts as itself."""
        items = self._arrange(boxes)
        if len(items) == 1 and items[0].__class__ is Symbol:
            return items[0]
        return Row(items)


def _attach(base: Item, mark: ScriptMark) -> Script:
    place = mark.place or base.place or "post"
    return Script(base, mark.script, mark.up, place, mark.level, base.role)


class _StyleSwitch(Hint):
    r"""``\displaystyle``: what follows in the group is set in another style."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__(0.0)
        self.name = name


def _switched(command: str, name: str) -> Handler:
    """Return a handler that also leaves a mark where the style changes."""
    switch, mark = list_entries(MATH)[command], _StyleSwitch(name)

    def read(reader: Reader, boxes: list[Box]) -> None:
        switch(reader, boxes)  # type: ignore[operator]
        boxes.append(mark)

    return read


def _enclosed(command: str, notation: str) -> Handler:
    """Return the handler of a command that draws like another one in a style."""
    inner = list_entries(MATH)[command]

    def read(reader: Reader, boxes: list[Box]) -> None:
        made: list[Box] = []
        inner(reader, made)  # type: ignore[operator]
        boxes += [Enclosed(item, notation) for item in made]  # type: ignore[arg-type]

    return read


def _around(notation: str) -> Handler:
    def read(reader: Reader, boxes: list[Box]) -> None:
        boxes.append(Enclosed(reader.read_item(), notation))

    return read


def _wide(role: str, char: str) -> Handler:
    accent = Symbol(role, char, name=WIDE)

    def read(reader: Reader, boxes: list[Box]) -> None:
        boxes.append(App(accent, [reader.read_item()]))

    return read


def _read_left(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\left( ... \right)`` as one row with high fences."""
    made: list[Box] = []
    list_entries(MATH)[r"\left"](reader, made)  # type: ignore[operator]
    items: list[Item] = []
    for box in made:
        if box.__class__ is Group:
            inner = reader.make_item(box.boxes)
            items += inner.items if inner.__class__ is Row else [inner]
        else:
            items.append(box)  # type: ignore[arg-type]
    boxes.append(Row(items, STRETCHED))


def _sized(command: str, scale: str) -> Handler:
    r"""Return the handler of ``\Big(``: a fence of a size of its own."""
    read_plain = list_entries(MATH)[command]

    def read(reader: Reader, boxes: list[Box]) -> None:
        made: list[Box] = []
        read_plain(reader, made)  # type: ignore[operator]
        for box in made:
            is_fence = box.__class__ is Symbol
            boxes.append(Enclosed(box, scale) if is_fence else box)  # type: ignore[arg-type]

    return read


def _skip_first(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\textcolor{red}{x}`` or ``\href{...}{x}``: only ``x`` is drawn."""
    reader.take_raw_argument()
    inner = reader.read_argument()
    if inner:
        boxes.append(Group(inner, braced=False))


def _skip_color(reader: Reader, boxes: list[Box]) -> None:
    reader.take_raw_option()
    reader.take_raw_argument()


def _read_environment(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\begin{...}`` and remember which environment it was."""
    place = reader.i
    name = reader.take_raw_argument().strip().removesuffix("*")
    template = reader.take_raw_argument() if name == "array" else ""
    reader.i = place
    made: list[Box] = []
    list_entries(MATH)[r"\begin"](reader, made)  # type: ignore[operator]
    inner = reader.make_item(made)
    notation = ALIGNMENTS.get(name, "")
    if template:
        columns = [letter for letter in template if letter in "lcr"]
        notation = "left" if columns and set(columns) == {"l"} else notation
    boxes.append(Enclosed(inner, notation) if notation else inner)


ALIGNMENTS = {
    **dict.fromkeys(
        "align aligned alignat alignedat eqnarray flalign split".split(), "align"
    ),
    "cases": "left",
    "smallmatrix": "small",
}
"""Environments whose columns are not centred."""

_SIZES = {"big": "size-1", "Big": "size-2", "bigg": "size-3", "Bigg": "size-4"}

_OWN: dict[str, Handler] = {
    r"\left": _read_left,
    r"\begin": _read_environment,
    r"\widehat": _wide("OVERACCENT", "\u0302"),
    r"\widetilde": _wide("OVERACCENT", "~"),
    **dict.fromkeys((r"\overline", r"\bar"), _around("overlined")),
    r"\overrightarrow": _wide("OVERACCENT", "→"),
    r"\overleftarrow": _wide("OVERACCENT", "←"),
    r"\overleftrightarrow": _wide("OVERACCENT", "↔"),
    **dict.fromkeys((r"\underline", r"\underbar"), _around("underlined")),
    r"\xRightarrow": long_arrow(Symbol("ARROW", "⇒")),
    r"\xLeftarrow": long_arrow(Symbol("ARROW", "⇐")),
    r"\xleftrightarrow": long_arrow(Symbol("ARROW", "↔")),
    r"\xmapsto": long_arrow(Symbol("ARROW", "↦")),
    r"\dfrac": _enclosed(r"\dfrac", "display"),
    r"\cfrac": _enclosed(r"\cfrac", "display"),
    r"\tfrac": _enclosed(r"\tfrac", "text"),
    r"\dbinom": _enclosed(r"\dbinom", "display"),
    r"\tbinom": _enclosed(r"\tbinom", "text"),
    r"\displaystyle": _switched(r"\displaystyle", "display"),
    r"\textstyle": _switched(r"\textstyle", "text"),
    r"\scriptstyle": _switched(r"\scriptstyle", "script"),
    **dict.fromkeys((r"\cancel", r"\bcancel", r"\xcancel"), _around("struck")),
    **dict.fromkeys((r"\color", r"\definecolor"), _skip_color),
    **dict.fromkeys(
        (r"\textcolor", r"\href", r"\class", r"\cssId", r"\style", r"\bbox"),
        _skip_first,
    ),
} | {
    rf"\{size}{suffix}": _sized(rf"\{size}{suffix}", scale)
    for size, scale in _SIZES.items()
    for suffix in ("", "l", "m", "r")
}


@lru_cache(maxsize=64)
def _list_display_entries(font: Font) -> dict[str, Entry]:
    """Return what each token draws while ``font`` is selected."""
    return {**list_entries(font), **_OWN}
