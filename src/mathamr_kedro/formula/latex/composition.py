r"""How the grammar puts items together: scripts, fences, lists, sums and products.

```
( a , b )     fence            Dual(open-interval(a, b), the row as written)
a , b         enumerate_items  Dual(list(a, b), the row as written)
a + b - c     chain_terms      minus(plus(a, b), c)
```
"""

from __future__ import annotations

from typing import Any

from mathamr_kedro.formula.latex.nodes import App, Dual, Item, Row, Script
from mathamr_kedro.formula.latex.symbols import Symbol


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

_operators: dict[str, Symbol] = {}


def _find_operator(meaning: str) -> Symbol:
    if meaning not in _operators:
        if len(_operators) > 1000:  # odd fences must not fill the memory
            return _operator(meaning)
        _operators[meaning] = _operator(meaning)
    return _operators[meaning]


def fence(stuff: list[Item]) -> Item:
    """Return ``open x (punct x)* close`` as what it most likely means."""
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
