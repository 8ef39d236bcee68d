r"""Spaces: ``\,``, ``\quad``, ``\hspace{1em}``."""

from __future__ import annotations

import string

from mathamr_kedro.formula.latex.boxes import Box, Handler
from mathamr_kedro.formula.latex.nodes import Hint
from mathamr_kedro.formula.latex.reader import Reader

_EM_SIZES = (1.0, 1.0, 0.7, 0.5)

_UNITS = {
    "pt": 1.0,
    "em": 10.0,
    "ex": 4.3,
    "mu": 1 / 1.8,
    "cm": 28.45,
    "mm": 2.845,
    "in": 72.27,
    "pc": 12.0,
    "bp": 1.00375,
    "px": 0.75,
}


def _space(width: float, char: str = "", is_em: bool = False) -> Handler:
    """Return the handler of a space of ``width`` points."""
    hints = [
        Hint(round(width * (size if is_em else 1.0), 1), char) for size in _EM_SIZES
    ]

    def read(reader: Reader, boxes: list[Box]) -> None:
        boxes.append(hints[reader.style])

    return read


def _measure(text: str) -> float:
    """Return a length in points, to one decimal; zero if it is none."""
    text = text.strip()
    digits = text.rstrip(string.ascii_letters + " ")
    unit = text[len(digits) :].strip()[:2]
    try:
        return round(float(digits) * _UNITS.get(unit, 0.0), 1)
    except ValueError:
        return 0.0


def _read_hspace(reader: Reader, boxes: list[Box]) -> None:
    reader.skip_if("*")
    width = _measure(reader.take_raw_argument())
    if width:
        boxes.append(Hint(width))


def _read_kern(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\kern 3pt`` and similar commands: a length without braces."""
    length = reader.take_length()
    boxes.append(Hint(_measure(length) if length.endswith("mu") else 0.0))


HANDLERS: dict[str, Handler] = {
    "~": _space(3.33, is_em=True),
    **dict.fromkeys((r"\ ", "\\\n", "\\\t"), _space(5.0, " ", is_em=True)),
    **dict.fromkeys((r"\,", r"\thinspace"), _space(3 / 1.8, "\u2009")),
    **dict.fromkeys((r"\:", r"\>", r"\medspace"), _space(4 / 1.8, "\u2005")),
    **dict.fromkeys((r"\;", r"\thickspace"), _space(5 / 1.8, "\u2004")),
    **dict.fromkeys((r"\!", r"\negthinspace"), _space(-3 / 1.8)),
    r"\negmedspace": _space(-4 / 1.8),
    r"\negthickspace": _space(-5 / 1.8),
    **dict.fromkeys((r"\enspace", r"\enskip"), _space(5.0, is_em=True)),
    r"\quad": _space(10.0, is_em=True),
    r"\qquad": _space(20.0, is_em=True),
    **dict.fromkeys((r"\hspace", r"\mspace"), _read_hspace),
    **dict.fromkeys((r"\kern", r"\mkern", r"\mskip", r"\hskip"), _read_kern),
}
