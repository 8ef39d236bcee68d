r"""Visual ids: formulas that look the same share one, however they were typed.

``\frac12`` and ``\dfrac{1}{2}`` look the same; so do ``a\,b`` and ``ab``. Two formulas
without MathML look the same when their LaTeX is equal up to white space.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping

from lxml import etree

from tools.sample.mathml import Cells

_BASE = 1_000_000_000
_INVISIBLE = {"", "\u2061", "\u2062", "\u2063", "\u2064"}
_TRANSPARENT = {"math", "semantics", "mstyle", "mpadded", "mrow"}


def assign_visual_ids(cells: Mapping[str, Cells]) -> dict[str, str]:
    """Return the visual id of each LaTeX string.

    The id is a hash of the appearance, so new formulas do not change the others; on a
    collision the next free number is taken.
    """
    appearances = {
        latex: appearance_of(latex, cell.slt) for latex, cell in cells.items()
    }
    numbers: dict[str, int] = {}
    taken: set[int] = set()
    for appearance in sorted(set(appearances.values())):
        number = hash_appearance(appearance)
        while number in taken:
            number += 1
        taken.add(number)
        numbers[appearance] = number
    return {
        latex: str(numbers[appearance]) for latex, appearance in appearances.items()
    }


def hash_appearance(appearance: str) -> int:
    """Return the hash of an appearance, from 1,000,000,000 up.

    Post, formula and visual ids lie far apart: a join over the wrong one is empty.
    """
    return _BASE + zlib.crc32(appearance.encode()) % _BASE


def appearance_of(latex: str, slt: str) -> str:
    r"""Return the visible symbols of a formula and their layout, as a string.

    >>> appearance_of("x+1", "<math><mi>x</mi><mstyle><mo>+</mo></mstyle></math>")
    'mi x;mo +'
    >>> appearance_of("\\frac{1", "")
    'latex \\frac{1'
    """
    if not slt:
        return "latex " + "".join(latex.split())
    return ";".join(_symbols(etree.fromstring(slt.encode())))


def _symbols(element: etree._Element) -> Iterator[str]:
    name = etree.QName(element).localname
    text = (element.text or "").strip()
    if name == "mspace" or (name == "mo" and text in _INVISIBLE):
        return
    if name in _TRANSPARENT:
        for child in element:
            yield from _symbols(child)
    elif len(element) == 0:
        yield f"{name} {text}"
    else:
        inner = "|".join(";".join(_symbols(child)) for child in element)
        yield f"{name}({inner})"
