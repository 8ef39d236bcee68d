r"""Items to Symbol Layout Trees, the appearance of a formula.

```
\frac{a}{b}^2 + (x, y)      O!divide ──n── + ──n── M!()1x2
                             │ │ └u─ V!b             └w─ V!x ──n── &comma;
                             │ └o─ V!a                    └e─ V!y
                             └a─ N!2
```

Each item becomes a baseline: a list of nodes side by side, linked by ``n`` edges when
it finds its place. A row becomes a group if a fence opens and another closes it,
whichever they are; the published trees ask no more.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

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
from mathamr_kedro.formula.latex.symbols import Symbol
from mathamr_kedro.formula.node import BLANK, Node, clean_text
from mathamr_kedro.formula.slt_groups import CLOSING, OPENING, link_row, make_group

BLANKS = ("", BLANK)
"""Labels of nodes that are invisible in a row, if they have no children."""

_INFIX = frozenset(
    "ADDOP MULOP BINOP MODIFIEROP MIDDLE RELOP METARELOP ARROW COMPOSEOP".split()
)
_ACCENTS = {"OVERACCENT": "o", "UNDERACCENT": "u"}
_EMBELLISH = frozenset({"OVERACCENT", "UNDERACCENT", "MODIFIER", "MODIFIEROP"})


def link(baseline: list[Node]) -> Node | None:
    """Link a baseline; return its first node."""
    if not baseline:
        return None
    for node, following in pairwise(baseline):
        node.edges["n"] = following
    return baseline[0]


def hang(node: Node, edge: str, baseline: list[Node]) -> None:
    """Link a baseline below a node; an empty one leaves the edge unset."""
    head = link(baseline)
    if head is not None:
        node.edges[edge] = head


def is_blank(baseline: list[Node]) -> bool:
    """Return whether a baseline is invisible in a row."""
    if len(baseline) > 1:
        return False
    if not baseline:
        return True
    node = baseline[0]
    return node.label in BLANKS and not node.edges


def join(parts: list[list[Node]]) -> list[Node]:
    """Return one baseline of several; a fenced row becomes a group."""
    visible = [
        part
        for part in parts
        if part and (part[0].label not in BLANKS or part[0].edges or len(part) > 1)
    ]
    if not visible:
        return []
    first = visible[0][0].label
    if first in OPENING and len(visible) > 2 and visible[-1][0].label in CLOSING:
        items = [head for part in visible[1:-1] if (head := link(part)) is not None]
        return [make_group(first, items, visible[-1][0].label)]
    result: list[Node] = []
    was_table = False
    for part in visible:
        label = part[0].label
        is_table = label[:2] == "M!" and label[2:3].isdigit()
        if is_table and was_table:
            return _join_matrices(visible)
        was_table = is_table
        result += part
    return result


def _join_matrices(parts: list[list[Node]]) -> list[Node]:
    """Return the baseline of parts with tables side by side, which may merge."""
    heads = [head for part in parts if (head := link(part)) is not None]
    node = link_row(heads)
    baseline = []
    while node is not None:
        baseline.append(node)
        node = node.edges.pop("n", None)
    return baseline


def attach(
    baseline: list[Node],
    below: list[Node] | None,
    above: list[Node] | None,
    limits: bool,
) -> list[Node]:
    """Hang scripts on a baseline; what cannot carry them is put in a box."""
    base = Node(BLANK) if is_blank(baseline) else baseline[0]
    label = base.label
    limits = limits or (label[1:2] != "!" and label[:1] != "?")
    low, high = ("u", "o") if limits else ("b", "a")
    edges = base.edges
    if (
        len(baseline) > 1
        or (below is not None and low in edges)
        or (above is not None and high in edges)
    ):
        link(baseline)
        box = Node(f"M!1x{base.count('e')}")
        box.edges["w"] = base
        base = box
    if below is not None:
        hang(base, low, below)
    if above is not None:
        hang(base, high, above)
    return [base]


def build_slt(item: Item) -> Node | None:
    """Return the left-most node of the Symbol Layout Tree of an item."""
    return link(_draw(item))


def _draw_all(items: list[Item]) -> list[list[Node]]:
    """Return the baselines of several items; most are symbols, and need no call."""
    return [
        [Node(item.slt)] if item.__class__ is Symbol else _DRAWERS[item.__class__](item)
        for item in items
    ]


def _draw(item: Item) -> list[Node]:
    if item.__class__ is Symbol:
        return [Node(item.slt)]
    return _DRAWERS[item.__class__](item)


def _draw_script(script: Script) -> list[Node]:
    """Draw a base with all its scripts."""
    before: list[list[Item | None]] = []
    around: list[list[Item | None]] = []
    after: list[list[Item | None]] = []
    columns = {"pre": before, "mid": around, "post": after}
    levels: dict[str, int] = {}
    item: Item = script
    while True:
        while item.__class__ is Dual:
            item = item.drawing
        if item.__class__ is not Script:
            break
        place: str = item.place
        up = item.up
        if place == "post" and around:
            break  # a prime on a sum with limits: the limits go outside
        column = columns[place]
        where = -1 if place == "pre" else 0
        if not column or levels[place] != item.level or column[where][up] is not None:
            column.insert(len(column) if place == "pre" else 0, [None, None])
        column[where][up] = item.script
        levels[place] = item.level
        item = item.base
    baseline = _draw(item)
    for low, high in around:
        baseline = _attach(baseline, low, high, limits=True)
    if before or len(after) > 1:
        return _attach_columns(baseline, after, before)
    for low, high in after:
        return _attach(baseline, low, high, limits=False)
    return baseline


def _attach(
    baseline: list[Node], below: Item | None, above: Item | None, limits: bool
) -> list[Node]:
    low = None if below is None else _draw(below)
    high = None if above is None else _draw(above)
    return attach(baseline, low, high, limits)


def _attach_columns(
    baseline: list[Node],
    after: list[list[Item | None]],
    before: list[list[Item | None]],
) -> list[Node]:
    """Hang several scripts on each corner of a baseline."""
    base = [Node(BLANK)] if is_blank(baseline) else baseline
    for pairs, edges in ((after, "ba"), (before, "dc")):
        for side, edge in enumerate(edges):
            column = []
            for index, pair in enumerate(pairs):
                script = pair[side]
                drawn = [] if script is None else _draw(script)
                if not is_blank(drawn):
                    column += drawn
                elif index < len(pairs) - 1:
                    column.append(Node(BLANK))
            hang(base[0], edge, column)
    return base


def _find_operator_role(op: Item) -> str | None:
    """Return the role of an operator, seen through its scripts and accents."""
    while True:
        role = op.role
        if role:
            return role
        if op.__class__ is Script:
            op = op.base
        elif isinstance(op, App) and op.op.role in _EMBELLISH:
            op = op.args[0]
        else:
            return None


def _draw_app(app: App) -> list[Node]:
    op, args = app.op, app.args
    if op.__class__ is Symbol:
        special = _SPECIAL.get(op.meaning)
        if special is not None:
            return special(app)
    role = op.role or _find_operator_role(op)
    if role in _INFIX and len(args) > 1:
        return _draw_infix(app)
    by_role = _BY_ROLE.get(role or "")
    if by_role is not None:
        return by_role(app)
    return join(_draw_all([op, *args]))


def _draw_infix(app: App) -> list[Node]:
    """Draw operands with the operator in between; long sums from the inside out."""
    spine = [app]
    first = app.args[0]
    while (
        first.__class__ is App
        and first.op.__class__ is Symbol
        and first.op.role in _INFIX
        and first.op.meaning not in _SPECIAL
        and len(first.args) > 1
    ):
        spine.append(first)
        first = first.args[0]
    result = _draw(first)
    for part in reversed(spine):
        op = part.op
        parts = [result]
        if op.__class__ is Symbol and not op.slt:
            parts += _draw_all(part.args[1:])
        else:
            for arg in part.args[1:]:
                parts += _draw_all([op, arg])
        result = join(parts)
    return result


def _draw_accent(app: App) -> list[Node]:
    """Draw something above or below; one of each on the same base is one column."""
    accent, base = app.op, app.args[0]
    edge = _ACCENTS[_find_operator_role(accent) or "OVERACCENT"]
    if isinstance(base, App) and base.op.role in _ACCENTS:
        other = _ACCENTS[base.op.role]
        if other != edge:
            marks = {edge: accent, other: base.op}
            return _attach(_draw(base.args[0]), marks["u"], marks["o"], limits=True)
    below, above = (None, accent) if edge == "o" else (accent, None)
    return _attach(_draw(base), below, above, limits=True)


def _draw_fraction(app: App) -> list[Node]:
    node = Node("O!divide")
    for edge, part in zip("ou", app.args, strict=False):
        hang(node, edge, _draw(part))
    return [node]


def _draw_root(app: App) -> list[Node]:
    node = Node("O!root")
    if len(app.args) == 1:
        hang(node, "w", _draw(app.args[0]))
    else:
        hang(node, "w", _draw(app.args[1]))
        hang(node, "c", _draw(app.args[0]))
    return [node]


def _draw_in_order(app: App) -> list[Node]:
    return join(_draw_all(app.args))


def _draw_row(row: Row) -> list[Node]:
    items = row.items
    if len(items) == 1:
        return _draw(items[0])
    return join(_draw_all(items))


def _draw_array(array: Array) -> list[Node]:
    rows = array.rows
    if not rows:
        return [Node("M!0x0")]
    table = Node(f"M!{len(rows)}x{max(len(rows[0]), 1)}")
    last = table
    edge = "w"
    for row in rows:
        for cell in row or [None]:
            drawn = [] if cell is None else _draw(cell)
            head = link(drawn) or Node(BLANK)
            last.edges[edge] = head
            last, edge = head, "e"
    return [table]


def _draw_text(text: Text) -> list[Node]:
    parts = []
    for part in text.parts:
        if isinstance(part, str):
            shown = clean_text(part)
            parts.append([Node("T!" + shown if shown else BLANK)])
        else:
            parts.append(_draw(part))
    return parts[0] if len(parts) == 1 else join(parts)


def _draw_enclosed(item: Enclosed) -> list[Node]:
    node = Node(item.notation)
    hang(node, "w", _draw(item.inner))
    return [node]


def _draw_mark(mark: ScriptMark) -> list[Node]:
    """Draw a script that never found a base."""
    below, above = (None, mark.script) if mark.up else (mark.script, None)
    return _attach([], below, above, limits=False)


_SPECIAL: dict[str | None, Callable[[App], list[Node]]] = {
    "formulae": _draw_in_order,
    "multirelation": _draw_in_order,
    "limit-from": _draw_in_order,
    "annotated": _draw_in_order,
    "square-root": _draw_root,
    "nth-root": _draw_root,
    "continued-fraction": _draw_fraction,
}

_BY_ROLE: dict[str, Callable[[App], list[Node]]] = {
    "FRACOP": _draw_fraction,
    "POSTFIX": lambda app: join([_draw(app.args[0]), _draw(app.op)]),
    "OVERACCENT": _draw_accent,
    "UNDERACCENT": _draw_accent,
}

_DRAWERS: dict[type, Callable[[Any], list[Node]]] = {
    App: _draw_app,
    RoleApp: _draw_app,
    Script: _draw_script,
    Dual: lambda dual: _draw(dual.drawing),
    Row: _draw_row,
    Array: _draw_array,
    Text: _draw_text,
    Undefined: lambda item: [Node(item.label)],
    Enclosed: _draw_enclosed,
    Hint: lambda hint: [Node(BLANK)],
    ScriptMark: _draw_mark,
}
