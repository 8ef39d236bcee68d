"""Chained relations: ``a < b < c`` names ``b`` once and shares it.

```
and ──0── lt ──0── a              and ──0── lt ──0── a
 │         └───1── b       ->      │         └───1── b
 └───1── lt ──0── share            └───1── lt ──0── b   (a copy)
          └───1── c                         └───1── c
```
"""

from __future__ import annotations

from itertools import pairwise

from lxml import etree

from mathamr_kedro.formula.conversion import Kids, Reader
from mathamr_kedro.formula.failures import (
    EmptyFormulaError,
    TooLargeError,
    UnknownTagError,
)
from mathamr_kedro.formula.node import Node, make_operator

LARGEST_COPY = 20_000
"""Nodes that shared parts of one formula may be copied into."""

_SHARE = "$!share"


def keep_share(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    """Leave a mark where a chained relation repeats an operand: ``a<b<c``."""
    if element.get("href") == "#.cmml" or reader.share_copies:
        reader.copied += 1
        return Node(_SHARE)
    reader.deviate(
        UnknownTagError(f"No rule for a share of {element.get('href')!r}"), "share"
    )
    return None


def resolve_shares(conjuncts: list[Node], reader: Reader) -> None:
    """Put a copy of the last operand of the conjunct before in place of each mark."""
    for previous, conjunct in pairwise(conjuncts):
        marked = [e for e, node in conjunct.edges.items() if node.label == _SHARE]
        if not marked or not previous.edges:
            continue
        shared = next(reversed(previous.edges.values()))
        if shared.label == _SHARE:
            continue
        for edge in marked:
            conjunct.edges[edge] = _copy(shared, reader)


def _copy(root: Node, reader: Reader) -> Node:
    copy = Node(root.label)
    stack = [(root, copy)]
    while stack:
        source, target = stack.pop()
        reader.copied += len(source.edges)
        if reader.copied > LARGEST_COPY:
            raise TooLargeError(
                f"Expected shared parts of at most {LARGEST_COPY} nodes in one formula"
            )
        for edge, child in source.edges.items():
            below = Node(child.label)
            target.edges[edge] = below
            if child.edges:
                stack.append((child, below))
    return copy


def settle_shares(root: Node, reader: Reader) -> Node:
    """Drop the marks that found no operand to stand for."""
    if root.label == _SHARE:
        reader.deviate(
            UnknownTagError("No rule for a share without a relation"), "share"
        )
        raise EmptyFormulaError("Nothing is left of the formula")
    stack = [root]
    while stack:
        node = stack.pop()
        children = list(node.edges.values())
        kept = [child for child in children if child.label != _SHARE]
        if len(kept) < len(children):
            reader.deviate(
                UnknownTagError("No rule for a share without a relation"), "share"
            )
            node.edges = make_operator(node.label, kept).edges
        stack += kept
    return root
