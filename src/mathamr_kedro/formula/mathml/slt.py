"""Presentation MathML to Symbol Layout Trees: one rule per element."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from lxml import etree

from mathamr_kedro.formula.mathml.markup import TreeError, local_name
from mathamr_kedro.formula.mathml.rules import (
    Kids,
    Reader,
    Rule,
    RuleBook,
    make_leaf,
)
from mathamr_kedro.formula.node import (
    ARQMATH_SPELLING,
    BLANK,
    Node,
    clean_text,
    escape_label,
)
from mathamr_kedro.formula.slt_groups import (
    CLOSING,
    COMMA,
    OPENING,
    drop_blanks,
    is_blank,
    link_plain,
    link_row,
    make_group,
    make_row,
)

# The edges that a script element sets: on ordinary bases, and on operators.
_BELOW = (("b", "u"),)
_ABOVE = (("a", "o"),)
_BOTH = (("b", "u"), ("a", "o"))


def _hang_scripts(
    edges: Sequence[tuple[str, str]],
    always_limits: bool,
    element: etree._Element,
    kids: Kids,
    reader: Reader,
) -> Node | None:
    """Hang scripts on a base by ``edges``, in order."""
    if len(kids) != len(edges) + 1:
        return link_row(drop_blanks(kids))
    base = kids[0]
    if base is None or is_blank(base):
        base = Node(BLANK)
    limits = always_limits or _is_operator(base.label)
    names = [edge[limits] for edge in edges]
    if "n" in base.edges or any(name in base.edges for name in names):
        base = _box(base)
    return _hang(base, names, kids[1:])


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
    "msub": partial(_hang_scripts, _BELOW, False),
    "msup": partial(_hang_scripts, _ABOVE, False),
    "msubsup": partial(_hang_scripts, _BOTH, False),
    "munder": partial(_hang_scripts, _BELOW, True),
    "mover": partial(_hang_scripts, _ABOVE, True),
    "munderover": partial(_hang_scripts, _BOTH, True),
    "mmultiscripts": _make_multiscripts,
    "mprescripts": _skip_marker,
}
"""Rules of elements that attach scripts to a base."""


def build_slt(roots: Sequence[etree._Element], reader: Reader) -> Node:
    """Return the root of the Symbol Layout Tree of a formula.

    Raises:
        TreeError: the formula is empty; or, in strict mode, no rule covers a part.
    """
    if len(roots) > 1:
        reader.deviate(
            "several_roots", f"Expected 1 element at the top (got {len(roots)})"
        )
    parts = [_RULES.convert(root, reader) for root in roots]
    root = link_row([part for part in parts if part is not None])
    if root is None:
        raise TreeError("empty", "Nothing is left of the formula")
    return root


def _make_operator(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    value = clean_text(element.text)
    return Node(value.translate(ARQMATH_SPELLING) if reader.compat else value)


def _make_blank(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    return Node(BLANK)


def _make_error(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    return Node("E!" + clean_text(element.text))


def _take_first(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    """Return the first child of a wrapper; the others are dropped, as published."""
    return kids[0] if kids else None


def _take_only(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    if len(kids) > 1:
        reader.deviate(
            "several_roots", f"Expected 1 child of an inner math (got {len(kids)})"
        )
        return link_row(drop_blanks(kids))
    return kids[0] if kids else None


def _link_visible(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    items = drop_blanks(kids)
    if len(items) > 2 and items[0].label in OPENING and items[-1].label in CLOSING:
        return make_group(items[0].label, items[1:-1], items[-1].label)
    return link_row(items)


def _make_fenced(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    opening, closing = element.get("open", "("), element.get("close", ")")
    separators = element.get("separators", ",").split()
    if not reader.strict:
        separators = [escape_label(separator) for separator in separators]
        opening, closing = escape_label(opening), escape_label(closing)
    opening = opening.replace("[", "&lsqb;")
    closing = closing.replace("]", "&rsqb;")
    items: list[Node] = []
    for index, kid in enumerate(drop_blanks(kids)):
        if index and separators:
            items.append(Node(separators[min(index, len(separators)) - 1]))
        items.append(kid)
    known = COMMA | set(separators) if "," in separators else set(separators)
    return make_group(opening, items, closing, known)


def _link_all(kids: Kids, reader: Reader) -> Node | None:
    """Link children without dropping blanks, as roots, enclosures and cells do."""
    if None in kids[:-1]:
        reader.deviate("broken_chain", "Found an empty part inside a baseline")
    return link_plain([kid for kid in kids if kid is not None])


def _make_cell(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    if not kids:
        return Node(BLANK)
    first = kids[0] if kids[0] is not None else Node(BLANK)
    return _link_all([first, *kids[1:]], reader)


def _make_row(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    return make_row(_require_all(kids, reader))


def _make_table(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    rows = _require_all(kids, reader)
    if not rows:
        return Node("M!0x0")
    table = Node(f"M!{len(rows)}x{rows[0].count('e')}")
    table.edges["w"] = rows[0]
    for row, following in pairwise(rows):
        row.find_last("e").edges["e"] = following
    return table


def _require_all(kids: Kids, reader: Reader) -> list[Node]:
    found = [kid for kid in kids if kid is not None]
    if len(found) < len(kids):
        reader.deviate("broken_chain", "Found an empty row or cell in a table")
    return found


def _make_pair(
    label: str, edges: str, element: etree._Element, kids: Kids, reader: Reader
) -> Node | None:
    if len(kids) != 2:
        return link_row(drop_blanks(kids))
    return _hang(Node(label), edges, kids)


def _hang(node: Node, names: Sequence[str], kids: Kids) -> Node:
    for name, kid in zip(names, kids, strict=True):
        if kid is not None:
            node.edges[name] = kid
    return node


def _make_square_root(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    if not kids:
        return Node(BLANK)
    return _hang(Node("O!root"), "w", [_link_all(kids, reader)])


def _make_enclosure(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    notation = element.get("notation", "longdiv")
    label = notation if reader.strict else escape_label(notation)
    return _hang(Node(label), "w", [_link_all(kids, reader) if kids else None])


def _read_unknown(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    """Look through an element without a rule: its children, or its text."""
    reader.refuse_tag(element)
    if len(element):
        return link_row(drop_blanks(kids))
    value = clean_text(element.text)
    return Node("T!" + value) if value else None


_LEAVES: dict[str, Rule] = {
    "mi": partial(make_leaf, "V!"),
    "mn": partial(make_leaf, "N!"),
    "mtext": partial(make_leaf, "T!"),
    "mo": _make_operator,
    **dict.fromkeys(("mspace", "none", "mphantom"), _make_blank),
    "merror": _make_error,
}
_RULES = RuleBook(
    {
        "math": _take_only,
        "semantics": _take_first,
        "mstyle": _take_first,
        **_LEAVES,
        "mrow": _link_visible,
        "mpadded": _link_visible,
        "mfenced": _make_fenced,
        "mtd": _make_cell,
        "mtr": _make_row,
        "mtable": _make_table,
        **SCRIPT_RULES,
        "mfrac": partial(_make_pair, "O!divide", "ou"),
        "mroot": partial(_make_pair, "O!root", "wc"),
        "msqrt": _make_square_root,
        "menclose": _make_enclosure,
    },
    unknown=_read_unknown,
    leaves=_LEAVES.values(),
    first_only=(_take_first,),
)
