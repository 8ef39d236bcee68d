r"""Fences: ``\left( ... \right)``, ``\middle|`` and the ``\big`` family."""

from __future__ import annotations

from mathamr_kedro.formula.latex.boxes import Box, Group, Handler
from mathamr_kedro.formula.latex.nodes import Hint
from mathamr_kedro.formula.latex.reader import Reader
from mathamr_kedro.formula.latex.symbols import SYMBOLS, Symbol
from mathamr_kedro.formula.latex.tokens import END

_LEFT_ENDS = frozenset({r"\right", "}", END, "&", r"\\", r"\end"})
_DELIMITER_ROLES = frozenset({"OPEN", "MIDDLE", "CLOSE", "VERTBAR"})

_BARS = {
    "|": SYMBOLS["|"],
    r"\vert": SYMBOLS["|"],
    r"\|": Symbol("VERTBAR", "∥"),
    r"\Vert": Symbol("VERTBAR", "∥"),
    "/": Symbol("MULOP", "/"),
    r"\backslash": SYMBOLS[r"\backslash"],
}
_FENCES = (
    {token: SYMBOLS[token] for token in ("(", ")", "[", "]", r"\{", r"\}")}
    | {r"\lbrace": SYMBOLS[r"\{"], r"\rbrace": SYMBOLS[r"\}"]}
    | {r"\lbrack": SYMBOLS["["], r"\rbrack": SYMBOLS["]"]}
    | {
        rf"\{name}": SYMBOLS[rf"\{name}"]
        for name in (
            "lfloor rfloor lceil rceil langle rangle uparrow Uparrow downarrow"
            " Downarrow updownarrow Updownarrow"
        ).split()
    }
    | {"<": SYMBOLS[r"\langle"], ">": SYMBOLS[r"\rangle"]}
    | {"⟨": SYMBOLS[r"\langle"], "⟩": SYMBOLS[r"\rangle"]}
)


def _read_left(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\left(``, what it holds and ``\right)``."""
    boxes += _read_delimiter(reader, "OPEN")
    inner = reader.read_scope(_LEFT_ENDS)
    if inner:
        boxes.append(Group(inner, braced=False))
    if reader.skip_if(r"\right"):
        boxes += _read_delimiter(reader, "CLOSE")
    else:
        reader.note("missing_right")


def _read_right(reader: Reader, boxes: list[Box]) -> None:
    r"""Read a ``\right)`` without its ``\left``."""
    reader.note("missing_left")
    boxes += _read_delimiter(reader, "CLOSE")


def _read_middle(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\middle|``."""
    for item in reader.read_argument():
        boxes.append(item.with_role("MIDDLE") if item.__class__ is Symbol else item)


def _read_delimiter(reader: Reader, role: str) -> list[Box]:
    token = reader.peek()
    if token == ".":
        reader.i += 1
        return [Hint(0.0)]
    if token in _FENCES:
        reader.i += 1
        return [_FENCES[token].with_role(role)]
    if token in _BARS:
        reader.i += 1
        return [_BARS[token]]
    if token in ("{", "}", END, r"\right", "&", r"\\", r"\end"):
        reader.note("missing_delimiter")
        return []
    return reader.read_one()


def _sized(role: str) -> Handler:
    r"""Return the handler of ``\big`` and the like; ``l``, ``m``, ``r`` give a role."""

    def read(reader: Reader, boxes: list[Box]) -> None:
        sized = reader.read_argument()
        if role and sized:
            sized[-1] = _set_role(sized[-1], role)
        if len(sized) == 1:
            boxes += sized
        elif sized:
            boxes.append(Group(sized, braced=False))

    return read


def _set_role(item: Box, role: str) -> Box:
    if item.__class__ is Symbol and item.role in _DELIMITER_ROLES:
        return item.with_role(role)
    return item


HANDLERS: dict[str, Handler] = {
    r"\left": _read_left,
    r"\right": _read_right,
    r"\middle": _read_middle,
} | {
    rf"\{size}{suffix}": _sized(role)
    for size in ("big", "Big", "bigg", "Bigg")
    for suffix, role in (("", ""), ("l", "OPEN"), ("m", "MIDDLE"), ("r", "CLOSE"))
}
