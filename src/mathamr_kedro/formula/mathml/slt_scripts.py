"""Sub- and superscripts, limits, accents and tensor indices of Symbol Layout Trees."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from mathamr_kedro.formula.labels import BLANK
from mathamr_kedro.formula.mathml.markup import local_name
from mathamr_kedro.formula.mathml.rules import Kids, Reader, Rule
from mathamr_kedro.formula.node import Node
from mathamr_kedro.formula.slt_groups import (
    drop_blanks,
    is_blank,
    link_plain,
    link_row,
)

# The edges that a script element sets: on ordinary bases, and on operators.
_BELOW = (("b", "u"),)
_ABOVE = (("a", "o"),)
_BOTH = (("b", "u"), ("a", "o"))


def _make_script_rule(edges: Sequence[tuple[str, str]], always_limits: bool) -> Rule:
    """Return the rule of a script element that sets ``edges`` in order."""

    def make(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
        if len(kids) != len(edges) + 1:
            return link_row(drop_blanks(kids))
        base = kids[0]
        if base is None or is_blank(base):
            base = Node(BLANK)
        limits = always_limits or _is_operator(base.label)
        names = [edge[limits] for edge in edges]
        if "n" in base.edges or any(name in base.edges for name in names):
            base = _box(base)
        for name, script in zip(names, kids[1:], strict=True):
            if script is not None:
                base.edges[name] = script
        return base

    return make


def _box(base: Node) -> Node:
    """Return an invisible matrix around a baseline, so that scripts can hang on it."""
    outer = Node(f"M!1x{base.count('e')}")
    outer.edges["w"] = base
    return outer


def _is_operator(label: str) -> bool:
    """Tell a bare operator from a typed symbol; ``!!`` counts as typed."""
    return label[1:2] != "!" and not label.startswith("?")


def _make_multiscripts(
    element: etree._Element, kids: Kids, reader: Reader
) -> Node | None:
    """Return a base with tensor indices on its right and on its left."""
    if not kids:
        return None
    base = kids[0]
    if base is None or is_blank(base):
        base = Node(BLANK)
    tags = [local_name(child) for child in element]
    cut = tags.index("mprescripts") if "mprescripts" in tags else len(tags)
    _hang_columns(base, kids[1:cut], "ba", reader, is_before=False)
    _hang_columns(base, kids[cut + 1 :], "dc", reader, is_before=True)
    return base


def _hang_columns(
    base: Node, scripts: Kids, names: str, reader: Reader, is_before: bool
) -> None:
    """Hang pairs of scripts on a base; the pairs of each edge are one baseline."""
    if len(scripts) % 2:
        reader.deviate("missing_child", "Expected pairs of scripts (one is missing)")
        scripts = [*scripts, None]
    for offset, name in enumerate(names):
        head = link_plain(_keep_column(scripts[offset::2], reader, is_before))
        if head is not None:
            base.edges[name] = head


def _keep_column(scripts: Kids, reader: Reader, is_before: bool) -> list[Node]:
    """Return the scripts of one edge: blanks hold the places of earlier pairs only."""
    last = len(scripts) - 1
    column: list[Node] = []
    for index, script in enumerate(scripts):
        drops = index == last
        if is_before and reader.strict and last > 0:
            drops = not drops  # the published test is turned around here
        if script is not None and not (drops and is_blank(script)):
            column.append(script)
        elif index < last:
            reader.deviate("broken_chain", "Found an empty script before others")
            column.append(Node(BLANK))
    return column


def _skip_marker(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    """Return nothing for the mark between right and left indices."""
    parent = element.getparent()
    if parent is None or local_name(parent) != "mmultiscripts":
        reader.refuse_tag(element)
    return None


SCRIPT_RULES: dict[str, Rule] = {
    "msub": _make_script_rule(_BELOW, always_limits=False),
    "msup": _make_script_rule(_ABOVE, always_limits=False),
    "msubsup": _make_script_rule(_BOTH, always_limits=False),
    "munder": _make_script_rule(_BELOW, always_limits=True),
    "mover": _make_script_rule(_ABOVE, always_limits=True),
    "munderover": _make_script_rule(_BOTH, always_limits=True),
    "mmultiscripts": _make_multiscripts,
    "mprescripts": _skip_marker,
}
"""What to make of each element that hangs scripts on a base."""
