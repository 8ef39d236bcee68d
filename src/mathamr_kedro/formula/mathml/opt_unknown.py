"""What total mode makes of elements that no published rule covers."""

from __future__ import annotations

from lxml import etree

from mathamr_kedro.formula.labels import BLANK, ERROR, clean_text, escape_label
from mathamr_kedro.formula.mathml.markup import local_name
from mathamr_kedro.formula.mathml.rules import Kids, Reader, Rule, drop_missing
from mathamr_kedro.formula.node import Node

_CONSTANTS = frozenset({"pi", "true", "false", "eulergamma"})
_OPERATORS = {
    "msup": "O!SUP",
    "msub": "O!SUB",
    "mfrac": "O!divide",
    "mrow": "O!form-seq",
}
_LEAVES = {"mi": "V!", "mn": "N!", "mo": "O!", "ms": "T!", "merror": ERROR}
_TRANSPARENT = ("semantics", "mstyle")


def read_unknown(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    """Total mode: name an element without a rule after itself, keep its children."""
    reader.refuse_tag(element)
    name = escape_label(local_name(element))
    children = drop_missing(kids)
    if name in _TRANSPARENT:
        return children[0] if children else None
    if name in _OPERATORS:
        if len(children) > 1:
            return reader.make_node(_OPERATORS[name], children)
        return children[0] if children else None
    value = clean_text(element.text)
    if value and not children:
        return Node("T!" + value)
    kind = "C!" if name in _CONSTANTS else "O!"
    return reader.make_node(kind + name, children)


def _make_presentation_leaf(tag: str) -> Rule:
    """Return the rule of a presentation leaf, which only total mode reads.

    Inside ``ci`` the identifier counts the deviation.
    """
    label = _LEAVES[tag]

    def make(element: etree._Element, kids: Kids, reader: Reader) -> Node:
        parent = element.getparent()
        if reader.strict or parent is None or local_name(parent) != "ci":
            reader.refuse_tag(element)
        value = "" if label == ERROR else clean_text(element.text)
        return Node(label + value if value or label == ERROR else BLANK)

    return make


PRESENTATION_RULES: dict[str, Rule] = {
    tag: _make_presentation_leaf(tag) for tag in _LEAVES
}
"""What to make of leaves of Presentation MathML among content."""
