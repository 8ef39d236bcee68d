r"""Symbols of math mode: the grammatical role of each character and command.

A :class:`Symbol` knows its grammatical role, what it means, and its label in both
trees. Symbols are shared and never changed; ``symbols.json`` lists the commands.

>>> leq = SYMBOLS[r"\leq"]
>>> leq.role, leq.slt, leq.opt
('RELOP', '≤', 'O!leq')
>>> SYMBOLS["x"].slt, SYMBOLS["x"].opt
('V!x', 'V!𝑥')
"""

from __future__ import annotations

import json
import string
from functools import lru_cache
from importlib.resources import files

from mathamr_kedro.formula.latex.alphabets import MATH, ROMAN, Font
from mathamr_kedro.formula.node import (
    ARQMATH_SPELLING,
    BLANK,
    ESCAPES,
    clean_text,
)

_DATA = json.loads(
    files("mathamr_kedro.formula.latex")
    .joinpath("symbols.json")
    .read_text(encoding="utf-8")
)
_COMMUTATIVE = frozenset(_DATA["commutative"])
_LABELS: dict[str, str] = _DATA["labels"]

_IDENTIFIERS = frozenset(
    {"UNKNOWN", "ID", "ATOM", "FUNCTION", "OPFUNCTION", "TRIGFUNCTION"}
)
"""Roles drawn as identifiers (``V!x``); numbers are ``N!1``, all others bare."""


@lru_cache(maxsize=2048)
def label_meaning(meaning: str) -> str:
    """Return the operator-tree label of a meaning.

    >>> label_meaning("plus"), label_meaning("equals"), label_meaning("binomial")
    ('U!plus', 'U!eq', 'O!binomial')
    """
    if meaning in _LABELS:
        return _LABELS[meaning]
    if meaning in _COMMUTATIVE:
        return "U!" + meaning
    if meaning.isascii() and meaning.replace(".", "", 1).isdigit():
        return f"N!{float(meaning)!r}"  # a number used as an operator
    if meaning.startswith("delimited-"):
        # The published trees lose the first character of the escaped fences.
        fences = meaning[10:].translate(ESCAPES).translate(ARQMATH_SPELLING)
        return "M!D-" + fences[1:]
    return "O!" + meaning.lower()


class Symbol:
    """One symbol: a leaf of the formula, and the operator of an application.

    Args:
        role: grammatical role, e.g. ``RELOP``.
        text: what is drawn.
        meaning: what it means, if that is known.
        name: a name that grammar rules refer to (``langle``).
        font: the font it is drawn in.
        place: where its scripts are: ``mid`` (above and below), ``post``, or empty.
    """

    __slots__ = (
        "font",
        "key",
        "meaning",
        "name",
        "opt",
        "place",
        "role",
        "slt",
        "text",
    )
    is_empty = False

    def __init__(
        self,
        role: str,
        text: str,
        meaning: str | None = None,
        name: str | None = None,
        font: Font = ROMAN,
        place: str = "",
    ) -> None:
        self.role = role
        self.text = text
        self.meaning = meaning
        self.name = name
        self.font = font
        self.place = place
        self.key = meaning or name or text or role
        self.slt = BLANK if meaning == "absent" else self._draw()
        self.opt = self._name()

    @classmethod
    def letter(cls, char: str, font: Font) -> Symbol:
        """Return a letter or another character without a role, in ``font``."""
        return _letter(char, font)

    @classmethod
    def word(cls, text: str, font: Font) -> Symbol:
        """Return a name without a role, drawn in exactly ``font``."""
        return _keep("UNKNOWN", text, None, font)

    @classmethod
    def number(cls, text: str, value: str, font: Font = ROMAN) -> Symbol:
        """Return a number drawn as ``text`` (``1 000``) and worth ``value``."""
        return _keep("NUMBER", text, value, font)

    def with_role(self, role: str | None, place: str = "") -> Symbol:
        """Return the symbol in another role, e.g. a bar that opens."""
        return _with_role(self, role or self.role, place)

    def with_meaning(self, role: str, meaning: str) -> Symbol:
        """Return the symbol in another role and with another meaning."""
        return _with_meaning(self, role, meaning)

    def with_place(self, place: str) -> Symbol:
        """Return the symbol with its scripts at ``place``."""
        return _with_role(self, self.role, place)

    def with_font(self, font: Font) -> Symbol:
        """Return the symbol drawn in the selected ``font``."""
        return _with_font(self, font)

    def __repr__(self) -> str:
        return f"Symbol({self.role}:{self.key})"

    def _draw(self) -> str:
        """Return the layout-tree label."""
        role, text, font = self.role, self.text, self.font
        is_identifier = role in _IDENTIFIERS
        if not (is_identifier and len(text) == 1 and font.variant == "italic"):
            text = font.restyle(text) or text
        text = text or self.name or self.meaning or ""
        if role != "NUMBER" and not is_identifier:
            return _clean_operator(text)
        drawn = clean_text(text)
        kind = "N!" if role == "NUMBER" else "V!"
        return kind + drawn if drawn else BLANK

    def _name(self) -> str:
        """Return the operator-tree label."""
        text, meaning, variant = self.text, self.meaning, self.font.variant
        if self.role == "NUMBER":
            return "N!" + clean_text(meaning or text)
        if meaning:
            return label_meaning(meaning)
        shown = self.font.restyle(text)
        if shown is None:
            plain = text or self.name or self.role
            shown = f"{variant}-{text}" if variant and text else plain
        shown = _clean_operator(shown)
        return "V!" + shown if shown else BLANK


def _clean_operator(text: str) -> str:
    """Return text as labels of operators write it, as the ARQMath files do."""
    return clean_text(text).translate(ARQMATH_SPELLING)


def _list_characters() -> dict[str, Symbol]:
    """Return the symbols of single ASCII characters."""
    table = {char: Symbol.letter(char, MATH) for char in string.ascii_letters + '"@`?'}
    table |= {char: Symbol("NUMBER", char, char) for char in string.digits}
    for role, text, meaning in (
        ("RELOP", "=", "equals"),
        ("RELOP", "<", "less-than"),
        ("RELOP", ">", "greater-than"),
        ("ADDOP", "+", "plus"),
        ("ADDOP", "-", "minus"),
        ("MULOP", "*", "times"),
        ("MULOP", "/", "divide"),
        ("POSTFIX", "!", "factorial"),
    ):
        table[text] = Symbol(role, text, meaning)
    kinds = {"PUNCT": ",;", "PERIOD": ".", "OPEN": "([", "CLOSE": ")]", "VERTBAR": "|"}
    for role, characters in kinds.items():
        table |= {char: Symbol(role, char) for char in characters}
    table[":"] = Symbol("METARELOP", ":", name="colon")
    return table


# Symbols are made once: most formulas are made of the same few hundred.


@lru_cache(maxsize=8192)
def _letter(char: str, font: Font) -> Symbol:
    return Symbol("UNKNOWN", char, font=font.choose(char))


def _keep(role: str, text: str, meaning: str | None, font: Font) -> Symbol:
    """Return a symbol, the same one each time if it is short."""
    make = _kept if len(text) <= _MAX_KEPT else _kept.__wrapped__
    return make(role, text, meaning, font)


_MAX_KEPT = 40


@lru_cache(maxsize=8192)
def _kept(role: str, text: str, meaning: str | None, font: Font) -> Symbol:
    return Symbol(role, text, meaning, font=font)


@lru_cache(maxsize=8192)
def _with_role(symbol: Symbol, role: str, place: str) -> Symbol:
    return Symbol(role, symbol.text, symbol.meaning, symbol.name, symbol.font, place)


@lru_cache(maxsize=1024)
def _with_meaning(symbol: Symbol, role: str, meaning: str) -> Symbol:
    return Symbol(role, symbol.text, meaning, None, symbol.font, symbol.place)


@lru_cache(maxsize=8192)
def _with_font(symbol: Symbol, font: Font) -> Symbol:
    return Symbol(
        symbol.role,
        symbol.text,
        symbol.meaning,
        symbol.name,
        font.choose(symbol.text),
        symbol.place,
    )


def _list_commands() -> dict[str, Symbol]:
    """Return the symbols of ``symbols.json`` by command."""
    table: dict[str, Symbol] = {}
    for role, rows in _DATA["symbols"].items():
        for commands, text, *rest in rows:
            meaning, name = (*rest, None, None)[:2]
            font = MATH.choose(text) if role == "UNKNOWN" else ROMAN
            symbol = Symbol(role, text, meaning, name, font)
            table |= dict.fromkeys(commands.split(), symbol)
    return table


CHARACTERS = _list_characters()
COMMANDS = _list_commands()
SYMBOLS = CHARACTERS | COMMANDS

LIMITS = frozenset(
    r"\sum \prod \coprod \bigcap \bigcup \bigsqcup \bigvee \bigwedge \bigodot"
    r" \bigotimes \bigoplus \biguplus \det \gcd \inf \lim \liminf \limsup \max \min"
    r" \Pr \sup \injlim \projlim \intop \smallint".split()
)
"""Commands whose scripts are above and below them in display style."""

INVISIBLE_TIMES = Symbol("MULOP", "\u2062", "times")
INVISIBLE_COMMA = Symbol("PUNCT", "\u2063")
INVISIBLE_PLUS = Symbol("ADDOP", "\u2064", "plus")
ABSENT = Symbol("UNKNOWN", "", "absent")
