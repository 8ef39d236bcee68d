r"""Boxes: what TeX has read so far, and how they become a row of items.

```
boxes   2  \frac13  \quad  {a b}        row   2+1/3  ,  a  b
```

A brace group is one box to a script that follows it, and nothing to the grammar: its
items are poured into the row. A number before a fraction of numbers is a sum. Most
spaces mean nothing; a quad or more separates like a comma (which is not drawn).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from mathamr_kedro.formula.latex.ligatures import append_symbol
from mathamr_kedro.formula.latex.nodes import App, Hint, Item
from mathamr_kedro.formula.latex.symbols import INVISIBLE_PLUS, Symbol

if TYPE_CHECKING:
    from mathamr_kedro.formula.latex.reader import Reader

_SEPARATES = 10.0
"""Points of space from which on it separates: one quad."""


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

    @property
    def is_empty(self) -> bool:
        """Whether it shows nothing: braces around spaces or nothing."""
        return self.braced and all(box.is_empty for box in self.boxes)


Box: TypeAlias = Item | Group
Handler: TypeAlias = Callable[["Reader", list[Box]], None]
Entry: TypeAlias = Symbol | Handler


def append_group(boxes: list[Box], inner: list[Box], braced: bool) -> None:
    """Append a group; a single symbol needs none."""
    if len(inner) == 1 and inner[0].__class__ is Symbol:
        append_symbol(boxes, inner[0])
    elif inner or braced:
        boxes.append(Group(inner, braced))


def pour(boxes: list[Box]) -> list[Item]:
    """Return the items of boxes, groups poured out."""
    if not any(box.__class__ is Group for box in boxes):
        return boxes  # type: ignore[return-value]
    items: list[Item] = []
    stack = [iter(boxes)]
    while stack:
        for box in stack[-1]:
            if box.__class__ is Group:
                stack.append(iter(box.boxes))
                break
            items.append(box)  # type: ignore[arg-type]
        else:
            stack.pop()
    return _join_neighbours(items)


def _join_neighbours(items: list[Item]) -> list[Item]:
    """Return a row in which neighbours that are one symbol are joined."""
    row: list[Item] = []
    for item in items:
        if item.__class__ is Symbol:
            append_symbol(row, item)
        else:
            row.append(item)
    return row


def settle_row(boxes: list[Box]) -> list[Item]:
    """Return the items of boxes as the grammar reads them."""
    items: list[Item] = boxes  # type: ignore[assignment]
    kinds = {box.__class__ for box in boxes}
    if Group in kinds:
        items = pour(boxes)
        kinds = {item.__class__ for item in items}
    if App in kinds:
        items = _join_mixed_numbers(items)
    if Hint in kinds:
        items = _settle_hints(items)
    return items


def _join_mixed_numbers(items: list[Item]) -> list[Item]:
    r"""Return a row in which ``2\frac13`` is a sum, not a product."""
    for place in range(len(items) - 1, 0, -1):
        fraction = items[place]
        if fraction.__class__ is App and _is_mixed(items[place - 1], fraction):
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


def _settle_hints(items: list[Item]) -> list[Item]:
    """Return a row without its small spaces; wide ones become punctuation."""
    settled: list[Item] = []
    width = 0.0
    phantom = False
    for item in items:
        if item.__class__ is Hint:
            if settled and settled[-1].role != "OPEN":
                width += item.width
                phantom = phantom or item.phantom
            continue
        if width:
            _separate(settled, width, phantom)
            width, phantom = 0.0, False
        settled.append(item)
    if width:
        _separate(settled, width, phantom)
    return settled


def _separate(settled: list[Item], width: float, phantom: bool) -> None:
    if not phantom and width >= _SEPARATES and settled[-1].role != "PUNCT":
        settled.append(Hint(width))
