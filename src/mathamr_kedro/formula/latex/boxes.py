r"""Boxes: what TeX has read so far, and how they become a row of items.

A brace group is one box to a script that follows it, and nothing to the grammar: its
items are poured into the row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from mathamr_kedro.formula.latex.ligatures import append_symbol, join_neighbours
from mathamr_kedro.formula.latex.nodes import App, Hint, Item, ScriptMark
from mathamr_kedro.formula.latex.symbols import INVISIBLE_PLUS, Symbol

if TYPE_CHECKING:
    from mathamr_kedro.formula.latex.reader import Reader


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


Box: TypeAlias = Item | Group
Handler: TypeAlias = Callable[["Reader", list[Box]], None]
Entry: TypeAlias = Symbol | Handler


def append_group(boxes: list[Box], inner: list[Box], braced: bool) -> None:
    """Append a group; a symbol alone needs none."""
    if len(inner) == 1 and inner[0].__class__ is Symbol:
        append_symbol(boxes, inner[0])
    elif inner or braced:
        boxes.append(Group(inner, braced))


def is_empty(box: Box) -> bool:
    """Return whether a box shows nothing: a space or an empty group."""
    if box.__class__ is Hint:
        return True
    if box.__class__ is Group and box.braced:
        return all(map(is_empty, box.boxes))
    return False


def find_base(boxes: list[Box], up: bool) -> tuple[bool, bool]:
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
        if is_empty(box):
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
    return join_neighbours(items)


def join_mixed_numbers(items: list[Item]) -> list[Item]:
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
