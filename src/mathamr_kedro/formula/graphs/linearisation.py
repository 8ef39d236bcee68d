"""Operator Trees as MathAMR sees them: AMR text and depth-first strings.

```
2x - 3    (O1 / minus :op0(U1 / times :op0(N1 / 2) :op0(V1 / x)) :op1(N2 / 3))

          minus times x 2 3      operands of an unordered operator come last first
```

Mansouri, Oard and Zanibbi 2022. The published code rebuilds each tree from its tuples
and mixes up nodes that share a label with an ancestor; here text is written from the
tree itself.
"""

from __future__ import annotations

import re
from collections import Counter

from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.formula.node import Node
from mathamr_kedro.formula.tree import FormulaTree

_CONCEPT_ESCAPES = str.maketrans({"(": "$", ")": "$$", ":": "$##$"})
_QUERY_VARIABLE = re.compile(
    r"<csymbol\b(?=[^<>]*\bcd=[\"']mws[\"'])[^<>]*>\s*qvar_\$?\s*</csymbol\s*>"
)
_LETTER_SYMBOL = re.compile(
    r"<csymbol\b(?=[^<>]*\bcd=[\"']latexml[\"'])[^<>]*>"
    r"\s*(differential-d|conditional)\s*</csymbol\s*>"
)


def prepare_content(markup: str) -> str:
    """Return Content MathML as MathAMR reads it, before it becomes a tree.

    Query variables vanish; the differential and the conditional bar become the
    identifiers ``d`` and ``c``.

    >>> prepare_content('<csymbol cd="latexml">differential-d</csymbol>')
    '<ci>d</ci>'
    """
    return _LETTER_SYMBOL.sub(
        lambda match: f"<ci>{match[1][0]}</ci>", _QUERY_VARIABLE.sub("", markup)
    )


def read_concept(label: str) -> tuple[str, str]:
    """Return the type letter and the concept that AMR text writes for a label.

    An unknown symbol counts as a variable, and a compound operator goes by the label it
    carries; one that carries none has no concept.

    >>> [read_concept(label) for label in ("V!x", "+!F!log", "-!r", "M!R!", "W!")]
    [('V', 'x'), ('F', 'log'), ('V', 'r'), ('M', 'R'), ('W', '')]
    >>> read_concept("O!interval(C-C)")
    ('O', 'interval$C-C$$')
    """
    bare = label.removeprefix("+!") if label != "+!" else "O!"
    kind, mark, rest = bare.partition("!")
    if not mark:
        kind, rest = "V", bare
    value = rest.partition("!")[0]
    letter = kind if kind.isalpha() else "V"
    return letter, value.translate(_CONCEPT_ESCAPES)


def format_amr(tree: FormulaTree, counts: Counter[str] | None = None) -> str:
    """Return the tree as AMR text, without the outer line breaks.

    Args:
        tree: an Operator Tree.
        counts: how often each type letter was used in the document so far; continues
            counting, so that no two formulas share a variable.

    Raises:
        FormulaError: the tree is not an Operator Tree.

    >>> format_amr(FormulaTree.from_string("[O!minus,0[N!2],1[V!x]]"))
    '(O1 / minus :op0(N1 / 2) :op1(V1 / x))'
    """
    _require_opt(tree)
    used = Counter() if counts is None else counts
    out: list[str] = []
    stack: list[Node | str] = [tree.root]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        letter, concept = read_concept(item.label)
        used[letter] += 1
        out.append(f"({letter}{used[letter]}")
        if concept:
            out.append(f" / {concept}")
        stack.append(")")
        unordered = item.label.startswith("U!")
        for edge, child in reversed(item.edges.items()):
            stack.append(child)
            stack.append(f" :op{'0' if unordered else edge}")
    return "".join(out)


def linearise(tree: FormulaTree) -> str:
    """Return the concepts of an Operator Tree depth first, joined by blanks.

    Roles are visited in ascending order of their names in lower case, and roles of the
    same name last first, as in the published strings.

    Raises:
        FormulaError: the tree is not an Operator Tree.

    >>> linearise(FormulaTree.from_string("[U!times,0[V!f],1[V!x]]"))
    'times x f'
    """
    _require_opt(tree)
    out: list[str] = []
    stack = [tree.root]
    while stack:
        node = stack.pop()
        concept = read_concept(node.label)[1]
        if concept:
            out.append(concept)
        if node.label.startswith("U!"):
            stack += node.edges.values()  # popped last first
        else:
            roles = sorted(reversed(node.edges.items()), key=_lower_role)
            stack += [child for _, child in reversed(roles)]
    return " ".join(out)


def _lower_role(role: tuple[str, Node]) -> str:
    return role[0].lower()


def _require_opt(tree: FormulaTree) -> None:
    if tree.kind != "opt":
        raise FormulaError(f"Expected an Operator Tree (got kind {tree.kind!r})")
