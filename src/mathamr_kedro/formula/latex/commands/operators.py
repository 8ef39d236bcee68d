r"""Operators: names, limits, remarks modulo n, negation, and roles given by hand."""

from __future__ import annotations

from mathamr_kedro.formula.latex.alphabets import ROMAN
from mathamr_kedro.formula.latex.boxes import Box, Handler, pour
from mathamr_kedro.formula.latex.nodes import (
    App,
    Dual,
    Enclosed,
    Hint,
    Item,
    RoleApp,
    Row,
    ScriptMark,
)
from mathamr_kedro.formula.latex.reader import DISPLAY, Reader
from mathamr_kedro.formula.latex.symbols import LIMITS, SYMBOLS, Symbol

_PMOD = Symbol("UNKNOWN", "", name="pmod")

_POD = Symbol("UNKNOWN", "", "modulo")

_MOD = Symbol("BIGOP", "mod")

_NOT = Symbol("UNKNOWN", "", "not")

_WORD_ROLES = frozenset(
    {"OP", "BIGOP", "RELOP", "METARELOP", "ADDOP", "MULOP", "BINOP", "OPEN", "CLOSE"}
)

_NEGATED = dict(
    zip(
        "=<>∈≤≥≺≻⪯⪰⊂⊃⊆⊇⊑⊐≡≍≈⊲⊳⊴⊵∃",
        "≠≮≯∉≰≱⊀⊁⋠⋡⊄⊅⊈⊉⋢⋣≢≭≉⋪⋫⋬⋭∄",
        strict=True,
    )
)

_NOTHING_TO_NEGATE = frozenset({"", "}", "&", r"\\", r"\end", r"\right", "^", "_"})

_LONE_NOT = Symbol("OPFUNCTION", "／", "not")


def _classed(role: str) -> Handler:
    r"""Return the handler of ``\mathrel`` and similar commands."""

    def read(reader: Reader, boxes: list[Box]) -> None:
        place = ""
        if role == "BIGOP":
            place = "mid" if reader.style == DISPLAY else "post"
        inner = reader.read_argument()
        items = pour(inner)
        if not items:
            return
        if len(items) > 1 and all(
            item.__class__ is Symbol and item.role in _WORD_ROLES for item in items
        ):
            text = "".join(item.text for item in items)
            boxes.append(Symbol(role, text, place=place))
        else:
            boxes.append(reader.make_item(inner).with_role(role, place))

    return read


def _operator_name(reader: Reader, boxes: list[Box]) -> None:
    starred = reader.skip_if("*")
    item = reader.read_item(font=ROMAN)
    role, place = ("OPERATOR", "mid") if starred else ("OPFUNCTION", "post")
    boxes.append(item.with_role(role, place))


def _operator_with_limits(reader: Reader, boxes: list[Box]) -> None:
    boxes.append(reader.read_item(font=ROMAN).with_role("OPERATOR", "mid"))


def _limit_with_accent(accent: str, meaning: str, role: str) -> Handler:
    r"""Return the handler of ``\varlimsup`` and similar commands."""
    drawing = App(Symbol(role, accent), [Symbol("OPFUNCTION", "lim")])
    content = Symbol("LIMITOP", "", meaning)

    def read(reader: Reader, boxes: list[Box]) -> None:
        boxes.append(Dual(content, drawing, "LIMITOP"))

    return read


def _big_operator(command: str) -> Handler:
    """Return the handler of an operator whose scripts move with the style."""
    shown = SYMBOLS[command].with_place("mid")
    inline = SYMBOLS[command].with_place("post")

    def read(reader: Reader, boxes: list[Box]) -> None:
        boxes.append(shown if reader.style == DISPLAY else inline)

    return read


def _limits(place: str) -> Handler:
    r"""Return the handler of ``\limits``: the operator before it changes."""

    def read(reader: Reader, boxes: list[Box]) -> None:
        for index in range(len(boxes) - 1, -1, -1):
            box = boxes[index]
            if box.__class__ is Symbol:
                boxes[index] = box.with_place(place)
            elif box.__class__ in (RoleApp, Row):
                boxes[index] = box.with_role(box.role, place)
            elif box.__class__ is ScriptMark:
                box.place = place
                continue
            elif box.__class__ is Hint:
                continue
            break

    return read


def _modulo(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\pmod{n}``."""
    item = reader.read_item()
    drawing = Row(
        [SYMBOLS["("], App(_MOD, [item]), SYMBOLS[")"]],
    )
    boxes.append(Dual(App(_PMOD, [item]), drawing, "MODIFIER"))


def _in_parentheses(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\pod{n}``."""
    item = reader.read_item()
    drawing = Row([SYMBOLS["("], item, SYMBOLS[")"]])
    boxes.append(Dual(App(_POD, [item]), drawing, "MODIFIER"))


def _negate(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\not=``: the symbol after it is struck through."""
    if reader.peek() in _NOTHING_TO_NEGATE:
        boxes.append(_LONE_NOT)
        return
    inner = reader.read_argument()
    items = pour(inner)
    if not items:
        boxes.append(_LONE_NOT)
        return
    boxes.append(_strike(items[0]))
    boxes += items[1:]


def _strike(item: Item) -> Item:
    if item.__class__ is Symbol and len(item.text) == 1:
        text = item.text
        meaning = f"not-{item.meaning}" if item.meaning else None
        return Symbol(
            item.role,
            _NEGATED.get(text, text + "\u0338"),
            meaning,
            f"not-{item.name or text}",
            item.font,
            item.place,
        )
    return Dual(App(_NOT, [item]), Enclosed(item, "updiagonalstrike"))


HANDLERS: dict[str, Handler] = {
    **{command: _big_operator(command) for command in LIMITS},
    r"\mathord": _classed("ID"),
    r"\mathop": _classed("BIGOP"),
    r"\mathbin": _classed("BINOP"),
    r"\mathrel": _classed("RELOP"),
    r"\mathopen": _classed("OPEN"),
    r"\mathclose": _classed("CLOSE"),
    r"\mathpunct": _classed("PUNCT"),
    r"\mathinner": _classed("ATOM"),
    r"\operatorname": _operator_name,
    r"\operatornamewithlimits": _operator_with_limits,
    r"\varlimsup": _limit_with_accent("¯", "limit-supremum", "OVERACCENT"),
    r"\varliminf": _limit_with_accent("¯", "limit-infimum", "UNDERACCENT"),
    r"\varinjlim": _limit_with_accent("→", "injective-limit", "UNDERACCENT"),
    r"\varprojlim": _limit_with_accent("←", "projective-limit", "UNDERACCENT"),
    r"\limits": _limits("mid"),
    r"\nolimits": _limits("post"),
    r"\pmod": _modulo,
    r"\pod": _in_parentheses,
    r"\not": _negate,
}
