r"""Fractions, roots, stacks, operators and fences.

```
\frac  \over  \binom  \sqrt             fractions, binomials and roots
\hat  \overset  \xrightarrow  \boxed    things above, below and around others
\mathop  \limits  \pmod  \not           operators: names, limits, roles given by hand
\left( ... \right)  \big|               fences
```
"""

from __future__ import annotations

from functools import partial

from mathamr_kedro.formula.latex.alphabets import ROMAN
from mathamr_kedro.formula.latex.boxes import Box, Group, pour
from mathamr_kedro.formula.latex.nodes import (
    App,
    Dual,
    Enclosed,
    Hint,
    Item,
    RoleApp,
    Row,
    Script,
    ScriptMark,
)
from mathamr_kedro.formula.latex.reader import (
    DISPLAY,
    SCRIPT,
    SCRIPTSCRIPT,
    TEXT,
    Handler,
    Reader,
)
from mathamr_kedro.formula.latex.symbols import LIMITS, SYMBOLS, Symbol
from mathamr_kedro.formula.latex.tokens import END

_DIVIDE = Symbol("FRACOP", "", "divide")
_ATOP = Symbol("FRACOP", "")
_CHOOSE = Symbol("FRACOP", "", "binomial")
_BINOMIAL = Symbol("UNKNOWN", "", "binomial")
_CONTINUED = Symbol("UNKNOWN", "", "continued-fraction")
_SQUARE_ROOT = Symbol("UNKNOWN", "", "square-root")
_NTH_ROOT = Symbol("UNKNOWN", "", "nth-root")
_NEXT_STYLE = (TEXT, SCRIPT, SCRIPTSCRIPT, SCRIPTSCRIPT)
_OVER_ENDS = frozenset({"}", "", "&", r"\\", r"\cr", r"\end", r"\right"})
_ROOT_ENDS = frozenset({r"\of", "}", ""})
_GENFRAC_FENCES = frozenset({"(", ")", "[", "]", r"\{", r"\}", r"\langle", r"\rangle"})

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
_PMOD = Symbol("UNKNOWN", "", name="pmod")
_POD = Symbol("UNKNOWN", "", "modulo")
_MOD = Symbol("BIGOP", "mod")
_NOT = Symbol("UNKNOWN", "", "not")
_WORD_ROLES = frozenset(
    {"OP", "BIGOP", "RELOP", "METARELOP", "ADDOP", "MULOP", "BINOP", "OPEN", "CLOSE"}
)

_NEGATED = dict(
    zip(
        "=<>∈≤≥≺≻⪯⪰⊂⊃⊆⊇⊑⊐≡≍≈⊲⊳⊴⊵∃",
        "≠≮≯∉≰≱⊀⊁⋠⋡⊄⊅⊈⊉⋢⋣≢≭≉⋪⋫⋬⋭∄",
        strict=True,
    )
)
_NOTHING_TO_NEGATE = frozenset({"", "}", "&", r"\\", r"\end", r"\right", "^", "_"})
_LONE_NOT = Symbol("OPFUNCTION", "／", "not")
_LEFT_ENDS = frozenset({r"\right", "}", END, "&", r"\\", r"\end"})
_DELIMITER_ROLES = frozenset({"OPEN", "MIDDLE", "CLOSE", "VERTBAR"})

_FENCE_BARS = {
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


def _fraction(
    reader: Reader, boxes: list[Box], style: int | None, op: Symbol = _DIVIDE
) -> None:
    """Read a fraction; its parts are in ``style``."""
    inner = _NEXT_STYLE[reader.style] if style is None else style
    top = reader.read_item(inner)
    boxes.append(App(op, [top, reader.read_item(inner)]))


def _binomial(reader: Reader, boxes: list[Box]) -> None:
    style = _NEXT_STYLE[reader.style]
    args = [reader.read_item(style), reader.read_item(style)]
    boxes.append(Dual(App(_BINOMIAL, args), _surround("(", App(_ATOP, args), ")")))


def _surround(opening: str, item: Item, closing: str) -> Row:
    left, right = SYMBOLS[opening], SYMBOLS[closing]
    return Row([left.with_role("OPEN"), item, right.with_role("CLOSE")])


def _generalized(
    reader: Reader, boxes: list[Box], op: Symbol, opening: str = "", closing: str = ""
) -> None:
    r"""Read ``\over``: all before it in the group is the top."""
    top = reader.make_item(list(boxes))
    style = _NEXT_STYLE[reader.style]
    bottom = reader.make_item(reader.read_scope(_OVER_ENDS, style=style))
    boxes.clear()
    fraction = App(op, [top, bottom])
    if opening:
        boxes.append(Dual(fraction, _surround(opening, fraction, closing)))
    else:
        boxes.append(fraction)


def _above(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\above 1pt``: a fraction with a bar of that width."""
    reader.take_length()
    _generalized(reader, boxes, _DIVIDE)


def _genfrac(reader: Reader, boxes: list[Box]) -> None:
    opening, closing = reader.take_raw_argument(), reader.take_raw_argument()
    thickness, style = reader.take_raw_argument(), reader.take_raw_argument()
    chosen = int(style) if style in ("0", "1", "2", "3") else reader.style
    inner = _NEXT_STYLE[chosen]
    op = _ATOP if thickness.startswith("0") else _DIVIDE
    fraction = App(op, [reader.read_item(inner), reader.read_item(inner)])
    if not opening and not closing:
        boxes.append(fraction)
        return
    row: list[Item] = [fraction]
    if opening in _GENFRAC_FENCES:
        row.insert(0, SYMBOLS[opening].with_role("OPEN"))
    if closing in _GENFRAC_FENCES:
        row.append(SYMBOLS[closing].with_role("CLOSE"))
    boxes.append(Dual(fraction, Row(row)))


def _root(reader: Reader, boxes: list[Box]) -> None:
    degree = reader.read_option()
    if degree is None:
        boxes.append(App(_SQUARE_ROOT, [reader.read_item()]))
        return
    index = reader.make_item(degree)
    boxes.append(App(_NTH_ROOT, [index, reader.read_item()]))


def _plain_root(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\root 3 \of x``."""
    index = reader.make_item(reader.read_scope(_ROOT_ENDS, style=SCRIPT))
    reader.skip_if(r"\of")
    boxes.append(App(_NTH_ROOT, [index, reader.read_item()]))


_FRACTIONS: dict[str, Handler] = {
    r"\frac": partial(_fraction, style=None),
    r"\dfrac": partial(_fraction, style=TEXT),
    r"\tfrac": partial(_fraction, style=SCRIPT),
    r"\cfrac": partial(_fraction, style=TEXT, op=_CONTINUED),
    **dict.fromkeys((r"\binom", r"\tbinom", r"\dbinom"), _binomial),
    r"\genfrac": _genfrac,
    r"\over": partial(_generalized, op=_DIVIDE),
    r"\above": _above,
    r"\atop": partial(_generalized, op=_ATOP),
    r"\choose": partial(_generalized, op=_CHOOSE, opening="(", closing=")"),
    r"\brace": partial(_generalized, op=_ATOP, opening=r"\{", closing=r"\}"),
    r"\brack": partial(_generalized, op=_ATOP, opening="[", closing="]"),
    r"\sqrt": _root,
    r"\root": _plain_root,
}


def _accent(reader: Reader, boxes: list[Box], accent: Symbol, place: str = "") -> None:
    base = reader.read_item()
    boxes.append(RoleApp(accent, [base], None, place) if place else App(accent, [base]))


def _stack(reader: Reader, boxes: list[Box], role: str) -> None:
    r"""Read ``\overset`` and ``\underset``."""
    mark = reader.read_item().with_role(role)
    boxes.append(App(mark, [reader.read_item()]))


def _stack_relation(reader: Reader, boxes: list[Box]) -> None:
    mark = reader.read_item(SCRIPT)
    base = reader.read_item()
    boxes.append(Script(base, mark, True, "mid", reader.level, "RELOP"))


def long_arrow(reader: Reader, boxes: list[Box], arrow: Symbol) -> None:
    """Read an arrow with words above and below."""
    below = reader.read_option()
    above = reader.read_item().with_role("OVERACCENT")
    item: Item = RoleApp(above, [arrow], "ARROW")
    if below is not None:
        mark = reader.make_item(below).with_role("UNDERACCENT")
        item = RoleApp(mark, [item], "ARROW")
    boxes.append(item)


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


def _phantom(reader: Reader, boxes: list[Box], is_wide: bool) -> None:
    inner = reader.read_argument()
    if is_wide:
        boxes.append(Hint(5.0 * len(inner), phantom=True))


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


_STACKS: dict[str, Handler] = (
    {
        command: partial(_accent, accent=Symbol("OVERACCENT", char))
        for command, char in _OVER_ACCENTS.items()
    }
    | {
        command: partial(_accent, accent=Symbol("UNDERACCENT", char))
        for command, char in _UNDER_ACCENTS.items()
    }
    | {
        r"\overbrace": partial(_accent, accent=Symbol("OVERACCENT", "⏞"), place="mid"),
        r"\underbrace": partial(
            _accent, accent=Symbol("UNDERACCENT", "⏟"), place="mid"
        ),
        r"\overset": partial(_stack, role="OVERACCENT"),
        r"\underset": partial(_stack, role="UNDERACCENT"),
        r"\stackrel": _stack_relation,
        r"\xrightarrow": partial(long_arrow, arrow=SYMBOLS[r"\rightarrow"]),
        r"\xleftarrow": partial(long_arrow, arrow=SYMBOLS[r"\leftarrow"]),
        r"\sideset": _sideset,
        r"\boxed": _boxed,
        **dict.fromkeys((r"\phantom", r"\hphantom"), partial(_phantom, is_wide=True)),
        r"\vphantom": partial(_phantom, is_wide=False),
        **dict.fromkeys((r"\smash", r"\hiderel"), _transparent),
        **dict.fromkeys((r"\\", r"\cr"), _line_break),
    }
)


def _classed(reader: Reader, boxes: list[Box], role: str) -> None:
    r"""Read ``\mathrel`` and similar commands."""
    place = ""
    if role == "BIGOP":
        place = "mid" if reader.style == DISPLAY else "post"
    inner = reader.read_argument()
    items = pour(inner)
    if not items:
        return
    if len(items) > 1 and all(
        item.__class__ is Symbol and item.role in _WORD_ROLES for item in items
    ):
        text = "".join(item.text for item in items)
        boxes.append(Symbol(role, text, place=place))
    else:
        boxes.append(reader.make_item(inner).with_role(role, place))


def _operator_name(reader: Reader, boxes: list[Box], limits: bool = False) -> None:
    limits = limits or reader.skip_if("*")
    item = reader.read_item(font=ROMAN)
    role, place = ("OPERATOR", "mid") if limits else ("OPFUNCTION", "post")
    boxes.append(item.with_role(role, place))


def _limit_with_accent(accent: str, meaning: str, role: str) -> Handler:
    r"""Return the handler of ``\varlimsup`` and similar commands."""
    drawing = App(Symbol(role, accent), [Symbol("OPFUNCTION", "lim")])
    content = Symbol("LIMITOP", "", meaning)

    def read(reader: Reader, boxes: list[Box]) -> None:
        boxes.append(Dual(content, drawing, "LIMITOP"))

    return read


def _big_operator(command: str) -> Handler:
    """Return the handler of an operator whose scripts move with the style."""
    shown = SYMBOLS[command].with_place("mid")
    inline = SYMBOLS[command].with_place("post")

    def read(reader: Reader, boxes: list[Box]) -> None:
        boxes.append(shown if reader.style == DISPLAY else inline)

    return read


def _limits(reader: Reader, boxes: list[Box], place: str) -> None:
    r"""Read ``\limits``: the operator before it changes."""
    for index in range(len(boxes) - 1, -1, -1):
        box = boxes[index]
        if box.__class__ is Symbol:
            boxes[index] = box.with_place(place)
        elif box.__class__ in (RoleApp, Row):
            boxes[index] = box.with_role(box.role, place)
        elif box.__class__ is ScriptMark:
            box.place = place
            continue
        elif box.__class__ is Hint:
            continue
        break


def _modulo(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\pmod{n}``."""
    item = reader.read_item()
    drawing = Row([SYMBOLS["("], App(_MOD, [item]), SYMBOLS[")"]])
    boxes.append(Dual(App(_PMOD, [item]), drawing, "MODIFIER"))


def _in_parentheses(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\pod{n}``."""
    item = reader.read_item()
    drawing = Row([SYMBOLS["("], item, SYMBOLS[")"]])
    boxes.append(Dual(App(_POD, [item]), drawing, "MODIFIER"))


def _negate(reader: Reader, boxes: list[Box]) -> None:
    r"""Read ``\not=``: the symbol after it is struck through."""
    if reader.peek() in _NOTHING_TO_NEGATE:
        boxes.append(_LONE_NOT)
        return
    inner = reader.read_argument()
    items = pour(inner)
    if not items:
        boxes.append(_LONE_NOT)
        return
    boxes.append(_strike(items[0]))
    boxes += items[1:]


def _strike(item: Item) -> Item:
    if item.__class__ is Symbol and len(item.text) == 1:
        text = item.text
        meaning = f"not-{item.meaning}" if item.meaning else None
        return Symbol(
            item.role,
            _NEGATED.get(text, text + "\u0338"),
            meaning,
            f"not-{item.name or text}",
            item.font,
            item.place,
        )
    return Dual(App(_NOT, [item]), Enclosed(item, "updiagonalstrike"))


_OPERATORS: dict[str, Handler] = {
    **{command: _big_operator(command) for command in LIMITS},
    r"\mathord": partial(_classed, role="ID"),
    r"\mathop": partial(_classed, role="BIGOP"),
    r"\mathbin": partial(_classed, role="BINOP"),
    r"\mathrel": partial(_classed, role="RELOP"),
    r"\mathopen": partial(_classed, role="OPEN"),
    r"\mathclose": partial(_classed, role="CLOSE"),
    r"\mathpunct": partial(_classed, role="PUNCT"),
    r"\mathinner": partial(_classed, role="ATOM"),
    r"\operatorname": _operator_name,
    r"\operatornamewithlimits": partial(_operator_name, limits=True),
    r"\varlimsup": _limit_with_accent("¯", "limit-supremum", "OVERACCENT"),
    r"\varliminf": _limit_with_accent("¯", "limit-infimum", "UNDERACCENT"),
    r"\varinjlim": _limit_with_accent("→", "injective-limit", "UNDERACCENT"),
    r"\varprojlim": _limit_with_accent("←", "projective-limit", "UNDERACCENT"),
    r"\limits": partial(_limits, place="mid"),
    r"\nolimits": partial(_limits, place="post"),
    r"\pmod": _modulo,
    r"\pod": _in_parentheses,
    r"\not": _negate,
}


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
    if token in _FENCE_BARS:
        reader.i += 1
        return [_FENCE_BARS[token]]
    if token in ("{", "}", END, r"\right", "&", r"\\", r"\end"):
        reader.note("missing_delimiter")
        return []
    return reader.read_one()


def _sized(reader: Reader, boxes: list[Box], role: str) -> None:
    r"""Read ``\big`` and the like; ``l``, ``m``, ``r`` give a role."""
    sized = reader.read_argument()
    if role and sized:
        sized[-1] = _set_role(sized[-1], role)
    if len(sized) == 1:
        boxes += sized
    elif sized:
        boxes.append(Group(sized, braced=False))


def _set_role(item: Box, role: str) -> Box:
    if item.__class__ is Symbol and item.role in _DELIMITER_ROLES:
        return item.with_role(role)
    return item


_FENCED: dict[str, Handler] = {
    r"\left": _read_left,
    r"\right": _read_right,
    r"\middle": _read_middle,
    **{
        rf"\{size}{suffix}": partial(_sized, role=role)
        for size in ("big", "Big", "bigg", "Bigg")
        for suffix, role in (("", ""), ("l", "OPEN"), ("m", "MIDDLE"), ("r", "CLOSE"))
    },
}


HANDLERS = _FRACTIONS | _STACKS | _OPERATORS | _FENCED
