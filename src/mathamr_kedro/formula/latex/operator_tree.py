r"""Items to Operator Trees, the meaning of a formula.

```
a^2 + b      U!plus ── O!SUP ── V!𝑎           \sum_i x   +!O!sum ── O!SUB ── O!sum
               │         └── N!2                           │          └── V!𝑖
               └── V!𝑏                                     └── V!𝑥
```
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mathamr_kedro.formula.latex.limits import MAX_CELLS, LimitError
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
from mathamr_kedro.formula.node import (
    BLANK,
    ERROR,
    Node,
    clean_text,
)


def build_opt(item: Item) -> Node:
    """Return the root of the Operator Tree of an item."""
    if item.__class__ is Symbol:
        return Node(item.opt)
    return _BUILDERS[item.__class__](item)


def _build_all(items: list[Item]) -> list[Node]:
    """Return the trees of several items; most are symbols, and need no call."""
    return [
        Node(item.opt) if item.__class__ is Symbol else _BUILDERS[item.__class__](item)
        for item in items
    ]


def _build_app(app: App) -> Node:
    """Return an application; long sums are walked along their left side."""
    spine = [app]
    first = app.args[0] if app.args else None
    while first.__class__ is App and _is_plain(first):
        spine.append(first)
        first = first.args[0] if first.args else None
    node = _apply(spine.pop(), None)
    for part in reversed(spine):
        node = _apply(part, node)
    return node


def _is_plain(app: App) -> bool:
    op = app.op
    return op.__class__ is Symbol and op.meaning not in _SPECIAL


def _apply(app: App, first: Node | None) -> Node:
    """Return the operator over its operands; the first may be built already."""
    op = app.op
    if op.__class__ is Symbol:
        special = _SPECIAL.get(op.meaning)
        if special is not None:
            return special(app)
    if first is None:
        children = _build_all(app.args)
    else:
        children = [first, *_build_all(app.args[1:])]
    return _apply_operator(op, children)


def _apply_operator(op: Item, children: list[Node]) -> Node:
    if op.__class__ is Symbol:
        label = op.opt
        return Node.operator("F!" + label[2:] if label[0] == "V" else label, children)
    operator = build_opt(op)
    label = operator.label
    if not operator.edges:
        return Node.operator("F!" + label[2:] if label[:2] == "V!" else label, children)
    compound = "+!"
    if label in ("O!SUB", "O!SUP"):
        compound += operator.edges["0"].label
    return Node.operator(compound, [operator, *children])


def _build_script(script: Script) -> Node:
    """Return a base with its scripts; several scripts are walked inwards."""
    chain = [script]
    base = script.base
    while base.__class__ is Script:
        chain.append(base)
        base = base.base
    node = build_opt(base)
    for part in reversed(chain):
        node = Node.operator(
            "O!SUP" if part.up else "O!SUB", [node, build_opt(part.script)]
        )
    return node


def _build_relations(app: App) -> Node:
    """Return a chain of relations; later ones keep only their right side."""
    left, *rest = app.args
    parts = []
    operands = [build_opt(left)]
    for relation, right in zip(rest[::2], rest[1::2], strict=True):
        operands.append(build_opt(right))
        parts.append(_apply_operator(relation, operands))
        operands = []
    return Node.operator("U!and", parts)


def _build_group(kind: str, app: App) -> Node:
    return Node.operator(f"M!{kind}-{len(app.args)}", _build_all(app.args))


def _build_labelled(label: str, app: App) -> Node:
    return Node.operator(label, _build_all(app.args))


def _build_reversed(label: str, app: App) -> Node:
    return Node.operator(label, _build_all(app.args[::-1]))


def _build_root(app: App) -> Node:
    children = _build_all(app.args)
    degree = Node("N!2") if len(children) == 1 else children[0]
    return Node.operator("O!root", [children[-1], degree])


def _build_integral(app: App) -> Node:
    children = _build_all(app.args)
    return Node.operator("O!int", [*children, Node(BLANK), Node(BLANK)])


def _build_negated(app: App) -> Node:
    inner = Node.operator("U!approx", _build_all(app.args))
    return Node.operator("O!not", [inner])


_SPECIAL: dict[str | None, Callable[[App], Node]] = {
    "multirelation": _build_relations,
    "formulae": partial(_build_labelled, "O!form-seq"),
    "list": partial(_build_group, "L"),
    "set": partial(_build_group, "S"),
    "vector": partial(_build_group, "V"),
    "open-interval": partial(_build_labelled, "O!interval(O-O)"),
    "closed-interval": partial(_build_labelled, "O!interval(C-C)"),
    "open-closed-interval": partial(_build_labelled, "O!interval(O-C)"),
    "closed-open-interval": partial(_build_labelled, "O!interval(C-O)"),
    "contains": partial(_build_reversed, "O!in"),
    "not-contains": partial(_build_reversed, "O!notin"),
    "superset-of": partial(_build_reversed, "O!subset"),
    "superset-of-or-equals": partial(_build_reversed, "O!subset"),
    "superset-of-and-not-equals": partial(_build_reversed, "O!prsubset"),
    "not-approximately-equals": _build_negated,
    "square-root": _build_root,
    "nth-root": _build_root,
    "integral": _build_integral,
    # Only the table: that it is a matrix is understood.
    "matrix": lambda app: build_opt(app.args[0]),
}


def _build_row(row: Row) -> Node:
    """Return an unparsed row as an error over its fragments."""
    items = row.items
    if not items:
        return Node.operator(ERROR, [Node(BLANK)])
    if len(items) == 1:
        return build_opt(items[0])
    children = [Node("O!fragments")]
    for item in items:
        if item.__class__ is Hint:
            continue
        node = _build_fragment(item)
        if node.label[0] == "-" and children[-1].label[:2] in ("-!", "T!"):
            children[-1] = Node(f"T!{children[-1].label[2:]}{node.label[2:]}")
        else:
            children.append(node)
    return Node.operator(ERROR, children)


def _build_fragment(item: Item) -> Node:
    if item.__class__ is Symbol and item.role == "UNKNOWN":
        return Node("-!" + clean_text(item.text.lower()))
    return build_opt(item)


def _build_array(array: Array) -> Node:
    rows = array.rows
    columns = max(map(len, rows), default=0)
    if len(rows) * columns > MAX_CELLS:
        raise LimitError("too_large")
    children = []
    for row in rows:
        cells = [
            Node.operator(ERROR, [Node(BLANK)]) if cell is None else build_opt(cell)
            for cell in row
        ]
        cells += [Node(ERROR) for _ in range(columns - len(cells))]
        children.append(Node.operator("M!R!", cells))
    return Node.operator(f"M!M-{len(rows)}x{columns}", children)


def _build_text(text: Text) -> Node:
    """Return the words over the formulas among them.

    A blank, if names are not kept: the published trees read only the text of
    identifiers.
    """
    if not text.named:
        return Node(BLANK)
    words = [clean_text(part) for part in text.parts if isinstance(part, str)]
    shown = " ".join(filter(None, words))
    formulas = [build_opt(part) for part in text.parts if not isinstance(part, str)]
    if shown:
        return Node.operator("T!" + shown, formulas)
    if len(formulas) > 1:
        return Node.operator("O!form-seq", formulas)
    return formulas[0] if formulas else Node(BLANK)


_BUILDERS: dict[type, Callable[[Any], Node]] = {
    App: _build_app,
    RoleApp: _build_app,
    Script: _build_script,
    Dual: lambda dual: build_opt(dual.content),
    Row: _build_row,
    Array: _build_array,
    Text: _build_text,
    Undefined: lambda item: Node(item.label if item.named else BLANK),
    Enclosed: lambda item: build_opt(item.inner),
    Hint: lambda hint: Node(BLANK),
    ScriptMark: lambda mark: _apply_operator(mark.script, []),
}
