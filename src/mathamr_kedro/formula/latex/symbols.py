r"""Symbols of math mode: what each character and command is to the grammar.

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

from mathamr_kedro.formula.latex.alphabets import (
    MATH,
    ROMAN,
    Font,
    choose_font,
    find_variant,
    restyle,
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

_INVISIBLE = frozenset("\u2061\u2062\u2063\u2064")

_ESCAPES = str.maketrans(
    {
        "\t": r"\t",
        "\n": r"\n",
        "\r": r"\r",
        "?": "&quest;",
        ",": "&comma;",
        "[": "&lsqb;",
        "]": "&rsqb;",
    }
)
_OPERATOR_ESCAPES = _ESCAPES | {ord("−"): "-", ord("‖"): "∥"}
"""Operators write minus and norm bars as the ARQMath files do."""


def clean_label(text: str, is_operator: bool = False) -> str:
    """Return ``text`` as it may stand in a label: stripped, brackets spelled out.

    >>> clean_label(" a, b? ")
    'a&comma; b&quest;'
    """
    text = text.strip()
    if text in _INVISIBLE:
        return ""
    return text.translate(_OPERATOR_ESCAPES if is_operator else _ESCAPES)


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
        return "M!D-" + meaning[10:].translate(_OPERATOR_ESCAPES)[1:]
    return "O!" + meaning.lower()


class Symbol:
    """One symbol: a leaf of the formula, and the operator of an application.

    Args:
        role: grammatical role, e.g. ``RELOP``.
        text: what is drawn.
        meaning: what it means, where that is known.
        name: a name the grammar asks for (``langle``).
        font: the font it is drawn in.
        place: where its scripts stand: ``mid`` (above and below), ``post``, or empty.
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
        variant = find_variant(font)
        if meaning == "absent":
            self.slt = "W!"
        else:
            self.slt = _draw(role, text, variant, name or meaning or "")
        self.opt = _name(role, text, meaning, variant, name)

    def __repr__(self) -> str:
        return f"Symbol({self.role}:{self.key})"


def _draw(role: str, text: str, variant: str, fallback: str) -> str:
    """Return the layout-tree label."""
    if not (variant == "italic" and len(text) == 1 and role in _IDENTIFIERS):
        text = restyle(text, variant) or text
    is_operator = role != "NUMBER" and role not in _IDENTIFIERS
    drawn = clean_label(text or fallback, is_operator)
    if is_operator:
        return drawn
    kind = "N!" if role == "NUMBER" else "V!"
    return kind + drawn if drawn else "W!"


def _name(
    role: str, text: str, meaning: str | None, variant: str, name: str | None
) -> str:
    """Return the operator-tree label."""
    if role == "NUMBER":
        return "N!" + clean_label(meaning or text)
    if meaning:
        return label_meaning(meaning)
    shown = restyle(text, variant)
    if shown is None:
        shown = f"{variant}-{text}" if variant and text else text or name or role
    shown = clean_label(shown, is_operator=True)
    return "V!" + shown if shown else "W!"


def _list_characters() -> dict[str, Symbol]:
    """Return the symbols of single ASCII characters."""
    table = {char: letter(char, MATH) for char in string.ascii_letters + '"@`?'}
    table |= {char: Symbol("NUMBER", char, char) for char in string.digits}
    for role, text, meaning, name in (
        ("RELOP", "=", "equals", None),
        ("RELOP", "<", "less-than", None),
        ("RELOP", ">", "greater-than", None),
        ("ADDOP", "+", "plus", None),
        ("ADDOP", "-", "minus", None),
        ("MULOP", "*", "times", None),
        ("MULOP", "/", "divide", None),
        ("POSTFIX", "!", "factorial", None),
        ("PUNCT", ",", None, None),
        ("PUNCT", ";", None, None),
        ("PERIOD", ".", None, None),
        ("OPEN", "(", None, None),
        ("CLOSE", ")", None, None),
        ("OPEN", "[", None, None),
        ("CLOSE", "]", None, None),
        ("VERTBAR", "|", None, None),
        ("METARELOP", ":", None, "colon"),
    ):
        table[text] = Symbol(role, text, meaning, name)
    return table


@lru_cache(maxsize=8192)
def letter(char: str, font: Font) -> Symbol:
    """Return a letter or another character without a role, in ``font``."""
    return Symbol("UNKNOWN", char, font=choose_font(char, font))


def with_font(text: str, font: Font) -> Symbol:
    """Return a name without a role, drawn in exactly ``font``."""
    return _keep("UNKNOWN", text, None, font)


def number(text: str, value: str, font: Font = ROMAN) -> Symbol:
    """Return a number drawn as ``text`` (``1 000``) and worth ``value``."""
    return _keep("NUMBER", text, value, font)


def _keep(role: str, text: str, meaning: str | None, font: Font) -> Symbol:
    """Return a symbol, the same one each time if it is short."""
    make = _kept if len(text) <= _LONGEST_KEPT else _kept.__wrapped__
    return make(role, text, meaning, font)


_LONGEST_KEPT = 40


@lru_cache(maxsize=8192)
def _kept(role: str, text: str, meaning: str | None, font: Font) -> Symbol:
    return Symbol(role, text, meaning, font=font)


@lru_cache(maxsize=8192)
def with_role(symbol: Symbol, role: str, place: str = "") -> Symbol:
    """Return the symbol in another role, e.g. a bar that opens."""
    return Symbol(role, symbol.text, symbol.meaning, symbol.name, symbol.font, place)


@lru_cache(maxsize=1024)
def with_meaning(symbol: Symbol, role: str, meaning: str) -> Symbol:
    """Return the symbol in another role and with another meaning."""
    return Symbol(role, symbol.text, meaning, None, symbol.font, symbol.place)


@lru_cache(maxsize=8192)
def with_place(symbol: Symbol, place: str) -> Symbol:
    """Return the symbol with its scripts at ``place``."""
    return with_role(symbol, symbol.role, place)


@lru_cache(maxsize=8192)
def in_font(symbol: Symbol, font: Font) -> Symbol:
    """Return the symbol drawn in the selected ``font``."""
    return Symbol(
        symbol.role,
        symbol.text,
        symbol.meaning,
        symbol.name,
        choose_font(symbol.text, font),
        symbol.place,
    )


def _list_commands() -> dict[str, Symbol]:
    """Return the symbols of ``symbols.json`` by command."""
    table: dict[str, Symbol] = {}
    for role, rows in _DATA["symbols"].items():
        for commands, text, *rest in rows:
            meaning, name = (*rest, None, None)[:2]
            font = choose_font(text, MATH) if role == "UNKNOWN" else ROMAN
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
"""Commands whose scripts stand above and below them in display style."""

INVISIBLE_TIMES = Symbol("MULOP", "\u2062", "times")
INVISIBLE_COMMA = Symbol("PUNCT", "\u2063")
INVISIBLE_PLUS = Symbol("ADDOP", "\u2064", "plus")
ABSENT = Symbol("UNKNOWN", "", "absent")
