r"""Math alphabets: the characters of letters in bold, script, Fraktur and so on.

```
\mathbf{x}   𝐱        \mathbb{R}  ℝ        \mathcal{L}  ℒ
x            x in the layout tree, 𝑥 in the operator tree (italic is the default)
```

The rules follow LaTeXML: a font is a family, a series and a shape; which of them
applies depends on the kind of symbol. Lowercase Greek is always italic, uppercase Greek
upright unless a font says otherwise, digits never italic.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import NamedTuple


class Font(NamedTuple):
    r"""A font of math mode: family, series, shape, and ``\boldsymbol``."""

    family: str
    bold: bool = False
    italic: bool = False
    forced: bool = False
    """``\\boldsymbol``: bold for every symbol, and through later font commands."""

    @property
    def variant(self) -> str:
        """The name of its alphabet; empty for upright serif.

        >>> FONTS["bf"].variant, MATH.variant, ROMAN.variant
        ('bold', 'italic', '')
        """
        return _FAMILY_VARIANTS[self.family][self.bold + 2 * self.italic]

    def restyle(self, text: str) -> str | None:
        """Return ``text`` in the letters of the font; None if it lacks one of them.

        >>> FONTS["bf"].restyle("lim"), FONTS["bf"].restyle("a b")
        ('𝐥𝐢𝐦', None)
        """
        letters = _ALPHABETS.get(self.variant)
        if letters is None or not all(char in letters for char in text):
            return None
        return "".join(letters[char] for char in text)

    def choose(self, char: str) -> Font:
        """Return the font in which ``char`` shows when this one is selected."""
        return _choose(self, char)

    def select(self, font: Font) -> Font:
        r"""Return the font after a font command; only ``\boldsymbol`` outlives others.

        >>> MATH.embolden().select(FONTS["rm"])
        Font(family='serif', bold=True, italic=False, forced=True)
        """
        return font.embolden() if self.forced else font

    def embolden(self) -> Font:
        r"""Return the font inside ``\boldsymbol``."""
        return self._replace(bold=True, forced=True)


MATH = Font("math", italic=True)
ROMAN = Font("serif")

FONTS = {
    "rm": ROMAN,
    "it": Font("serif", italic=True),
    "bf": Font("serif", bold=True),
    "sf": Font("sansserif"),
    "tt": Font("typewriter"),
    "cal": Font("script"),
    "bb": Font("blackboard"),
    "frak": Font("fraktur"),
    "normal": MATH,
}
"""Fonts by the short name of the command that selects them."""

STICKY = frozenset({"serif", "sansserif", "typewriter"})
"""Families in which adjacent letters form one word: ``\\mathrm{lcm}``."""

_BLOCKS = {
    # latin, uppercase greek, lowercase greek, digits
    "bold": (0x1D400, 0x1D6A8, 0x1D6C2, 0x1D7CE),
    "italic": (0x1D434, 0x1D6E2, 0x1D6FC, 0),
    "bold-italic": (0x1D468, 0x1D71C, 0x1D736, 0),
    "sans-serif": (0x1D5A0, 0, 0, 0x1D7E2),
    "bold-sans-serif": (0x1D5D4, 0x1D756, 0x1D770, 0x1D7EC),
    "sans-serif-italic": (0x1D608, 0, 0, 0),
    "sans-serif-bold-italic": (0x1D63C, 0x1D790, 0x1D7AA, 0),
    "monospace": (0x1D670, 0, 0, 0x1D7F6),
    "script": (0x1D49C, 0, 0, 0),
    "bold-script": (0x1D4D0, 0, 0, 0),
    "fraktur": (0x1D504, 0, 0, 0),
    "bold-fraktur": (0x1D56C, 0, 0, 0),
    "double-struck": (0x1D538, 0, 0, 0x1D7D8),
}
_OLDER = {
    # letters that had a code point before the mathematical blocks
    "italic": {"h": "ℎ"},
    "script": dict(zip("BEFHILMRego", "ℬℰℱℋℐℒℳℛℯℊℴ", strict=True)),
    "fraktur": dict(zip("CHIRZ", "ℭℌℑℜℨ", strict=True)),
    "double-struck": dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True)),
}
_FAMILY_VARIANTS = {
    # family: plain, bold, italic, bold italic
    "serif": ("", "bold", "italic", "bold-italic"),
    "math": ("", "bold", "italic", "bold-italic"),
    "sansserif": (
        "sans-serif",
        "bold-sans-serif",
        "sans-serif-italic",
        "sans-serif-bold-italic",
    ),
    "typewriter": ("monospace",) * 4,
    "script": ("script", "bold-script", "script", "bold-script"),
    "fraktur": ("fraktur", "bold-fraktur", "fraktur", "bold-fraktur"),
    "blackboard": ("double-struck",) * 4,
}


def _fill(variant: str) -> dict[str, str]:
    latin, capital, small, digit = _BLOCKS[variant]
    table = {chr(65 + i): chr(latin + i) for i in range(26)}
    table |= {chr(97 + i): chr(latin + 26 + i) for i in range(26)}
    if capital:
        table |= {chr(0x391 + i): chr(capital + i) for i in range(25)}
    if small:
        table |= {chr(0x3B1 + i): chr(small + i) for i in range(25)}
    if digit:
        table |= {chr(48 + i): chr(digit + i) for i in range(10)}
    return table | _OLDER.get(variant, {})


_ALPHABETS = {variant: _fill(variant) for variant in _BLOCKS}


@lru_cache(maxsize=4096)
def _choose(font: Font, char: str) -> Font:
    family, bold, italic, forced = font
    weight = bold and forced
    if len(char) != 1:
        return Font("serif", weight)
    category = unicodedata.category(char)
    name = unicodedata.name(char, "")
    if category[0] == "L" and name.startswith("LATIN"):
        return Font(family, bold, italic)
    if name.startswith("GREEK"):
        if category != "Lu":
            return Font("serif", weight, italic=True)
        return Font("serif", bold) if family == "math" else Font(family, bold, italic)
    if category[0] == "N":
        return Font("serif", bold) if family == "math" else Font(family, bold, italic)
    return Font("serif", weight)
