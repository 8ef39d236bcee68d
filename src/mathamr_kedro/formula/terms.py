r"""Subtrees of operator trees as values: compared by what they show, written as LaTeX.

::

    U!plus ── V!𝑏          key   [U!plus[V!a][V!b]]     the same for a + b and b + a
       └───── V!𝑎          latex b + a
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from mathamr_kedro.formula.tree import FormulaTree


@dataclass(frozen=True)
class Term:
    """A subtree, with all that is asked about it.

    >>> tree = FormulaTree.from_string("[U!times,0[N!2],1[U!plus,0[V!x],1[N!1]]]")
    >>> [term.latex for term in Term.list_subtrees(tree)]
    ['2 (x + 1)', '2', 'x + 1', 'x', '1']
    """

    label: str
    """``V!x`` for ``V!𝑥``."""
    children: tuple[Term, ...]
    key: str
    """Equal for subtrees that differ only in the order of unordered operands."""
    size: int
    variable: str | None = None
    """Query variable that it is."""
    has_variables: bool = False

    @classmethod
    def list_subtrees(
        cls, tree: FormulaTree, variables: Mapping[str, str] | None = None
    ) -> list[Term]:
        """Return the subtrees in preorder, the whole tree first.

        Args:
            tree: an operator tree.
            variables: labels of leaves to the query variables that they stand for.
        """
        below: list[list[int]] = [[] for _ in tree.nodes]
        for parent, _, child in tree.edges:
            below[parent].append(child)
        made: dict[int, Term] = {}
        for index in reversed(range(tree.size)):  # children come after their parents
            children = tuple(made[i] for i in below[index])
            label = unicodedata.normalize("NFKC", tree.nodes[index])
            keys = [child.key for child in children]
            if label.startswith("U!"):
                keys.sort()
            variable = (variables or {}).get(label) if not children else None
            made[index] = cls(
                label,
                children,
                f"[{label}{''.join(keys)}]",
                1 + sum(child.size for child in children),
                variable,
                variable is not None or any(child.has_variables for child in children),
            )
        return [made[index] for index in range(tree.size)]

    @property
    def is_unordered(self) -> bool:
        """Whether its operands may be in any order."""
        return self.label.startswith("U!")

    @property
    def latex(self) -> str:
        """The subtree as people write it."""
        return _format(self)[0]


_INFIX = {
    "U!eq": (" = ", 0), "O!lt": (" < ", 0), "O!gt": (" > ", 0), "O!leq": (r" \le ", 0),
    "O!geq": (r" \ge ", 0), "U!plus": (" + ", 1), "O!minus": ("-", 1),
    "U!times": (" ", 2),
}  # fmt: skip
_ATOM, _PREFIX = 4, 3


def _format(term: Term) -> tuple[str, int]:
    """Return LaTeX of a subtree, and how tightly it holds together."""
    label, children = term.label, term.children
    name = label.partition("!")[2] or label
    if not children:
        return name, _ATOM
    parts = [_format(child) for child in children]
    if label in _INFIX and len(parts) > 1:
        sign, level = _INFIX[label]
        inner = [_wrap(p, level + (i > 0 and sign == "-")) for i, p in enumerate(parts)]
        return sign.join(inner), level
    if label == "O!minus":
        return f"-{_wrap(parts[0], 2)}", 1
    if label == "O!divide" and len(parts) == 2:
        return rf"\frac{{{parts[0][0]}}}{{{parts[1][0]}}}", _PREFIX
    if label in ("O!SUP", "O!SUB") and len(parts) == 2:
        mark = "^" if label == "O!SUP" else "_"
        script = parts[1][0]
        script = script if len(script) == 1 else f"{{{script}}}"
        return f"{_wrap(parts[0], _ATOM)}{mark}{script}", _PREFIX
    return f"{name}({', '.join(text for text, _ in parts)})", _PREFIX


def _wrap(part: tuple[str, int], level: int) -> str:
    text, own = part
    return text if own >= level else f"({text})"
