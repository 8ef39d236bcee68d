r"""Items to Symbol Layout Trees: what a formula looks like.

```
\frac{a}{b}^2 + (x, y)      O!divide ──n── + ──n── M!()1x2
                             │ │ └u─ V!b             └w─ V!x ──n── &comma;
                             │ └o─ V!a                    └e─ V!y
                             └a─ N!2
```

Each item becomes a baseline: a list of nodes that stand side by side. Baselines are
linked by ``n`` edges when they find their place.
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
from mathamr_kedro.formula.latex.symbols import Symbol, clean_label
from mathamr_kedro.formula.node import Node
from mathamr_kedro.formula.slt_groups import CLOSING, COMMA, OPENING, link_row

_BLANK = "W!"
_BLANKS = ("", _BLANK)
_BARE_FENCES = "({|&∥"

INFIX = frozenset(
    {
        "ADDOP",
        "MULOP",
        "BINOP",
        "MODIFIEROP",
        "MIDDLE",
        "RELOP",
        "METARELOP",
        "ARROW",
        "COMPOSEOP",
    }
)
_ACCENTS = {"OVERACCENT": "o", "UNDERACCENT": "u"}
_EMBELLISH = frozenset({"OVERACCENT", "UNDERACCENT", "MODIFIER", "MODIFIEROP"})


def build_slt(item: Item) -> Node | None:
    """Return the left-most node of the Symbol Layout Tree of an item."""
    return _link(_draw(item))


def _draw(item: Item) -> list[Node]:
    if item.__class__ is Symbol:
        return [Node(item.slt)]  # type: ignore[union-attr]
    return _DRAWERS[item.__class__](item)


def _link(baseline: list[Node]) -> Node | None:
    """Link a baseline; return its first node."""
    if not baseline:
        return None
    for node, following in pairwise(baseline):
        node.edges["n"] = following
    return baseline[0]


def _hang(node: Node, edge: str, baseline: list[Node]) -> None:
    head = _link(baseline)
    if head is not None:
        node.edges[edge] = head


def _is_blank(baseline: list[Node]) -> bool:
    """Return whether a baseline leaves no mark in a row."""
    if len(baseline) > 1:
        return False
    if not baseline:
        return True
    node = baseline[0]
    return node.label in _BLANKS and not node.edges


def _join(parts: list[list[Node]]) -> list[Node]:
    """Return one baseline of several; a fenced row becomes a group."""
    visible = [part for part in parts if not _is_blank(part)]
    if not visible:
        return []
    first = visible[0][0].label
    if first in OPENING and len(visible) > 2 and visible[-1][0].label in CLOSING:
        return [_make_group(first, visible[1:-1], visible[-1][0].label)]
    result = list(visible[0])
    matrix = first.startswith("M!")
    for part in visible[1:]:
        label = part[0].label
        if label.startswith("M!"):
            if matrix:
                return _join_matrices(visible)
            matrix = True
        else:
            matrix = False
        result += part
    return result


def _join_matrices(parts: list[list[Node]]) -> list[Node]:
    """Return the baseline of parts with tables side by side, which may merge."""
    node = link_row([_link(part) for part in parts])  # type: ignore[misc]
    baseline = []
    while node is not None:
        baseline.append(node)
        node = node.edges.pop("n", None)
    return baseline


def _make_group(opening: str, parts: list[list[Node]], closing: str) -> Node:
    """Return what stands between two fences as a matrix of one row."""
    if len(parts) == 1:
        only = parts[0]
        node = only[0]
        if len(only) == 1 and _is_bare_matrix(node):
            node.label = f"M!{opening}{closing}{node.label[2:]}"
            return node
        segments, count = _cut(only)
    else:
        segments, count = _cut_parts(parts)
    group = Node(f"M!{opening}{closing}1x{count}")
    _hang(group, "w", segments[0])
    for segment, following in pairwise(segments):
        _hang(segment[0], "e", following)
    return group


def _is_bare_matrix(node: Node) -> bool:
    label = node.label
    return (
        label.startswith("M!")
        and label[2:3] not in _BARE_FENCES
        and not (node.edges.keys() - {"w", "e"})
    )


def _cut(baseline: list[Node]) -> tuple[list[list[Node]], int]:
    """Cut a baseline after each comma; return the pieces and the number of items."""
    if baseline[0].label in COMMA:
        baseline = [Node(_BLANK), *baseline]
    piece = [baseline[0]]
    pieces = [piece]
    count = 1
    ended = False
    for node in baseline[1:]:
        if ended:
            piece = []
            pieces.append(piece)
            ended = False
        elif node.label in COMMA:
            count += 1
            ended = True
        piece.append(node)
    return pieces, count


def _cut_parts(parts: list[list[Node]]) -> tuple[list[list[Node]], int]:
    """Group parts into items, each up to and with its comma."""
    piece: list[Node] = []
    if parts[0][0].label in COMMA:
        piece.append(Node(_BLANK))
    pieces = [piece]
    count = 1
    ended = False
    for part in parts:
        is_comma = part[0].label in COMMA
        if ended and not is_comma:
            piece = []
            pieces.append(piece)
        piece += part
        ended = is_comma
        count += is_comma
    return pieces, count


def _attach(
    baseline: list[Node],
    below: list[Node] | None,
    above: list[Node] | None,
    limits: bool,
) -> list[Node]:
    """Hang scripts on a baseline; what cannot carry them is put in a box."""
    base = Node(_BLANK) if _is_blank(baseline) else baseline[0]
    label = base.label
    limits = limits or (label[1:2] != "!" and label[:1] != "?")
    low, high = ("u", "o") if limits else ("b", "a")
    edges = base.edges
    if (
        len(baseline) > 1
        or (below is not None and low in edges)
        or (above is not None and high in edges)
    ):
        _link(baseline)
        cells = 1
        cell = base.edges.get("e")
        while cell is not None:
            cells += 1
            cell = cell.edges.get("e")
        box = Node(f"M!1x{cells}")
        box.edges["w"] = base
        base = box
    if below is not None:
        _hang(base, low, below)
    if above is not None:
        _hang(base, high, above)
    return [base]


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
            item = item.drawing  # type: ignore[union-attr]
        if item.__class__ is not Script:
            break
        place, up = item.place, item.up  # type: ignore[union-attr]
        if place == "post" and around:
            break  # a prime on a sum with limits: the limits go outside
        column = columns[place]
        where = -1 if place == "pre" else 0
        if (
            not column
            or levels[place] != item.level  # type: ignore[union-attr]
            or column[where][up] is not None
        ):
            column.insert(len(column) if place == "pre" else 0, [None, None])
        column[where][up] = item.script  # type: ignore[union-attr]
        levels[place] = item.level  # type: ignore[union-attr]
        item = item.base  # type: ignore[union-attr]
    baseline = _draw(item)
    for low, high in around:
        baseline = _attach(
            baseline,
            None if low is None else _draw(low),
            None if high is None else _draw(high),
            limits=True,
        )
    if before or len(after) > 1:
        return _attach_columns(baseline, after, before)
    for low, high in after:
        return _attach(
            baseline,
            None if low is None else _draw(low),
            None if high is None else _draw(high),
            limits=False,
        )
    return baseline


def _attach_columns(
    baseline: list[Node],
    after: list[list[Item | None]],
    before: list[list[Item | None]],
) -> list[Node]:
    """Hang several scripts on each corner of a baseline."""
    base = [Node(_BLANK)] if _is_blank(baseline) else baseline
    for pairs, edges in ((after, "ba"), (before, "dc")):
        for side, edge in enumerate(edges):
            column = []
            for index, pair in enumerate(pairs):
                script = pair[side]
                drawn = [] if script is None else _draw(script)
                if not _is_blank(drawn):
                    column += drawn
                elif index < len(pairs) - 1:
                    column.append(Node(_BLANK))
            _hang(base[0], edge, column)
    return base


def find_operator_role(op: Item) -> str | None:
    """Return the role of an operator, seen through its scripts and accents."""
    while True:
        role = op.role
        if role:
            return role
        if op.__class__ is Script:
            op = op.base  # type: ignore[union-attr]
        elif isinstance(op, App) and op.op.role in _EMBELLISH:
            op = op.args[0]
        else:
            return None


def _draw_app(app: App) -> list[Node]:
    op, args = app.op, app.args
    if op.__class__ is Symbol:
        special = _SPECIAL.get(op.meaning)  # type: ignore[arg-type]
        if special is not None:
            return special(app)
        role = op.role
    else:
        role = find_operator_role(op)
    if role in INFIX and len(args) > 1:
        return _draw_infix(app, role)
    by_role = _BY_ROLE.get(role)  # type: ignore[arg-type]
    if by_role is not None:
        return by_role(app)
    return _join([_draw(op), *map(_draw, args)])


def _draw_infix(app: App, role: str | None) -> list[Node]:
    """Draw operands with the operator in between; long sums from the inside out."""
    spine = [app]
    first = app.args[0]
    while (
        first.__class__ is App
        and first.op.__class__ is Symbol  # type: ignore[union-attr]
        and first.op.role in INFIX  # type: ignore[union-attr]
        and first.op.meaning not in _SPECIAL  # type: ignore[union-attr]
        and len(first.args) > 1  # type: ignore[union-attr]
    ):
        spine.append(first)  # type: ignore[arg-type]
        first = first.args[0]  # type: ignore[union-attr]
    result = _draw(first)
    for part in reversed(spine):
        op = part.op
        parts = [result]
        for arg in part.args[1:]:
            parts.append(_draw(op))
            parts.append(_draw(arg))
        result = _join(parts)
    return result


def _draw_accent(app: App) -> list[Node]:
    """Draw something above or below; one of each on the same base is one column."""
    accent, base = app.op, app.args[0]
    edge = _ACCENTS[find_operator_role(accent)]  # type: ignore[index]
    if isinstance(base, App) and base.op.role in _ACCENTS:
        other = _ACCENTS[base.op.role]
        if other != edge:
            marks = {edge: accent, other: base.op}
            return _attach(
                _draw(base.args[0]), _draw(marks["u"]), _draw(marks["o"]), limits=True
            )
    drawn = _draw(accent)
    if edge == "o":
        return _attach(_draw(base), None, drawn, limits=True)
    return _attach(_draw(base), drawn, None, limits=True)


def _draw_fraction(app: App) -> list[Node]:
    node = Node("O!divide")
    for edge, part in zip("ou", app.args, strict=False):
        _hang(node, edge, _draw(part))
    return [node]


def _draw_root(app: App) -> list[Node]:
    node = Node("O!root")
    if len(app.args) == 1:
        _hang(node, "w", _draw(app.args[0]))
    else:
        _hang(node, "w", _draw(app.args[1]))
        _hang(node, "c", _draw(app.args[0]))
    return [node]


def _draw_in_order(app: App) -> list[Node]:
    return _join([_draw(arg) for arg in app.args])


def _draw_postfix(app: App) -> list[Node]:
    return _join([_draw(app.args[0]), _draw(app.op)])


def _draw_row(row: Row) -> list[Node]:
    items = row.items
    if len(items) == 1:
        return _draw(items[0])
    return _join([_draw(item) for item in items])


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
            head = _link(drawn) or Node(_BLANK)
            last.edges[edge] = head
            last, edge = head, "e"
    return [table]


def _draw_text(text: Text) -> list[Node]:
    parts = []
    for part in text.parts:
        if part.__class__ is str:
            shown = clean_label(part)  # type: ignore[arg-type]
            parts.append([Node("T!" + shown if shown else _BLANK)])
        else:
            parts.append(_draw(part))  # type: ignore[arg-type]
    return parts[0] if len(parts) == 1 else _join(parts)


def _draw_enclosed(item: Enclosed) -> list[Node]:
    node = Node(item.notation)
    _hang(node, "w", _draw(item.inner))
    return [node]


def _draw_mark(mark: ScriptMark) -> list[Node]:
    """Draw a script that never found a base."""
    script = _draw(mark.script)
    below, above = (None, script) if mark.up else (script, None)
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
    "POSTFIX": _draw_postfix,
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
    Undefined: lambda item: [Node("E!")],
    Enclosed: _draw_enclosed,
    Hint: lambda hint: [Node(_BLANK)],
    ScriptMark: _draw_mark,
}
