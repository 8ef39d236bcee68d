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
from itertools import pairwise

from lxml import etree

from mathamr_kedro.formula.labels import (
    ARQMATH_SPELLING,
    BLANK,
    ERROR,
    clean_text,
)
from mathamr_kedro.formula.mathml.errors import TreeError
from mathamr_kedro.formula.mathml.markup import local_name
from mathamr_kedro.formula.mathml.opt_groups import GROUP_RULES
from mathamr_kedro.formula.mathml.opt_labels import (
    ELEMENT_LABELS,
    QUALIFIER_TAGS,
    VARIANTS,
    label_symbol,
)
from mathamr_kedro.formula.mathml.opt_unknown import PRESENTATION_RULES, read_unknown
from mathamr_kedro.formula.mathml.rules import (
    Kids,
    Reader,
    Rule,
    RuleBook,
    drop_missing,
)
from mathamr_kedro.formula.node import Node

MAX_COPIES = 20_000
"""Nodes that shared parts of one formula may be copied into."""

_SHARE = "$!share"


def build_opt(roots: Sequence[etree._Element], reader: Reader) -> Node:
    """Return the root of the Operator Tree of a formula.

    Raises:
        TreeError: the formula is empty; or, in strict mode, no rule covers a part.
    """
    if len(roots) > 1:
        reader.deviate(
            "several_roots", f"Expected 1 element at the top (got {len(roots)})"
        )
    book = _BOOKS[reader.variant]
    parts = [book.convert(root, reader) for root in roots]
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


def _make_number(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    value = clean_text(element.text)
    return Node("N!" + value if value else BLANK)


def _make_text(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    value = clean_text(element.text)
    return Node("T!" + value if value else BLANK)


def _make_symbol(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    name = clean_text(element.text).lower()
    if reader.compat:
        name = name.translate(ARQMATH_SPELLING)
    dictionary = element.get("cd")
    label = label_symbol(dictionary, name, reader.variant)
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


def _make_named(label: str) -> Rule:
    def make(element: etree._Element, kids: Kids, reader: Reader) -> Node:
        return Node(label)

    return make


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
    if element.get("href") == "#.cmml" or reader.share_copies:
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


def _make_book(variant: str) -> RuleBook:
    named = {tag: _make_named(label) for tag, label in ELEMENT_LABELS[variant].items()}
    leaves: dict[str, Rule] = {
        "ci": _make_identifier,
        "cn": _make_number,
        "mtext": _make_text,
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


_BOOKS = {variant: _make_book(variant) for variant in VARIANTS}
