"""Content MathML to Operator Trees: one rule per element.

A chained relation, ``a < b < c``, names ``b`` once and shares it:

```
and ──0── lt ──0── a              and ──0── lt ──0── a
 │         └───1── b       ->      │         └───1── b
 └───1── lt ──0── share            └───1── lt ──0── b   (a copy)
          └───1── c                         └───1── c
```
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from lxml import etree

from mathamr_kedro.formula.mathml.markup import TreeError, local_name
from mathamr_kedro.formula.mathml.opt_labels import (
    ELEMENT_LABELS,
    QUALIFIER_TAGS,
    label_symbol,
)
from mathamr_kedro.formula.mathml.rules import (
    Kids,
    Reader,
    Rule,
    RuleBook,
    drop_missing,
    make_leaf,
)
from mathamr_kedro.formula.node import (
    ARQMATH_SPELLING,
    BLANK,
    ERROR,
    Node,
    clean_text,
    escape_label,
)

MAX_CELLS = 100_000
"""Cells of a matrix beyond which a formula is refused: short rows are padded."""

_CLOSURES = {
    "open": "O-O",
    "closed": "C-C",
    "open-closed": "O-C",
    "closed-open": "C-O",
}
_GROUPS = {"vector": "V", "list": "L", "set": "S"}
_CONSTANTS = frozenset({"pi", "true", "false", "eulergamma"})

_UNKNOWN_OPERATORS = {
    "msup": "O!SUP",
    "msub": "O!SUB",
    "mfrac": "O!divide",
    "mrow": "O!form-seq",
}
_LEAVES = {"mi": "V!", "mn": "N!", "mo": "O!", "ms": "T!", "merror": ERROR}
_TRANSPARENT = ("semantics", "mstyle")
MAX_COPIES = 20_000
"""Nodes that shared parts of one formula may be copied into."""

_SHARE = "$!share"


def _make_interval(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    closure = element.get("closure", "closed")
    if closure not in _CLOSURES:
        reader.deviate(
            "unknown_tag",
            f"No rule for an interval of closure {closure!r}",
            "interval",
        )
    ends = _CLOSURES.get(closure, "C-C")
    return reader.make_node(f"O!interval({ends})", drop_missing(kids))


def _make_group(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    children = drop_missing(kids)
    label = f"M!{_GROUPS[local_name(element)]}-{len(children)}"
    return reader.make_node(label, children)


def _make_matrix(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    rows = drop_missing(kids)
    columns = max((len(row.edges) for row in rows), default=0)
    if len(rows) * columns > MAX_CELLS:
        raise TreeError(
            "too_large",
            f"Expected a matrix of at most {MAX_CELLS} cells "
            f"(got {len(rows)} x {columns})",
        )
    padded = [
        Node.operator(
            row.label,
            [
                *row.edges.values(),
                *(Node(ERROR) for _ in range(columns - len(row.edges))),
            ],
        )
        for row in rows
    ]
    return reader.make_node(f"M!M-{len(rows)}x{columns}", padded)


def _make_matrix_row(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    return reader.make_node("M!R!", drop_missing(kids))


GROUP_RULES: dict[str, Rule] = {
    "interval": _make_interval,
    "matrix": _make_matrix,
    "matrixrow": _make_matrix_row,
    **dict.fromkeys(_GROUPS, _make_group),
}
"""Rules of elements that group others."""


def read_unknown(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    """Total mode: name an element without a rule after itself, keep its children."""
    reader.refuse_tag(element)
    name = escape_label(local_name(element))
    children = drop_missing(kids)
    if name in _TRANSPARENT:
        return children[0] if children else None
    if name in _UNKNOWN_OPERATORS:
        if len(children) > 1:
            return reader.make_node(_UNKNOWN_OPERATORS[name], children)
        return children[0] if children else None
    value = clean_text(element.text)
    if value and not children:
        return Node("T!" + value)
    kind = "C!" if name in _CONSTANTS else "O!"
    return reader.make_node(kind + name, children)


def _make_presentation_leaf(
    label: str, element: etree._Element, kids: Kids, reader: Reader
) -> Node:
    """Return a presentation leaf, which only total mode reads.

    Inside ``ci`` the identifier counts the deviation.
    """
    parent = element.getparent()
    if reader.strict or parent is None or local_name(parent) != "ci":
        reader.refuse_tag(element)
    value = "" if label == ERROR else clean_text(element.text)
    return Node(label + value if value or label == ERROR else BLANK)


PRESENTATION_RULES: dict[str, Rule] = {
    tag: partial(_make_presentation_leaf, label) for tag, label in _LEAVES.items()
}
"""Rules of leaves of Presentation MathML within content."""


def build_opt(roots: Sequence[etree._Element], reader: Reader) -> Node:
    """Return the root of the Operator Tree of a formula.

    Raises:
        TreeError: the formula is empty; or, in strict mode, no rule covers a part.
    """
    if len(roots) > 1:
        reader.deviate(
            "several_roots", f"Expected 1 element at the top (got {len(roots)})"
        )
    parts = [_BOOK.convert(root, reader) for root in roots]
    found = [part for part in parts if part is not None]
    if not found:
        raise TreeError("empty", "Nothing is left of the formula")
    root = found[0] if len(found) == 1 else reader.make_node("O!form-seq", found)
    if reader.copied:
        root = _settle_shares(root, reader)
    return root


def _make_identifier(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    value = clean_text(element.text)
    if value:
        return Node(
            "V!" + (value.translate(ARQMATH_SPELLING) if reader.compat else value)
        )
    if reader.strict or not kids or kids[0] is None:
        return Node(BLANK)
    reader.deviations.append("presentation_in_identifier")
    return kids[0]


def _make_symbol(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    name = clean_text(element.text).lower()
    if reader.compat:
        name = name.translate(ARQMATH_SPELLING)
    dictionary = element.get("cd")
    label = label_symbol(dictionary, name)
    if label is not None:
        return Node(label)
    reader.deviate(
        "unknown_tag",
        f"No rule for the csymbol {name!r} (cd {dictionary!r})",
        f"csymbol:{name}",
    )
    if dictionary == "mws":
        return Node("?" + name.removeprefix("qvar_"))
    return Node("O!" + name)


def _make_named(
    label: str, element: etree._Element, kids: Kids, reader: Reader
) -> Node:
    return Node(label)


def _make_qualifier(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    return reader.make_node("$!" + local_name(element), drop_missing(kids))


def _apply(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    """Make a node of the first child, the operator, over the others, its operands."""
    operands = drop_missing(kids)
    if not operands:
        reader.deviate("missing_child", "Expected an operator in apply (got nothing)")
        return Node(BLANK)
    operator = operands.pop(0)
    label = operator.label
    if operator.edges:
        operands.insert(0, operator)
        label = "+!"
        if operator.label in ("O!SUB", "O!SUP"):
            label += operator.edges["0"].label
    elif label.startswith("V!"):
        label = "F!" + label[2:]
    elif label == "O!int":
        operands = _arrange_integral(operands, reader)
    elif label == "O!root":
        operands = _arrange_root(operands, reader)
    elif label.endswith("matrix") and len(operands) == 1:
        if operands[0].label.startswith("M!M-"):
            return operands[0]  # total mode: LaTeXML wraps each matrix in its kind
    elif label == "U!and" and reader.copied:
        _resolve_shares(operands, reader)
    return reader.make_node(label, operands)


def _arrange_integral(operands: list[Node], reader: Reader) -> list[Node]:
    if len(operands) == 1:
        return [operands[0], Node(BLANK), Node(BLANK)]
    reader.deviate(
        "wrong_arity",
        f"Expected 1 operand of an integral (got {len(operands)})",
        "int",
    )
    return operands


def _arrange_root(operands: list[Node], reader: Reader) -> list[Node]:
    degree: Node | None = None
    radicands: list[Node] = []
    for operand in operands:
        if operand.label == "$!degree" and len(operand.edges) == 1:
            degree = operand.edges["0"]
        else:
            radicands.append(operand)
    if len(radicands) != 1:
        reader.deviate(
            "wrong_arity",
            f"Expected 1 radicand of a root (got {len(radicands)})",
            "root",
        )
        return operands
    return [radicands[0], degree or Node("N!2")]


def _make_error(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    """Return an error node; letters that LaTeXML could not join become one text."""
    children: list[Node] = []
    for kid in drop_missing(kids):
        joins = kid.label.startswith("-!") and children
        if joins and children[-1].label[:2] in ("-!", "T!"):
            children[-1] = Node(f"T!{children[-1].label[2:]}{kid.label[2:]}")
        else:
            children.append(kid)
    return reader.make_node(ERROR, children)


def _take_only(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    children = drop_missing(kids)
    if len(children) > 1:
        reader.deviate(
            "several_roots", f"Expected 1 child of an inner math (got {len(kids)})"
        )
        return reader.make_node("O!form-seq", children)
    return children[0] if children else None


def _keep_share(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    """Leave a mark where a chained relation repeats an operand: ``a<b<c``."""
    if element.get("href") == "#.cmml":
        reader.copied += 1
        return Node(_SHARE)
    reader.deviate(
        "unknown_tag", f"No rule for a share of {element.get('href')!r}", "share"
    )
    return None


def _resolve_shares(conjuncts: list[Node], reader: Reader) -> None:
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
        if reader.copied > MAX_COPIES:
            raise TreeError(
                "too_large",
                f"Expected shared parts of at most {MAX_COPIES} nodes in one formula",
            )
        for edge, child in source.edges.items():
            below = Node(child.label)
            target.edges[edge] = below
            if child.edges:
                stack.append((child, below))
    return copy


def _settle_shares(root: Node, reader: Reader) -> Node:
    """Drop the marks that found no operand."""
    if root.label == _SHARE:
        reader.deviate("unknown_tag", "No rule for a share without a relation", "share")
        raise TreeError("empty", "Nothing is left of the formula")
    stack = [root]
    while stack:
        node = stack.pop()
        children = list(node.edges.values())
        kept = [child for child in children if child.label != _SHARE]
        if len(kept) < len(children):
            reader.deviate(
                "unknown_tag", "No rule for a share without a relation", "share"
            )
            node.edges = Node.operator(node.label, kept).edges
        stack += kept
    return root


def _make_book() -> RuleBook:
    named = {tag: partial(_make_named, label) for tag, label in ELEMENT_LABELS.items()}
    leaves: dict[str, Rule] = {
        "ci": _make_identifier,
        "cn": partial(make_leaf, "N!"),
        "mtext": partial(make_leaf, "T!"),
        "csymbol": _make_symbol,
        "share": _keep_share,
        **PRESENTATION_RULES,
        **named,
    }
    inner: dict[str, Rule] = {
        "math": _take_only,
        "apply": _apply,
        "cerror": _make_error,
        **GROUP_RULES,
        **dict.fromkeys(QUALIFIER_TAGS, _make_qualifier),
    }
    return RuleBook(leaves | inner, unknown=read_unknown, leaves=leaves.values())


_BOOK = _make_book()
