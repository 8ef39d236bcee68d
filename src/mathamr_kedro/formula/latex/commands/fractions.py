r"""Fractions, binomials and roots."""

from __future__ import annotations

from mathamr_kedro.formula.latex.boxes import Box, Handler
from mathamr_kedro.formula.latex.nodes import App, Dual, Item, Row
from mathamr_kedro.formula.latex.reader import SCRIPT, SCRIPTSCRIPT, TEXT, Reader
from mathamr_kedro.formula.latex.symbols import SYMBOLS, Symbol

_DIVIDE = Symbol("FRACOP", "", "divide")

_ATOP = Symbol("FRACOP", "")

_CHOOSE = Symbol("FRACOP", "", "binomial")

_BINOMIAL = Symbol("UNKNOWN", "", "binomial")

_CONTINUED = Symbol("UNKNOWN", "", "continued-fraction")

_SQUARE_ROOT = Symbol("UNKNOWN", "", "square-root")

_NTH_ROOT = Symbol("UNKNOWN", "", "nth-root")

_NEXT_STYLE = (TEXT, SCRIPT, SCRIPTSCRIPT, SCRIPTSCRIPT)

_OVER_ENDS = frozenset({"}", "", "&", r"\\", r"\cr", r"\end", r"\right"})

_ROOT_ENDS = frozenset({r"\of", "}", ""})

_GENFRAC_FENCES = frozenset({"(", ")", "[", "]", r"\{", r"\}", r"\langle", r"\rangle"})


def _fraction(style: int | None, op: Symbol = _DIVIDE) -> Handler:
    """Return the handler of a fraction; its parts are in ``style``."""

    def read(reader: Reader, boxes: list[Box]) -> None:
        inner = _NEXT_STYLE[reader.style] if style is None else style
        top = reader.read_item(inner)
        boxes.append(App(op, [top, reader.read_item(inner)]))

    return read


def _binomial(reader: Reader, boxes: list[Box]) -> None:
    style = _NEXT_STYLE[reader.style]
    args = [reader.read_item(style), reader.read_item(style)]
    boxes.append(Dual(App(_BINOMIAL, args), _surround("(", App(_ATOP, args), ")")))


def _surround(opening: str, item: Item, closing: str) -> Row:
    left, right = SYMBOLS[opening], SYMBOLS[closing]
    return Row([left.with_role("OPEN"), item, right.with_role("CLOSE")])


def _generalized(op: Symbol, opening: str = "", closing: str = "") -> Handler:
    r"""Return the handler of ``\over``: all before it in the group is the top."""

    def read(reader: Reader, boxes: list[Box]) -> None:
        top = reader.make_item(list(boxes))
        style = _NEXT_STYLE[reader.style]
        bottom = reader.make_item(reader.read_scope(_OVER_ENDS, style=style))
        boxes.clear()
        fraction = App(op, [top, bottom])
        if opening:
            boxes.append(Dual(fraction, _surround(opening, fraction, closing)))
        else:
            boxes.append(fraction)

    return read


def _above(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\above 1pt``: a fraction with a bar of that width."""
    reader.take_length()
    _generalized(_DIVIDE)(reader, boxes)


def _genfrac(reader: Reader, boxes: list[Box]) -> None:
    opening, closing = reader.take_raw_argument(), reader.take_raw_argument()
    thickness, style = reader.take_raw_argument(), reader.take_raw_argument()
    chosen = int(style) if style in ("0", "1", "2", "3") else reader.style
    inner = _NEXT_STYLE[chosen]
    op = _ATOP if thickness.startswith("0") else _DIVIDE
    fraction = App(op, [reader.read_item(inner), reader.read_item(inner)])
    if not opening and not closing:
        boxes.append(fraction)
        return
    row: list[Item] = [fraction]
    if opening in _GENFRAC_FENCES:
        row.insert(0, SYMBOLS[opening].with_role("OPEN"))
    if closing in _GENFRAC_FENCES:
        row.append(SYMBOLS[closing].with_role("CLOSE"))
    boxes.append(Dual(fraction, Row(row)))


def _root(reader: Reader, boxes: list[Box]) -> None:
    degree = reader.read_option()
    if degree is None:
        boxes.append(App(_SQUARE_ROOT, [reader.read_item()]))
        return
    index = reader.make_item(degree)
    boxes.append(App(_NTH_ROOT, [index, reader.read_item()]))


def _plain_root(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\root 3 \of x``."""
    index = reader.make_item(reader.read_scope(_ROOT_ENDS, style=SCRIPT))
    reader.skip_if(r"\of")
    boxes.append(App(_NTH_ROOT, [index, reader.read_item()]))


HANDLERS: dict[str, Handler] = {
    r"\frac": _fraction(None),
    r"\dfrac": _fraction(TEXT),
    r"\tfrac": _fraction(SCRIPT),
    r"\cfrac": _fraction(TEXT, _CONTINUED),
    **dict.fromkeys((r"\binom", r"\tbinom", r"\dbinom"), _binomial),
    r"\genfrac": _genfrac,
    r"\over": _generalized(_DIVIDE),
    r"\above": _above,
    r"\atop": _generalized(_ATOP),
    r"\choose": _generalized(_CHOOSE, "(", ")"),
    r"\brace": _generalized(_ATOP, r"\{", r"\}"),
    r"\brack": _generalized(_ATOP, "[", "]"),
    r"\sqrt": _root,
    r"\root": _plain_root,
}
