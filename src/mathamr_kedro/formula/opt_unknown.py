"""What total mode makes of elements that no published rule covers."""

from __future__ import annotations

from lxml import etree

from mathamr_kedro.formula.conversion import Kids, Reader, Rule, refuse_tag
from mathamr_kedro.formula.labels import BLANK, ERROR, clean_text, escape_label
from mathamr_kedro.formula.markup import local_name
from mathamr_kedro.formula.node import Node
from mathamr_kedro.formula.opt_nodes import drop_missing, make_node

_CONSTANTS = frozenset({"pi", "true", "false", "eulergamma"})
_OPERATORS = {
    "msup": "O!SUP",
    "msub": "O!SUB",
    "mfrac": "O!divide",
    "mrow": "O!form-seq",
}
PRESENTATION_LEAVES = {"mi": "V!", "mn": "N!", "mo": "O!", "ms": "T!", "merror": ERROR}
_TRANSPARENT = ("semantics", "mstyle")


def read_unknown(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    """Total mode: name an element without a rule after itself, keep its children."""
    refuse_tag(element, reader)
    name = escape_label(local_name(element))
    children = drop_missing(kids)
    if name in _TRANSPARENT:
        return children[0] if children else None
    if name in _OPERATORS:
        if len(children) > 1:
            return make_node(_OPERATORS[name], children, reader)
        return children[0] if children else None
    value = clean_text(element.text)
    if value and not children:
        return Node("T!" + value)
    kind = "C!" if name in _CONSTANTS else "O!"
    return make_node(kind + name, children, reader)


def make_presentation_leaf(tag: str) -> Rule:
    """Return the rule of a presentation leaf, which only total mode reads.

    Inside ``ci`` the identifier counts the deviation.
    """
    label = PRESENTATION_LEAVES[tag]

    def make(element: etree._Element, kids: Kids, reader: Reader) -> Node:
        parent = element.getparent()
        if reader.strict or parent is None or local_name(parent) != "ci":
            refuse_tag(element, reader)
        value = "" if label == ERROR else clean_text(element.text)
        return Node(label + value if value or label == ERROR else BLANK)

    return make
