r"""Baselines: symbols side by side, fenced groups, and scripts hung on them.

```
a + b       [a, +, b]                        a list of nodes, not linked yet
(x, y)      [M!()1x2 ──w── x ──n── ,         fences and commas make a group
                           └─e── y]
```

A baseline is linked by ``n`` edges when it finds its place. A row becomes a group if a
fence opens and another closes it, whichever they are; the published trees ask no more.
"""

from __future__ import annotations

from itertools import pairwise

from mathamr_kedro.formula.labels import BLANK
from mathamr_kedro.formula.node import Node
from mathamr_kedro.formula.slt_groups import CLOSING, COMMA, OPENING, link_row

BLANKS = ("", BLANK)
"""Labels of nodes that leave no mark in a row, if nothing hangs on them."""

_BARE_FENCES = "({|&∥"


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
    """Return whether a baseline leaves no mark in a row."""
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
        return [_make_group(first, visible[1:-1], visible[-1][0].label)]
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


def _make_group(opening: str, parts: list[list[Node]], closing: str) -> Node:
    """Return what is between two fences as a matrix of one row."""
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
    hang(group, "w", segments[0])
    for segment, following in pairwise(segments):
        hang(segment[0], "e", following)
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
        baseline = [Node(BLANK), *baseline]
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
        piece.append(Node(BLANK))
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
