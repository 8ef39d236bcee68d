"""Content MathML to Operator Trees: one rule per element."""

from __future__ import annotations

from collections.abc import Sequence

from lxml import etree

from mathamr_kedro.formula.conversion import (
    Kids,
    Reader,
    Rule,
    RuleBook,
    make_wildcard,
)
from mathamr_kedro.formula.failures import (
    EmptyFormulaError,
    MissingChildError,
    SeveralRootsError,
    TooLargeError,
    UnknownTagError,
    WrongArityError,
)
from mathamr_kedro.formula.labels import (
    ARQMATH_SPELLING,
    BLANK,
    ERROR,
    clean_text,
)
from mathamr_kedro.formula.markup import local_name
from mathamr_kedro.formula.node import Node, make_operator
from mathamr_kedro.formula.opt_labels import (
    CONSTANT_TAGS,
    FUNCTION_TAGS,
    MATHAMR_CONSTANT_TAGS,
    ORDERED_TAGS,
    QUALIFIER_TAGS,
    UNORDERED_TAGS,
    VARIANTS,
    label_element,
    label_symbol,
)
from mathamr_kedro.formula.opt_nodes import drop_missing, make_node
from mathamr_kedro.formula.opt_shares import (
    keep_share,
    resolve_shares,
    settle_shares,
)
from mathamr_kedro.formula.opt_unknown import (
    PRESENTATION_LEAVES,
    make_presentation_leaf,
    read_unknown,
)

LARGEST_MATRIX = 100_000
"""Cells of a matrix beyond which a formula is refused: short rows are padded."""

_CLOSURES = {
    "open": "O-O",
    "closed": "C-C",
    "open-closed": "O-C",
    "closed-open": "C-O",
}
_GROUPS = {"vector": "V", "list": "L", "set": "S"}


def build_opt(roots: Sequence[etree._Element], reader: Reader) -> Node:
    """Return the root of the Operator Tree of a formula.

    Raises:
        TreeError: the formula is empty; or, in strict mode, no rule covers a part.
    """
    if len(roots) > 1:
        reader.deviate(
            SeveralRootsError(f"Expected 1 element at the top (got {len(roots)})")
        )
    book = _BOOKS[reader.variant]
    parts = [book.convert(root, reader) for root in roots]
    found = [part for part in parts if part is not None]
    if not found:
        raise EmptyFormulaError("Nothing is left of the formula")
    root = found[0] if len(found) == 1 else make_node("O!form-seq", found, reader)
    if reader.copied:
        root = settle_shares(root, reader)
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
    error = UnknownTagError(f"No rule for the csymbol {name!r} (cd {dictionary!r})")
    reader.deviate(error, f"csymbol:{name}")
    if dictionary == "mws":
        return Node("?" + name.removeprefix("qvar_"))
    return Node("O!" + name)


def _make_named(label: str) -> Rule:
    def make(element: etree._Element, kids: Kids, reader: Reader) -> Node:
        return Node(label)

    return make


def _make_qualifier(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    return make_node("$!" + local_name(element), drop_missing(kids), reader)


def _apply(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    """Make a node of the first child, the operator, over the others, its operands."""
    operands = drop_missing(kids)
    if not operands:
        reader.deviate(MissingChildError("Expected an operator in apply (got nothing)"))
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
        resolve_shares(operands, reader)
    return make_node(label, operands, reader)


def _arrange_integral(operands: list[Node], reader: Reader) -> list[Node]:
    if len(operands) == 1:
        return [operands[0], Node(BLANK), Node(BLANK)]
    reader.deviate(
        WrongArityError(f"Expected 1 operand of an integral (got {len(operands)})"),
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
            WrongArityError(f"Expected 1 radicand of a root (got {len(radicands)})"),
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
    return make_node(ERROR, children, reader)


def _make_interval(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    closure = element.get("closure", "closed")
    if closure not in _CLOSURES:
        reader.deviate(
            UnknownTagError(f"No rule for an interval of closure {closure!r}"),
            "interval",
        )
    ends = _CLOSURES.get(closure, "C-C")
    return make_node(f"O!interval({ends})", drop_missing(kids), reader)


def _make_group(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    children = drop_missing(kids)
    label = f"M!{_GROUPS[local_name(element)]}-{len(children)}"
    return make_node(label, children, reader)


def _make_matrix(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    rows = drop_missing(kids)
    columns = max((len(row.edges) for row in rows), default=0)
    if len(rows) * columns > LARGEST_MATRIX:
        raise TooLargeError(
            f"Expected a matrix of at most {LARGEST_MATRIX} cells "
            f"(got {len(rows)} x {columns})"
        )
    padded = [
        make_operator(
            row.label,
            [
                *row.edges.values(),
                *(Node(ERROR) for _ in range(columns - len(row.edges))),
            ],
        )
        for row in rows
    ]
    return make_node(f"M!M-{len(rows)}x{columns}", padded, reader)


def _make_matrix_row(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    return make_node("M!R!", drop_missing(kids), reader)


def _take_only(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    children = drop_missing(kids)
    if len(children) > 1:
        reader.deviate(
            SeveralRootsError(f"Expected 1 child of an inner math (got {len(kids)})")
        )
        return make_node("O!form-seq", children, reader)
    return children[0] if children else None


def _make_book(variant: str) -> RuleBook:
    named = {
        tag: _make_named(label)
        for tag in (
            FUNCTION_TAGS
            | UNORDERED_TAGS
            | ORDERED_TAGS
            | CONSTANT_TAGS
            | MATHAMR_CONSTANT_TAGS
        )
        if (label := label_element(tag, variant)) is not None
    }
    leaves: dict[str, Rule] = {
        "ci": _make_identifier,
        "cn": _make_number,
        "mtext": _make_text,
        "qvar": make_wildcard,
        "csymbol": _make_symbol,
        "share": keep_share,
        **{tag: make_presentation_leaf(tag) for tag in PRESENTATION_LEAVES},
        **named,
    }
    inner: dict[str, Rule] = {
        "math": _take_only,
        "apply": _apply,
        "cerror": _make_error,
        "interval": _make_interval,
        "matrix": _make_matrix,
        "matrixrow": _make_matrix_row,
        **dict.fromkeys(QUALIFIER_TAGS, _make_qualifier),
        **dict.fromkeys(_GROUPS, _make_group),
    }
    return RuleBook(leaves | inner, unknown=read_unknown, leaves=leaves.values())


_BOOKS = {variant: _make_book(variant) for variant in VARIANTS}
