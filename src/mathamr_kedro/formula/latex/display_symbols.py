"""Symbols as MathML: identifiers, numbers, operators and fences."""

from __future__ import annotations

import unicodedata
from html import escape

from mathamr_kedro.formula.latex.symbols import Symbol

NAMES = frozenset({"OPFUNCTION", "TRIGFUNCTION", "LIMITOP"})
"""Roles of operators with a name, such as sin."""
LETTERS = frozenset({"UNKNOWN", "ID", "ATOM", "DIFFOP", "OPERATOR", ""}) | NAMES
"""Roles drawn as identifiers."""
BINARY = frozenset({"ADDOP", "MULOP", "BINOP", "MODIFIEROP"})
RELATIONS = frozenset({"RELOP", "METARELOP", "ARROW"})
FENCES = frozenset({"OPEN", "CLOSE", "VERTBAR", "MIDDLE"})

_SHOWN = {"-": "−", "*": "∗"}
_UPRIGHT = frozenset("∇∂")
_BARS = frozenset("|∥‖")
_INVISIBLE = "\u2061\u2062\u2063\u2064"
_BARE = 'lspace="0" rspace="0"'
_BY_ROLE = {
    "PERIOD": _BARE,
    "PUNCT": 'separator="true" lspace="0" rspace="0.1667em"',
    "MODIFIEROP": 'lspace="0.2778em" rspace="0.2778em"',
    "SUMOP": 'movablelimits="false"',
    # arrows must not grow with what is beside them
    **dict.fromkeys(RELATIONS, 'stretchy="false"'),
}
"""Attributes of operators."""


def draw_symbol(
    symbol: Symbol, stretchy: bool = False, sign: bool = False, size: str = ""
) -> str:
    """Return the element of a symbol; nothing for one that is not seen.

    Args:
        symbol: what to draw.
        stretchy: whether a fence is as high as its row.
        sign: whether an operator precedes its only operand, as in ``-x``.
        size: height of a fence that was given one.
    """
    role, text = symbol.role, symbol.text
    if symbol.meaning == "absent" or not text.strip(_INVISIBLE):
        return ""
    if role == "NUMBER":
        return f"<mn>{escape(symbol.font.restyle(text) or text)}</mn>"
    if role in LETTERS:
        return _draw_letter(symbol)
    shown = escape(_SHOWN.get(text, text))
    if role in FENCES:
        return _draw_fence(shown, role, stretchy, size)
    attributes = _BY_ROLE.get(role, "")
    if text in ("/", "\\"):
        attributes = f'{_BARE} stretchy="false"'
    elif sign and role in BINARY:
        attributes = f'form="prefix" {_BARE}'
    return f"<mo {attributes}>{shown}</mo>" if attributes else f"<mo>{shown}</mo>"


def _draw_letter(symbol: Symbol) -> str:
    text, font = symbol.text, symbol.font
    restyled = font.restyle(text)
    if len(text) > 1:
        return f"<mi>{escape(restyled or text)}</mi>"
    if font.variant == "italic" and symbol.role not in NAMES:
        return f"<mi>{escape(text)}</mi>"
    if restyled is not None:
        return f"<mi>{escape(restyled)}</mi>"
    # a single letter would be italic
    is_letter = unicodedata.category(text)[0] == "L" or text in _UPRIGHT
    upright = ' mathvariant="normal"' if is_letter else ""
    return f"<mi{upright}>{escape(text)}</mi>"


def _draw_fence(shown: str, role: str, stretchy: bool, size: str) -> str:
    form = {"OPEN": "prefix", "CLOSE": "postfix"}.get(role, "")
    attributes = f' form="{form}"' if form else ""
    if shown in _BARS or role == "MIDDLE":
        gap = "0.1667em" if role == "MIDDLE" else "0"
        attributes += f' lspace="{gap}" rspace="{gap}"'
    if size:
        limits = f'minsize="{size}" maxsize="{size}"'
        return f'<mo{attributes} stretchy="true" symmetric="true" {limits}>{shown}</mo>'
    return f'<mo{attributes} stretchy="{str(stretchy).lower()}">{shown}</mo>'
