r"""Things above, below and around others: accents, arrows with words, boxes."""

from __future__ import annotations

from mathamr_kedro.formula.latex.boxes import Box, Group, Handler, pour
from mathamr_kedro.formula.latex.nodes import (
    App,
    Enclosed,
    Hint,
    Item,
    RoleApp,
    Script,
    ScriptMark,
)
from mathamr_kedro.formula.latex.reader import SCRIPT, Reader
from mathamr_kedro.formula.latex.symbols import SYMBOLS, Symbol

_OVER_ACCENTS = {
    r"\hat": "^",
    r"\widehat": "^",
    r"\check": "ˇ",
    r"\breve": "˘",
    r"\acute": "´",
    r"\grave": "`",
    r"\tilde": "~",
    r"\widetilde": "~",
    r"\bar": "¯",
    r"\overline": "¯",
    r"\vec": "→",
    r"\overrightarrow": "→",
    r"\overleftarrow": "←",
    r"\overleftrightarrow": "↔",
    r"\dot": "˙",
    r"\ddot": "¨",
    r"\dddot": "˙˙˙",
    r"\ddddot": "˙˙˙˙",
    r"\mathring": "\u030a",
}

_UNDER_ACCENTS = {
    r"\underline": "¯",
    r"\underbar": "¯",
    r"\underrightarrow": "→",
    r"\underleftarrow": "←",
    r"\underleftrightarrow": "↔",
}


def _accent(char: str, role: str = "OVERACCENT", place: str = "") -> Handler:
    accent = Symbol(role, char)

    def read(reader: Reader, boxes: list[Box]) -> None:
        base = reader.read_item()
        boxes.append(
            RoleApp(accent, [base], None, place) if place else App(accent, [base])
        )

    return read


def _stack(role: str) -> Handler:
    r"""Return the handler of ``\overset`` and ``\underset``."""

    def read(reader: Reader, boxes: list[Box]) -> None:
        mark = reader.read_item().with_role(role)
        boxes.append(App(mark, [reader.read_item()]))

    return read


def _stack_relation(reader: Reader, boxes: list[Box]) -> None:
    mark = reader.read_item(SCRIPT)
    base = reader.read_item()
    boxes.append(Script(base, mark, True, "mid", reader.level, "RELOP"))


def _long_arrow(command: str) -> Handler:
    arrow = SYMBOLS[command]

    def read(reader: Reader, boxes: list[Box]) -> None:
        below = reader.read_option()
        above = reader.read_item().with_role("OVERACCENT")
        item: Item = RoleApp(above, [arrow], "ARROW")
        if below is not None:
            mark = reader.make_item(below).with_role("UNDERACCENT")
            item = RoleApp(mark, [item], "ARROW")
        boxes.append(item)

    return read


def _sideset(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\sideset{_a^b}{_c^d}\sum``."""
    before, after = reader.read_argument(), reader.read_argument()
    base = reader.make_item(reader.read_one())
    item = base
    for boxes_of, place in ((reversed(pour(before)), "pre"), (pour(after), "post")):
        for mark in boxes_of:
            if mark.__class__ is ScriptMark:
                item = Script(item, mark.script, mark.up, place, reader.level + 1)
    if item.__class__ is Script:
        item.outer = base.place
    boxes.append(item)


def _boxed(reader: Reader, boxes: list[Box]) -> None:
    boxes.append(Enclosed(reader.read_item(), "box"))


def _phantom(is_wide: bool) -> Handler:
    def read(reader: Reader, boxes: list[Box]) -> None:
        inner = reader.read_argument()
        if is_wide:
            boxes.append(Hint(5.0 * len(inner), phantom=True))

    return read


def _transparent(reader: Reader, boxes: list[Box]) -> None:
    inner = reader.read_argument()
    if inner:
        boxes.append(Group(inner, braced=False))


_NO_SPACE = Hint(0.0)


def _line_break(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\\`` outside of a table."""
    reader.skip_if("*")
    reader.take_raw_option()
    boxes.append(_NO_SPACE)


HANDLERS: dict[str, Handler] = (
    {command: _accent(char) for command, char in _OVER_ACCENTS.items()}
    | {
        command: _accent(char, "UNDERACCENT")
        for command, char in _UNDER_ACCENTS.items()
    }
    | {
        r"\overbrace": _accent("⏞", place="mid"),
        r"\underbrace": _accent("⏟", "UNDERACCENT", "mid"),
        r"\overset": _stack("OVERACCENT"),
        r"\underset": _stack("UNDERACCENT"),
        r"\stackrel": _stack_relation,
        r"\xrightarrow": _long_arrow(r"\rightarrow"),
        r"\xleftarrow": _long_arrow(r"\leftarrow"),
        r"\sideset": _sideset,
        r"\boxed": _boxed,
        **dict.fromkeys((r"\phantom", r"\hphantom"), _phantom(True)),
        r"\vphantom": _phantom(False),
        **dict.fromkeys((r"\smash", r"\hiderel"), _transparent),
        **dict.fromkeys((r"\\", r"\cr"), _line_break),
    }
)
