r"""The items of a formula between the reader and the trees.

```
reader    a list of items: symbols, fractions, arrays, script marks, hints
grammar   one item: applications over symbols, with scripts attached
trees     an application has a content (operator tree) and a drawing (layout tree);
          a Dual holds the two if they differ: (a) means a and draws parentheses
```

All items answer to ``role`` (their part of speech, or None), ``place`` (where their
scripts are), ``meaning``, ``text`` (what they show, as far as fences and separators
go), ``key`` (the name by which the grammar knows a symbol) and ``with_role``.

How they are put together::

    ( a , b )     fence            Dual(open-interval(a, b), the row as written)
    a , b         enumerate_items  Dual(list(a, b), the row as written)
    a + b - c     chain_terms      minus(plus(a, b), c)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias, Union

from mathamr_kedro.formula.latex.symbols import Symbol
from mathamr_kedro.formula.node import ERROR, clean_text

Item: TypeAlias = Union[
    Symbol,
    "App",
    "Script",
    "Dual",
    "Row",
    "Array",
    "Text",
    "Undefined",
    "Enclosed",
    "Hint",
    "ScriptMark",
]


class _Plain:
    """Default answers of an item."""

    __slots__ = ()
    role: str | None = None
    place = ""
    meaning: str | None = None
    text = ""
    key = ""
    is_empty = False

    def with_role(self, role: str | None, place: str = "") -> Item:
        """Return an item that looks the same and acts in ``role``."""
        return Row([self], role, place)  # type: ignore[list-item]


@dataclass(slots=True, eq=False)
class App(_Plain):
    """An operator over its operands; fractions and roots too."""

    op: Item
    args: list[Item]

    def with_role(self, role: str | None, place: str = "") -> RoleApp:
        """Return the application as a symbol."""
        return RoleApp(self.op, self.args, role, place)


@dataclass(slots=True, eq=False)
class RoleApp(App):
    """An application that acts as a symbol: an arrow with a word above it."""

    role: str | None = None
    place: str = ""


@dataclass(slots=True, eq=False)
class Script(_Plain):
    """A base with one script; several scripts nest."""

    base: Item
    script: Item
    up: bool
    place: str
    """``pre``, ``mid`` or ``post``."""
    level: int = 0
    """Depth of braces where it was written; scripts of different levels do not share a
    column."""
    role: str | None = None
    """Of the base, if that is an operator."""
    floats: bool = False
    bump: int = 0
    outer: str = ""
    """Where further scripts go, if not to the same place."""

    def with_role(self, role: str | None, place: str = "") -> Script:
        """Return a copy in another role; its scripts stay where they are."""
        return replace(self, role=role, outer="")


@dataclass(slots=True, eq=False)
class Dual(_Plain):
    """An item whose meaning and drawing differ."""

    content: Item
    drawing: Item
    role: str | None = None

    @property
    def place(self) -> str:  # type: ignore[override]
        """Where the scripts of the content are."""
        return self.content.place

    def with_role(self, role: str | None, place: str = "") -> Dual:
        """Return the same in another role; the content decides on the place."""
        return Dual(self.content, self.drawing, role)


@dataclass(slots=True, eq=False)
class Row(_Plain):
    """Items side by side: a drawing, or what the grammar could not read."""

    items: list[Item]
    role: str | None = None
    place: str = ""

    @property
    def text(self) -> str:  # type: ignore[override]
        """What its items show."""
        return "".join([item.text for item in self.items])

    @property
    def key(self) -> str:  # type: ignore[override]
        """The key of an item by itself."""
        return self.items[0].key if len(self.items) == 1 else ""

    def with_role(self, role: str | None, place: str = "") -> Row:
        """Return the row in another role."""
        return Row(self.items, role, place)


@dataclass(slots=True, eq=False)
class Array(_Plain):
    """Cells in rows; an empty cell is None."""

    rows: list[list[Item | None]]
    role: str | None = None


@dataclass(slots=True, eq=False)
class Text(_Plain):
    """Words (drawn as ``T!``) and formulas among them."""

    parts: list[str | Item]
    named: bool = False
    """Whether the operator tree keeps them; the published ones do not."""


@dataclass(slots=True, eq=False)
class Undefined(_Plain):
    """An undefined command; ``named`` as for :class:`Text`."""

    command: str
    named: bool = False

    @property
    def label(self) -> str:
        """An error, named or not."""
        return ERROR + clean_text(self.command.lstrip("\\")) if self.named else ERROR


@dataclass(slots=True, eq=False)
class Enclosed(_Plain):
    """An item with a box or a line around it; means what the item means."""

    inner: Item
    notation: str

    @property
    def role(self) -> str | None:  # type: ignore[override]
        """The role of what is enclosed; a script in a box is no script any more."""
        return None if self.inner.__class__ is ScriptMark else self.inner.role


@dataclass(slots=True, eq=False)
class Hint(_Plain):
    """Space between symbols."""

    width: float
    """In points at ten points to the em."""
    char: str = ""
    """The space character it may become inside a number; empty if none."""
    phantom: bool = False
    """Whether it keeps the place of something unseen."""
    role = "PUNCT"  # of a quad or more; others are dropped
    is_empty = True


@dataclass(slots=True, eq=False)
class ScriptMark(_Plain):
    """A script whose base is not known yet."""

    script: Item
    up: bool
    floats: bool
    level: int
    place: str = ""

    @property
    def role(self) -> str:  # type: ignore[override]
        """Whether it is above, and whether it floats."""
        return _SCRIPT_ROLES[self.floats, self.up]


_SCRIPT_ROLES = {
    (False, False): "POSTSUBSCRIPT",
    (False, True): "POSTSUPERSCRIPT",
    (True, False): "FLOATSUBSCRIPT",
    (True, True): "FLOATSUPERSCRIPT",
}


def _operator(meaning: str) -> Symbol:
    return Symbol("", "", meaning)


FORMULAE = _operator("formulae")
MULTIRELATION = _operator("multirelation")
LIST = _operator("list")
ANNOTATED = _operator("annotated")
LIMIT_FROM = _operator("limit-from")
CASES = _operator("cases")
GROUP = _operator("group")
KET = _operator("ket")
BRA = _operator("bra")
INNER_PRODUCT = _operator("inner-product")
OPERATOR_PRODUCT = _operator("quantum-operator-product")
CONDITIONAL_SET = _operator("conditional-set")
EVALUATED_AT = _operator("evaluated-at")

_AROUND_ONE = {
    "{}": "set",
    "||": "absolute-value",
    "‖‖": "norm",
    "⌊⌋": "floor",
    "⌈⌉": "ceiling",
    "<>": "expectation",
}

_AROUND_TWO = {
    "(,)": "open-interval",
    "[,]": "closed-interval",
    "(,]": "open-closed-interval",
    "[,)": "closed-open-interval",
    "{,}": "set",
}
_AROUND_MORE = {"(,)": "vector", "{,}": "set"}

# Odd fences must not fill the memory.
_find_operator = lru_cache(maxsize=1024)(_operator)


def fence(stuff: list[Item]) -> Item:
    """Return ``open x (punct x)* close`` with its most likely meaning."""
    opening, closing = stuff[0].text, stuff[-1].text
    count = (len(stuff) - 1) // 2
    if count == 1:
        meaning = _AROUND_ONE.get(opening + closing)
        if meaning is None:
            if opening == "(" and closing == ")":
                return Dual(stuff[1], Row(stuff))
            meaning = f"delimited-{opening}{closing}"
    elif count:
        table = _AROUND_TWO if count == 2 else _AROUND_MORE
        meaning = table.get(opening + stuff[2].text + closing, "list")
    else:
        meaning = "list"
    return Dual(App(_find_operator(meaning), stuff[1:-1:2]), Row(stuff))


def delimit(op: Item, stuff: list[Item]) -> Item:
    """Return ``op`` over the items of ``open x (punct x)* close``, drawn as written."""
    return Dual(App(op, stuff[1:-1:2]), Row(stuff))


def enumerate_items(stuff: list[Item], op: Symbol = LIST) -> Item:
    """Return ``x (punct x)*`` as a list, or as another ``op`` over its items."""
    if len(stuff) == 1:
        return stuff[0]
    return Dual(App(op, stuff[::2]), Row(stuff))


def _is_same_operator(one: Item, other: Item) -> bool:
    """Return whether two operators are the same, whatever fonts they are drawn in."""
    return one is other or (
        one.__class__ is Symbol
        and other.__class__ is Symbol
        and one.meaning == other.meaning
        and one.text == other.text
        and one.name == other.name
    )


def chain_terms(terms: list[Item]) -> Item:
    """Return ``x (op x)*`` grouped from the left, equal operators side by side."""
    result = terms[0]
    index, end = 1, len(terms)
    while index < end:
        op = terms[index]
        args = [result, terms[index + 1]]
        index += 2
        while index < end and _is_same_operator(terms[index], op):
            args.append(terms[index + 1])
            index += 2
        result = App(op, args)
    return result


def multiply(op: Item, left: Item, right: Item, first: Item | None = None) -> Item:
    """Return ``left op right``; more factors of the same operator join in.

    Args:
        op: the product.
        left: what was read so far.
        right: the next factor.
        first: the first factor of the product; anything else on the left was made
            here, and may be extended in place.
    """
    if left.__class__ is App and _is_same_operator(left.op, op):
        if left is not first and first is not None:
            left.args.append(right)
            return left
        return App(op, [*left.args, right])
    return App(op, [left, right])


def attach_script(base: Item, mark: Any, place: str = "") -> Script:
    """Return ``base`` with the script of a mark, at the place both ask for."""
    level = mark.level
    base_place = base.place or "post"
    base_level = level
    if base.__class__ is Script:
        if base.outer:
            base_place = base.outer
        else:
            base_level = base.level
    if not place:
        if mark.floats:
            place = "pre"
        elif base_level == level:
            place = base_place
        else:
            place = mark.place or "post"
    script = Script(base, mark.script, mark.up, place, level)
    if base.__class__ is Script:
        if base.floats:
            script.level = script.bump = level + 1
        elif base.bump:
            script.level = base.bump
    script.floats = mark.floats
    return script
