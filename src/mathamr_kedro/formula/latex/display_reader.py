r"""The reader of LaTeX for display: what is drawn, not what it means.

```
2\,(a+b)_1     Row[2, space, (, a, +, b, ), )_1]         every space and brace counts
\left( x \right)^2    Row[( x )] stretched, with a script
```

The commands are those of the trees, but rows stay as written, and commands that mean
the same but look different (``\hat`` and ``\widehat``) are distinguished.
"""

from __future__ import annotations

from functools import lru_cache, partial

from mathamr_kedro.formula.latex.alphabets import MATH, Font
from mathamr_kedro.formula.latex.boxes import Box, Group
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
from mathamr_kedro.formula.latex.reader import Entry, Handler, Reader
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
        """Return a row as written, scripts on their bases; no grammar is applied."""
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


def _read_plainly(reader: Reader, command: str) -> list[Box]:
    """Return what the reader of trees makes of a command."""
    made: list[Box] = []
    list_entries(MATH)[command](reader, made)  # type: ignore[operator]
    return made


def _switch(reader: Reader, boxes: list[Box], command: str, name: str) -> None:
    """Read a style, and leave a mark where it changes."""
    boxes += [*_read_plainly(reader, command), _StyleSwitch(name)]


def _enclose(reader: Reader, boxes: list[Box], command: str, notation: str) -> None:
    """Read a command that draws another one in a given style."""
    made = _read_plainly(reader, command)
    boxes += [Enclosed(item, notation) for item in made]  # type: ignore[arg-type]


def _around(reader: Reader, boxes: list[Box], notation: str) -> None:
    boxes.append(Enclosed(reader.read_item(), notation))


def _wide(reader: Reader, boxes: list[Box], char: str) -> None:
    boxes.append(App(Symbol("OVERACCENT", char, name=WIDE), [reader.read_item()]))


def _read_left(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\left( ... \right)`` as one row with high fences."""
    items: list[Item] = []
    for box in _read_plainly(reader, r"\left"):
        if box.__class__ is Group:
            inner = reader.make_item(box.boxes)
            items += inner.items if inner.__class__ is Row else [inner]
        else:
            items.append(box)  # type: ignore[arg-type]
    boxes.append(Row(items, STRETCHED))


def _size(reader: Reader, boxes: list[Box], command: str, scale: str) -> None:
    r"""Read ``\Big(``: a fence of a size of its own."""
    for box in _read_plainly(reader, command):
        is_fence = box.__class__ is Symbol
        boxes.append(Enclosed(box, scale) if is_fence else box)  # type: ignore[arg-type]


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
    inner = reader.make_item(_read_plainly(reader, r"\begin"))
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

_FRACTION_STYLES = {
    **dict.fromkeys((r"\dfrac", r"\cfrac", r"\dbinom"), "display"),
    **dict.fromkeys((r"\tfrac", r"\tbinom"), "text"),
}

_OWN: dict[str, Handler] = {
    r"\left": _read_left,
    r"\begin": _read_environment,
    r"\widehat": partial(_wide, char="\u0302"),
    r"\widetilde": partial(_wide, char="~"),
    **dict.fromkeys((r"\overline", r"\bar"), partial(_around, notation="overlined")),
    r"\overrightarrow": partial(_wide, char="→"),
    r"\overleftarrow": partial(_wide, char="←"),
    r"\overleftrightarrow": partial(_wide, char="↔"),
    **dict.fromkeys(
        (r"\underline", r"\underbar"), partial(_around, notation="underlined")
    ),
    r"\xRightarrow": partial(long_arrow, arrow=Symbol("ARROW", "⇒")),
    r"\xLeftarrow": partial(long_arrow, arrow=Symbol("ARROW", "⇐")),
    r"\xleftrightarrow": partial(long_arrow, arrow=Symbol("ARROW", "↔")),
    r"\xmapsto": partial(long_arrow, arrow=Symbol("ARROW", "↦")),
    **{
        command: partial(_enclose, command=command, notation=notation)
        for command, notation in _FRACTION_STYLES.items()
    },
    **{
        rf"\{name}style": partial(_switch, command=rf"\{name}style", name=name)
        for name in ("display", "text", "script")
    },
    **dict.fromkeys(
        (r"\cancel", r"\bcancel", r"\xcancel"), partial(_around, notation="struck")
    ),
    **dict.fromkeys((r"\color", r"\definecolor"), _skip_color),
    **dict.fromkeys(
        (r"\textcolor", r"\href", r"\class", r"\cssId", r"\style", r"\bbox"),
        _skip_first,
    ),
    **{
        rf"\{size}{suffix}": partial(_size, command=rf"\{size}{suffix}", scale=scale)
        for size, scale in _SIZES.items()
        for suffix in ("", "l", "m", "r")
    },
}


@lru_cache(maxsize=64)
def _list_display_entries(font: Font) -> dict[str, Entry]:
    """Return what each token draws while ``font`` is selected."""
    return {**list_entries(font), **_OWN}
