r"""Fonts: ``\mathbf{x}`` for an argument, ``\bf`` for the rest of a group."""

from __future__ import annotations

from mathamr_kedro.formula.latex.alphabets import FONTS
from mathamr_kedro.formula.latex.boxes import Box, Handler, append_group
from mathamr_kedro.formula.latex.reader import Reader

_FONT_ARGUMENTS = {
    r"\mathrm": "rm",
    r"\mathit": "it",
    r"\mathbf": "bf",
    r"\mathsf": "sf",
    r"\mathtt": "tt",
    r"\mathcal": "cal",
    r"\mathscr": "cal",
    r"\mathbb": "bb",
    r"\Bbb": "bb",
    r"\bold": "bb",
    r"\mathfrak": "frak",
    r"\frak": "frak",
    r"\mathnormal": "normal",
}


_FONT_SWITCHES = {
    r"\rm": "rm",
    r"\it": "it",
    r"\bf": "bf",
    r"\sf": "sf",
    r"\tt": "tt",
    r"\sl": "it",
    r"\cal": "cal",
    r"\mit": "normal",
}


def _in_font(name: str) -> Handler:
    r"""Return the handler of ``\mathbf{...}`` and similar commands."""
    font = FONTS[name]

    def read(reader: Reader, boxes: list[Box]) -> None:
        inner = reader.read_argument(reader.font.select(font))
        append_group(boxes, inner, braced=False)

    return read


def _bold_symbol(reader: Reader, boxes: list[Box]) -> None:
    inner = reader.read_argument(reader.font.embolden())
    append_group(boxes, inner, braced=False)


def _switch(name: str) -> Handler:
    r"""Return the handler of ``\bf`` and its like: up to the end of the group."""
    font = FONTS[name]

    def read(reader: Reader, boxes: list[Box]) -> None:
        reader.set_font(reader.font.select(font))

    return read


HANDLERS: dict[str, Handler] = {
    **{command: _in_font(name) for command, name in _FONT_ARGUMENTS.items()},
    **{command: _switch(name) for command, name in _FONT_SWITCHES.items()},
    **dict.fromkeys((r"\boldsymbol", r"\pmb"), _bold_symbol),
}
