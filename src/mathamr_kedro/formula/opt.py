"""Content MathML to Operator Trees: one rule per element."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from lxml import etree

from mathamr_kedro.formula.conversion import (
    Kids,
    Reader,
    Rule,
    RuleBook,
    refuse_tag,
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
    BLANK,
    ERROR,
    clean_text,
    escape_label,
    write_as_arqmath,
)
from mathamr_kedro.formula.markup import local_name
from mathamr_kedro.formula.node import (
    MOST_CHILDREN,
    NAMED_CHILDREN,
    Node,
    make_operator,
)
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

LARGEST_COPY = 100_000
"""Nodes that shared parts of one formula may be copied into."""

_SHARE = "$!share"
_CLOSURES = {
    "open": "O-O",
    "closed": "C-C",
    "open-closed": "O-C",
    "closed-open": "C-O",
}
_GROUPS = {"vector": "V", "list": "L", "set": "S"}
_TOTAL_CONSTANTS = frozenset({"pi", "true", "false", "eulergamma"})
_TOTAL_OPERATORS = {
    "msup": "O!SUP",
    "msub": "O!SUB",
    "mfrac": "O!divide",
    "mrow": "O!form-seq",
    "math": "O!form-seq",
}
_TOTAL_LEAVES = {"mi": "V!", "mn": "N!", "mo": "O!", "ms": "T!"}


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
    root = found[0] if len(found) == 1 else _make_node("O!form-seq", found, reader)
    if reader.copied:
        root = _settle_shares(root, reader)
    return root


def _make_identifier(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    value = clean_text(element.text)
    if value:
        return Node("V!" + (write_as_arqmath(value) if reader.compat else value))
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


def _make_wildcard(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    name = element.get("name")
    if name is None:
        return Node("?" + clean_text(element.text))
    return Node("?" + (name if reader.strict else escape_label(name)))


def _make_symbol(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    name = clean_text(element.text).lower()
    if reader.compat:
        name = write_as_arqmath(name)
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
    return _make_node("$!" + local_name(element), _drop_missing(kids), reader)


def _drop_missing(kids: Kids) -> list[Node]:
    return [kid for kid in kids if kid is not None]


def _apply(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    """Make a node of the first child, the operator, over the others, its operands."""
    operands = _drop_missing(kids)
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
        _resolve_shares(operands, reader)
    return _make_node(label, operands, reader)


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


def _make_node(label: str, children: list[Node], reader: Reader) -> Node:
    """Return a node; a node with more children than can be named is split in two."""
    most = MOST_CHILDREN if reader.variant == "mathamr" else NAMED_CHILDREN
    if len(children) <= most:
        return make_operator(label, children)
    if not label.startswith("U!"):
        reader.deviate(
            WrongArityError(
                f"Expected at most {most} children of {label!r} (got {len(children)})"
            ),
            "too_many_children",
        )
    while len(children) > most:
        half = (len(children) + 1) // 2
        children = [
            _make_half(label, part, most) for part in (children[:half], children[half:])
        ]
    return make_operator(label, children)


def _make_half(label: str, children: list[Node], most: int) -> Node:
    """Split recursively; the depth is the logarithm of the number of children."""
    if len(children) <= most:
        return make_operator(label, children)
    half = (len(children) + 1) // 2
    return make_operator(
        label,
        [_make_half(label, part, most) for part in (children[:half], children[half:])],
    )


def _keep_share(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    """Leave a mark where a chained relation repeats an operand: ``a<b<c``."""
    if element.get("href") == "#.cmml" or reader.share_copies:
        reader.copied += 1
        return Node(_SHARE)
    reader.deviate(
        UnknownTagError(f"No rule for a share of {element.get('href')!r}"), "share"
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


def _settle_shares(root: Node, reader: Reader) -> Node:
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


def _make_error(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    """Return an error node; letters that LaTeXML could not join become one text."""
    children: list[Node] = []
    for kid in _drop_missing(kids):
        joins = kid.label.startswith("-!") and children
        if joins and children[-1].label[:2] in ("-!", "T!"):
            children[-1] = Node(f"T!{children[-1].label[2:]}{kid.label[2:]}")
        else:
            children.append(kid)
    return _make_node(ERROR, children, reader)


def _make_interval(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    closure = element.get("closure", "closed")
    if closure not in _CLOSURES:
        reader.deviate(
            UnknownTagError(f"No rule for an interval of closure {closure!r}"),
            "interval",
        )
    ends = _CLOSURES.get(closure, "C-C")
    return _make_node(f"O!interval({ends})", _drop_missing(kids), reader)


def _make_group(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    children = _drop_missing(kids)
    label = f"M!{_GROUPS[local_name(element)]}-{len(children)}"
    return _make_node(label, children, reader)


def _make_matrix(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    rows = _drop_missing(kids)
    columns = max((len(row.edges) for row in rows), default=0)
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
    return _make_node(f"M!M-{len(rows)}x{columns}", padded, reader)


def _make_matrix_row(element: etree._Element, kids: Kids, reader: Reader) -> Node:
    return _make_node("M!R!", _drop_missing(kids), reader)


def _read_unknown(element: etree._Element, kids: Kids, reader: Reader) -> Node | None:
    """Total mode: name an element without a rule after itself, keep its children."""
    refuse_tag(element, reader)
    name = escape_label(local_name(element))
    children = _drop_missing(kids)
    if name in ("semantics", "mstyle"):
        return children[0] if children else None
    if name in _TOTAL_OPERATORS:
        if len(children) <= 1:
            return children[0] if children else None
        return _make_node(_TOTAL_OPERATORS[name], children, reader)
    if name == "merror":
        return Node(ERROR)
    if name in _TOTAL_LEAVES:
        value = clean_text(element.text)
        return Node(_TOTAL_LEAVES[name] + value if value else BLANK)
    kind = "C!" if name in _TOTAL_CONSTANTS else "O!"
    return _make_node(kind + name, children, reader)


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
        "qvar": _make_wildcard,
        "csymbol": _make_symbol,
        "share": _keep_share,
        **named,
    }
    inner: dict[str, Rule] = {
        "apply": _apply,
        "cerror": _make_error,
        "interval": _make_interval,
        "matrix": _make_matrix,
        "matrixrow": _make_matrix_row,
        **dict.fromkeys(QUALIFIER_TAGS, _make_qualifier),
        **dict.fromkeys(_GROUPS, _make_group),
    }
    return RuleBook(leaves | inner, unknown=_read_unknown, leaves=leaves.values())


_BOOKS = {variant: _make_book(variant) for variant in VARIANTS}
