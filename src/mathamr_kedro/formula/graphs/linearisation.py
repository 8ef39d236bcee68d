"""Operator Trees as MathAMR sees them: depth-first strings.

```
2x - 3    minus times x 2 3      operands of an unordered operator come last first
```

Mansouri, Oard and Zanibbi 2022. The published code rebuilds each tree from its tuples
and mixes up nodes that share a label with an ancestor; here text is written from the
tree itself.
"""

from __future__ import annotations

from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.formula.node import Node
from mathamr_kedro.formula.tree import FormulaTree

_CONCEPT_ESCAPES = str.maketrans({"(": "$", ")": "$$", ":": "$##$"})


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


def linearise(tree: FormulaTree) -> str:
    """Return the concepts of an Operator Tree depth first, joined by blanks.

    Roles are visited in ascending order of their names in lower case, and roles of the
    same name last first, as in the published strings.

    Raises:
        FormulaError: the tree is not an Operator Tree.

    >>> linearise(FormulaTree.from_string("[U!times,0[V!f],1[V!x]]"))
    'times x f'
    """
    if tree.kind != "opt":
        raise FormulaError(f"Expected an Operator Tree (got kind {tree.kind!r})")
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
