r"""How the grammar puts items together: scripts, fences, lists and relations.

```
( a , b )     fence        Dual(open-interval(a, b), the row as written)
a + b - c     chain_terms  minus(plus(a, b), c)
a < b = c     relate       multirelation(a, <, b, =, c)
```
"""

from __future__ import annotations

from typing import Any

from mathamr_kedro.formula.latex.nodes import App, Dual, Item, Row, Script
from mathamr_kedro.formula.latex.symbols import Symbol, with_role


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

_CLOSES = {
    "(": ")",
    "[": "]",
    "{": "}",
    "|": "|",
    "‖": "‖",
    "⦀": "⦀",
    "⌊": "⌋",
    "⌈": "⌉",
    "⟨": "⟩",
    "∥": "∥",
}
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


def get_text(item: Item) -> str:
    """Return what an item shows, as far as fences and separators go."""
    if item.__class__ is Symbol:
        return item.text
    if item.__class__ is Row:
        return "".join(map(get_text, item.items))
    return ""


def closes(opening: Item, closing: Item) -> bool:
    """Return whether two fences belong together."""
    return _CLOSES.get(get_text(opening)) == (get_text(closing) or None)


def fence(stuff: list[Item]) -> Item:
    """Return ``open x (punct x)* close`` as what it most likely means."""
    opening, closing = get_text(stuff[0]), get_text(stuff[-1])
    count = (len(stuff) - 1) // 2
    if count == 1:
        meaning = _AROUND_ONE.get(opening + closing)
        if meaning is None:
            if opening == "(" and closing == ")":
                return Dual(stuff[1], Row(stuff))
            meaning = f"delimited-{opening}{closing}"
    elif count:
        table = _AROUND_TWO if count == 2 else _AROUND_MORE
        meaning = table.get(opening + get_text(stuff[2]) + closing, "list")
    else:
        meaning = "list"
    return Dual(App(_find_operator(meaning), stuff[1:-1:2]), Row(stuff))


def delimit(op: Item, stuff: list[Item]) -> Item:
    """Return ``op`` over the items of ``open x (punct x)* close``, drawn as written."""
    return Dual(App(op, stuff[1:-1:2]), Row(stuff))


def apply_to_arguments(op: Item, stuff: list[Item]) -> Item:
    """Return a function applied to ``( x, y )``."""
    return Dual(App(op, stuff[1:-1:2]), App(op, [Row(stuff)]))


def enumerate_items(stuff: list[Item]) -> Item:
    """Return ``x (punct x)*`` as a list, or ``x`` alone."""
    if len(stuff) == 1:
        return stuff[0]
    return Dual(App(LIST, stuff[::2]), Row(stuff))


def join_formulae(stuff: list[Item]) -> Item:
    """Return ``formula (punct formula)*`` as a sequence of formulas."""
    if len(stuff) == 1:
        return stuff[0]
    return Dual(App(FORMULAE, stuff[::2]), Row(stuff))


def relate(stuff: list[Item]) -> Item:
    """Return ``x (relation x)*`` as one relation or a chain of them."""
    count = len(stuff)
    if count == 1:
        return stuff[0]
    if count == 3:
        return App(stuff[1], [stuff[0], stuff[2]])
    return App(MULTIRELATION, stuff)


def is_same_operator(one: Item, other: Item) -> bool:
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
        while index < end and is_same_operator(terms[index], op):
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
    if left.__class__ is App and is_same_operator(left.op, op):
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


def decorate(op: Item, mark: Any) -> Script:
    """Return an operator with a script, still an operator."""
    script = attach_script(op, mark)
    script.role = op.role
    return script


def evaluate_at(base: Item, bar: Item, lower: Any, upper: Any) -> Item:
    """Return ``base |_lower^upper``."""
    drawing: Item = Row([base, as_role(bar, "CLOSE")])
    args = [base]
    for mark in (lower, upper):
        if mark is not None:
            drawing = attach_script(drawing, mark)
            args.append(mark.script)
    return Dual(App(EVALUATED_AT, args), drawing)


def as_role(item: Item, role: str) -> Item:
    """Return a symbol in another role; anything else as it is."""
    if item.__class__ is Symbol:
        return with_role(item, role)
    return item


_BAR_GLYPHS = {
    "OPEN": {"|": "|", "||": "‖", "∥": "‖"},
    "PUNCT": {"|": "∣", "||": "∥", "‖": "∥"},
}
_bars: dict[tuple[Symbol, str], Symbol] = {}


def turn_bar(item: Item, role: str) -> Item:
    """Return a vertical bar as the fence or separator it turned out to be."""
    if item.__class__ is not Symbol:
        return item
    key = (item, role)
    if key not in _bars:
        kind = "PUNCT" if role == "PUNCT" else "OPEN"
        text = _BAR_GLYPHS[kind].get(item.text, item.text)
        bar = Symbol(role, text, item.meaning, item.name)
        if len(_bars) > 1000:
            return bar
        _bars[key] = bar
    return _bars[key]


def read_two_part_relation(first: Item, second: Item) -> Symbol:
    """Return ``<=`` and ``>>`` typed as two characters."""
    if first.meaning == second.meaning:
        meaning = f"much-{first.meaning}"
    else:
        meaning = f"{first.meaning}-or-{second.meaning}"
    return Symbol("RELOP", get_text(first) + get_text(second), meaning)
