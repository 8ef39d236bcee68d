r"""LaTeX to MathML that browsers render natively (MathML Core).

>>> mathml_from_latex(r"\frac{a}{2}")
'<math alttext="\\frac{a}{2}"><mfrac><mi>a</mi><mn>2</mn></mfrac></math>'
>>> render_text("so $x$ <b>")
'so <math alttext="x"><mi>x</mi></math> &lt;b&gt;'

The content of a formula only becomes escaped text or the attribute ``alttext``; element
names, other attributes and links never come from it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from html import escape
from typing import Any

from mathamr_kedro.formula.latex.display_reader import (
    STRETCHED,
    WIDE,
    DisplayReader,
)
from mathamr_kedro.formula.latex.limits import MAX_CHARACTERS, LimitError
from mathamr_kedro.formula.latex.nodes import (
    App,
    Array,
    Dual,
    Enclosed,
    Hint,
    Item,
    RoleApp,
    Row,
    Script,
    ScriptMark,
    Text,
    Undefined,
)
from mathamr_kedro.formula.latex.reader import DISPLAY, TEXT
from mathamr_kedro.formula.latex.symbols import Symbol
from mathamr_kedro.formula.latex.tokens import END, split_tokens

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

_END_ONLY = frozenset({END})
_THIN = '<mspace width="0.1667em"/>'
_BEFORE_SIGN = BINARY | RELATIONS | {"OPEN", "PUNCT", "SUMOP", "INTOP", "BIGOP"}
"""Roles after which a minus is a sign."""

_ACCENTS = {"^": "ˆ", "`": "ˋ", "´": "ˊ", "\u030a": "˚"}
_SMALL_ACCENTS = frozenset("→←↔")

_STYLES = {
    "display": 'displaystyle="true" scriptlevel="0"',
    "text": 'displaystyle="false" scriptlevel="0"',
    "script": 'displaystyle="false" scriptlevel="1"',
}
_LINES = frozenset({"boxed", "overlined", "underlined"})
_SIZES = {"size-1": "1.2em", "size-2": "1.8em", "size-3": "2.4em", "size-4": "3em"}
_DOLLARS = re.compile(r"\$([^$]+)\$")

MATH_STYLE = """
math{font-family:"Latin Modern Math","STIX Two Math","Cambria Math",math;
font-size:1.08em}
mtable.left mtd{text-align:left}
mtable.align mtd{text-align:right;padding-left:0;padding-right:0}
mtable.align mtd:nth-child(even){text-align:left}
mtable.small{font-size:.75em}.boxed{border:1px solid;padding:.2em .35em}
.overlined{border-top:.06em solid;padding-top:.12em}
.underlined{border-bottom:.06em solid;padding-bottom:.12em}
.struck{background:linear-gradient(to top right,transparent calc(50% - .5px),
currentColor,transparent calc(50% + .5px))}
"""
"""Style sheet for what MathML Core cannot express: lines and columns."""


def draw_symbol(
    symbol: Symbol, stretchy: bool = False, sign: bool = False, size: str = ""
) -> str:
    """Return the element of a symbol; nothing for an invisible one.

    Args:
        symbol: what to draw.
        stretchy: whether a fence is as high as its row.
        sign: whether an operator precedes its only operand, as in ``-x``.
        size: height of a fence with an explicit size.
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


def mathml_from_latex(latex: str, display: bool = False) -> str | None:
    r"""Return a formula as a MathML element; None if it cannot be read at all.

    Args:
        latex: a formula as people write it, with or without dollars.
        display: whether it is on a line of its own.
    """
    if len(latex) > MAX_CHARACTERS:
        return None
    try:
        tokens = split_tokens(latex, {})
        reader = DisplayReader(tokens, {}, DISPLAY if display else TEXT)
        drawn = _draw(reader.make_item(reader.read_boxes(_END_ONLY)))
    except (LimitError, RecursionError):
        return None
    block = ' display="block"' if display else ""
    return f'<math{block} alttext="{escape(latex)}">{drawn}</math>' if drawn else None


def _draw(item: Item) -> str:
    if item.__class__ is Symbol:
        return draw_symbol(item)
    return _DRAWERS[item.__class__](item)


def _draw_one(item: Item | None) -> str:
    """Draw an item as exactly one element."""
    if item is None:
        return "<mrow></mrow>"
    if item.__class__ is Symbol and item.text:
        return draw_symbol(item)
    return f"<mrow>{_draw(item)}</mrow>"


def _draw_row(row: Row) -> str:
    items, stretched = row.items, row.role == STRETCHED
    parts: list[str] = []
    before: Item | None = None
    for place, item in enumerate(items):
        if before is not None and _wants_space(before, item):
            parts.append(_THIN)
        if item.__class__ is Symbol:
            near = items[max(0, place - 1) : place + 2]
            ends = place in (0, len(items) - 1) or item.role == "MIDDLE"
            high = (stretched and ends) or any(_is_high(other) for other in near)
            sign = before is None or _find_role(before) in _BEFORE_SIGN
            parts.append(draw_symbol(item, high and item.role in FENCES, sign))
        else:
            parts.append(_draw(item))
        if item.__class__ is not Hint:
            before = item
    drawn = "".join(parts)
    return f"<mrow>{drawn}</mrow>" if stretched or row.role else drawn


def _is_high(item: Item) -> bool:
    """Tell whether the fences of a matrix or a binomial are beside it."""
    if item.__class__ is Array:
        return True
    return item.__class__ is App and item.op.role == "FRACOP" and not item.op.meaning


def _find_role(item: Item) -> str:
    """Return the role of an item seen through scripts and drawings."""
    while True:
        if item.__class__ is Script:
            item = item.base
        elif item.__class__ is Dual:
            item = item.drawing
        elif item.__class__ is Enclosed:
            item = item.inner
        elif item.__class__ is Row and item.role == "OPERATOR":
            return "OPFUNCTION"
        else:
            return item.role or ""


def _wants_space(before: Item, item: Item) -> bool:
    """Tell whether TeX puts a thin space between two items: around names."""
    one, other = _find_role(before), _find_role(item)
    if item.__class__ is Hint:
        return False
    if one in NAMES:
        return other in LETTERS | {"NUMBER", "FUNCTION"} and other != STRETCHED
    return other in NAMES and one in LETTERS | {"NUMBER", "CLOSE", STRETCHED}


def _draw_script(script: Script) -> str:
    """Draw a base with its scripts: one above and one below at a place."""
    below = above = None
    item: Item = script
    place = script.place
    while item.__class__ is Script and item.place == place:
        if (above if item.up else below) is not None:
            break
        if item.up:
            above = item.script
        else:
            below = item.script
        item = item.base
    if above is not None and place == "post" and _is_prime(above):
        inner = item if below is None else Script(item, below, False, place, 0)
        marks = _draw(above).replace("<mo>", '<mo lspace="0" rspace="0">')
        return f"<mrow>{_draw(inner)}{marks}</mrow>"
    low, high = (None if s is None else _draw_one(s) for s in (below, above))
    base = _draw_one(item)
    if place == "pre":
        nothing = "<mrow></mrow>"
        scripts = f"<mprescripts/>{low or nothing}{high or nothing}"
        return f"<mmultiscripts>{base}{scripts}</mmultiscripts>"
    names = ("munder", "mover") if place == "mid" else ("msub", "msup")
    if low is None:
        return f"<{names[1]}>{base}{high}</{names[1]}>"
    if high is None:
        return f"<{names[0]}>{base}{low}</{names[0]}>"
    name = "munderover" if place == "mid" else "msubsup"
    return f"<{name}>{base}{low}{high}</{name}>"


def _is_prime(item: Item) -> bool:
    """Tell whether a script is nothing but primes, whose glyphs are raised already."""
    items = item.items if item.__class__ is Row else [item]
    return all(i.__class__ is Symbol and i.role == "SUPOP" for i in items)


def _draw_dual(dual: Dual) -> str:
    # "(mod n)" is set apart from what is congruent
    gap = '<mspace width="0.4444em"/>' if dual.role == "MODIFIER" else ""
    return gap + _draw(dual.drawing)


def _draw_app(app: App) -> str:
    op, args = app.op, app.args
    meaning = op.meaning if op.__class__ is Symbol else None
    if op.role == "FRACOP" or meaning == "continued-fraction":
        thin = "" if meaning in ("divide", "continued-fraction") else _NO_LINE
        return f"<mfrac{thin}>{_draw_one(args[0])}{_draw_one(args[1])}</mfrac>"
    if meaning == "square-root":
        return f"<msqrt>{_STRUT}{_draw(args[0])}</msqrt>"
    if meaning == "nth-root":
        radicand = f"<mrow>{_STRUT}{_draw(args[1])}</mrow>"
        return f"<mroot>{radicand}{_draw_one(args[0])}</mroot>"
    if op.role in ("OVERACCENT", "UNDERACCENT"):
        return _draw_accent(op, args[0])
    if op.text == "mod":
        return f'<mi>mod</mi><mspace width="0.3333em"/>{_draw(args[0])}'
    return "".join(_draw(item) for item in (op, *args))


# the smallest root is higher than most letters: it would hang below them
_STRUT = '<mspace width="0" height="0.68em" depth="0.2em"/>'
_NO_LINE = ' linethickness="0"'


def _draw_accent(mark: Item, base: Item) -> str:
    over = mark.role == "OVERACCENT"
    name, attribute = ("mover", "accent") if over else ("munder", "accentunder")
    inner = _draw_one(base)
    if mark.__class__ is Symbol and mark.text and not mark.text.isalnum():
        wide = mark.name == WIDE or mark.text in "⏞⏟"
        small = ' mathsize="65%"' if not wide and mark.text in _SMALL_ACCENTS else ""
        shown = escape(_ACCENTS.get(mark.text, mark.text))
        drawn = f'<mo stretchy="{str(wide).lower()}"{small}>{shown}</mo>'
        return f'<{name} {attribute}="true">{inner}{drawn}</{name}>'
    is_letter = mark.__class__ is Symbol and mark.text.isalpha()
    drawn = _draw_one(mark.with_role("UNKNOWN") if is_letter else mark)
    if base.role == "ARROW":
        # an arrow is longer than what is on it
        gap = '<mspace width="0.7em"/>'
        drawn = f"<mrow>{gap}{drawn}{gap}</mrow>"
        if base.__class__ is Symbol:
            inner = f'<mo stretchy="true">{escape(base.text)}</mo>'
    return f"<{name}>{inner}{drawn}</{name}>"


def _draw_array(array: Array) -> str:
    rows = "".join(
        "<mtr>"
        + "".join(f"<mtd>{_draw(c) if c is not None else ''}</mtd>" for c in row)
        + "</mtr>"
        for row in array.rows
    )
    return f"<mtable>{rows}</mtable>"


def _draw_text(text: Text) -> str:
    parts = []
    for part in text.parts:
        if isinstance(part, str):
            # MathML drops spaces at the ends
            inner = part.strip(" ")
            left = "\xa0" * (part[:1] == " ")
            right = "\xa0" * (part[-1:] == " " and bool(inner))
            parts.append(f"<mtext>{escape(left + inner + right)}</mtext>")
        else:
            parts.append(_draw_one(part))
    return "".join(parts)


def _draw_enclosed(item: Enclosed) -> str:
    notation, inner = item.notation, item.inner
    if notation in _STYLES:
        return f"<mstyle {_STYLES[notation]}>{_draw(inner)}</mstyle>"
    if notation in _SIZES and inner.__class__ is Symbol:
        return draw_symbol(inner, size=_SIZES[notation])
    if notation in ("align", "left", "small"):
        return _draw(inner).replace("<mtable>", f'<mtable class="{notation}">', 1)
    name = "boxed" if notation == "box" else notation
    name = name if name in _LINES else "struck"
    return f'<mrow class="{name}">{_draw(inner)}</mrow>'


def _draw_mark(mark: ScriptMark) -> str:
    """Draw a script that never found a base."""
    name = "msup" if mark.up else "msub"
    return f"<{name}><mrow></mrow>{_draw_one(mark.script)}</{name}>"


_DRAWERS: dict[type, Callable[[Any], str]] = {
    App: _draw_app,
    RoleApp: _draw_app,
    Script: _draw_script,
    Dual: _draw_dual,
    Row: _draw_row,
    Array: _draw_array,
    Text: _draw_text,
    Undefined: lambda item: f"<mtext>{escape(item.command)}</mtext>",
    Enclosed: _draw_enclosed,
    Hint: lambda h: f'<mspace width="{h.width / 10:.4g}em"/>' if h.width else "",
    ScriptMark: _draw_mark,
}


def render_text(text: str) -> str:
    """Return a text with formulas between dollars as HTML.

    Anything else, and formulas that cannot be drawn, is kept as written.
    """
    pieces = _DOLLARS.split(text)
    return "".join(
        _render(piece) if number % 2 else escape(piece)
        for number, piece in enumerate(pieces)
    )


def _render(latex: str) -> str:
    drawn = mathml_from_latex(latex)
    return f"<code>${escape(latex)}$</code>" if drawn is None else drawn
