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
from mathamr_kedro.formula.slt_groups import CLOSING, OPENING, link_row, make_group

BLANKS = ("", BLANK)
"""Labels of nodes that leave no mark in a row, if nothing hangs on them."""


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
