"""Operator Tree nodes over any number of children."""

from __future__ import annotations

from mathamr_kedro.formula.conversion import Kids, Reader
from mathamr_kedro.formula.failures import WrongArityError
from mathamr_kedro.formula.labels import ERROR
from mathamr_kedro.formula.node import (
    MOST_CHILDREN,
    NAMED_CHILDREN,
    Node,
    make_operator,
)


def drop_missing(kids: Kids) -> list[Node]:
    """Return the children that left something."""
    return [kid for kid in kids if kid is not None]


def make_node(label: str, children: list[Node], reader: Reader) -> Node:
    """Return a node; one with more children than its variant allows is split.

    Published splitting covers unordered operators and errors, and fails in ``cft``.

    Raises:
        WrongArityError: strict mode, where published splitting fails.
    """
    most = MOST_CHILDREN if reader.variant == "mathamr" else NAMED_CHILDREN
    if len(children) <= most:
        return make_operator(label, children)
    if reader.variant == "cft" or label[:2] not in ("U!", ERROR):
        reader.deviate(
            WrongArityError(
                f"Expected at most {most} children of {label!r} (got {len(children)})"
            ),
            "too_many_children",
        )
    return split_children(label, children, most)


def split_children(label: str, children: list[Node], most: int) -> Node:
    """Return nodes of one label in halves, until no node has more than ``most``.

    >>> split_children("U!plus", [Node("V!a"), Node("V!b"), Node("V!c")], 2).edges
    {'0': Node('U!plus', 0, 1), '1': Node('U!plus', 0)}
    """
    if len(children) <= most:
        return make_operator(label, children)
    half = (len(children) + 1) // 2
    parts = (children[:half], children[half:])
    return make_operator(label, [split_children(label, p, most) for p in parts])
