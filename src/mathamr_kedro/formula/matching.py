r"""Comparison of operator trees: query variables, renamed variables, similarity.

::

    ?a^2 + ?b^2 = ?c^2        z^2 = (x-1)^2 + y^2        ?a = x-1, ?b = y, ?c = z

    U!eq ── U!plus ── O!SUP ── ?a        a variable stands for one operand, the same
      │        │        └──── N!2        wherever it is repeated; operands of an
      │        └──── O!SUP ── ?b         unordered operator may be in any order
      └── O!SUP ── ?c

A variable is a question mark before a letter, ``?a``, or before a name in braces,
``?{left}``. Before LaTeX is read, each becomes a letter that the formula does not use,
so readers, patterns and encoders see an ordinary formula. Labels are compared by what
they show: ``V!𝑥`` is ``V!x``. Subtrees are values (:class:`Term`) that compare equal
for ``a + b`` and ``b + a``.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.formula.latex import trees_from_latex
from mathamr_kedro.formula.tree import FormulaTree

_VARIABLE = re.compile(r"(?<!\\)\?(?:([A-Za-z])|\{\s*([^{}\s][^{}]*?)\s*\})")
_STAND_INS = tuple(
    rf"\{name} "
    for name in "xi chi zeta eta nu kappa tau upsilon psi omega rho iota mu".split()
)
"""Letters that replace query variables in the LaTeX that is read."""

MAX_STEPS = 20_000
"""Steps after which a comparison of two trees is given up."""

Bindings: TypeAlias = Mapping[str, str]
"""Variables to the LaTeX of what they stand for, e.g. ``{"?a": "x-1"}``."""

_STRUCTURE = 0.8
"""Weight of structure in the similarity; names of variables are the rest."""


@dataclass(frozen=True)
class Term:
    """A subtree with its precomputed properties.

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
    """The query variable, if it is one."""
    has_variables: bool = False

    @classmethod
    def list_subtrees(
        cls, tree: FormulaTree, variables: Mapping[str, str] | None = None
    ) -> list[Term]:
        """Return the subtrees in preorder, the whole tree first."""
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
        """The subtree as LaTeX."""
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


class PatternMatch(NamedTuple):
    """How a formula is an instance of a pattern."""

    bindings: Bindings
    is_whole: bool
    """Whether the whole formula is; else a part of it."""


@dataclass(frozen=True)
class QueryPattern:
    r"""A formula with variables.

    >>> pattern = QueryPattern.read("?a^2 + ?b")
    >>> tree = trees_from_latex(r"\frac{p}{q} + x^2").opt
    >>> pattern.match(tree)
    PatternMatch(bindings={'?a': 'x', '?b': '\\frac{p}{q}'}, is_whole=True)
    """

    latex: str
    """As it was written."""
    stand_in: str
    """The same without variables, for readers of LaTeX."""
    variables: Mapping[str, str]
    """Labels of operator trees to the variables that they stand for."""

    @classmethod
    def read(cls, latex: str) -> QueryPattern | None:
        """Return the pattern of a formula; ``None`` if it has no variables.

        Raises:
            FormulaError: it is only a variable, or has too many.
        """
        names = [first or name for first, name in _VARIABLE.findall(latex)]
        if not names:
            return None
        if not _VARIABLE.sub("", latex).strip(" $"):
            raise FormulaError(
                f"Expected a formula around the query variables (got {latex!r}): "
                "anything would match"
            )
        free = [letter for letter in _STAND_INS if letter.strip() not in latex]
        different = list(dict.fromkeys(names))
        if len(different) > len(free):
            raise FormulaError(
                f"Expected at most {len(free)} different query variables in {latex!r} "
                f"(got {len(different)})"
            )
        letters = dict(zip(different, free, strict=False))
        stand_in = _VARIABLE.sub(lambda m: letters[m[1] or m[2]], latex)
        labels = {_read_label(letter): f"?{name}" for name, letter in letters.items()}
        return cls(latex, stand_in, labels)

    @cached_property
    def _asked(self) -> Term | None:
        tree = trees_from_latex(self.stand_in).opt
        return None if tree is None else Term.list_subtrees(tree, self.variables)[0]

    def match(self, tree: FormulaTree | None) -> PatternMatch | None:
        """Return how an operator tree, or a part of it, is an instance of the pattern.

        Of several ways the first is returned; the largest part comes first. ``None``:
        it is no instance, or comparing took too long.
        """
        asked, steps = self._asked, _Steps()
        if tree is None or asked is None:
            return None
        for number, term in enumerate(Term.list_subtrees(tree)):
            if term.size < asked.size:
                continue
            try:
                found = next(_unify([(asked, term)], {}, steps), None)
            except _TooManyStepsError:
                return None
            if found is not None:
                names = self.variables.values()
                bindings = {name: found[name].latex for name in names if name in found}
                return PatternMatch(bindings, number == 0)
        return None


def find_renaming(asked: FormulaTree, tree: FormulaTree) -> PatternMatch | None:
    r"""Return how an operator tree, or a part, is another one up to its variables.

    >>> trees = [trees_from_latex(latex).opt for latex in ("x^2 + y", "b + a^2 = 1")]
    >>> find_renaming(*trees)
    PatternMatch(bindings={'x': 'a', 'y': 'b'}, is_whole=False)
    """
    plain, steps = Term.list_subtrees(asked), _Steps()
    labels = {t.label: t.latex for t in plain if t.label.startswith("V!")}
    whole = Term.list_subtrees(asked, labels)[0]
    if whole.variable is not None:  # any variable would do
        labels, whole = {}, plain[0]
    for number, term in enumerate(Term.list_subtrees(tree)):
        if term.size != whole.size:
            continue
        try:
            for found in _unify([(whole, term)], {}, steps):
                bound = {t.key for t in found.values() if t.label.startswith("V!")}
                are_leaves = all(t.size == 1 for t in found.values())
                if are_leaves and len(bound) == len(found):  # each has its own
                    names = {name: found[name].latex for name in labels.values()}
                    return PatternMatch(names, number == 0)
        except _TooManyStepsError:
            return None
    return None


_Found: TypeAlias = Mapping[str, Term]


class _TooManyStepsError(Exception):
    pass


class _Steps:
    def __init__(self) -> None:
        self._left = MAX_STEPS

    def take(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _TooManyStepsError


def _read_label(letter: str) -> str:
    tree = trees_from_latex(letter).opt
    assert tree is not None  # they are letters
    return Term.list_subtrees(tree)[0].label


def _unify(
    pairs: Sequence[tuple[Term, Term]], found: _Found, steps: _Steps
) -> Iterator[_Found]:
    """Yield what variables stand for so that all pairs are equal."""
    steps.take()
    if not pairs:
        yield found
        return
    (asked, term), *others = pairs
    if asked.variable is not None:
        known = found.get(asked.variable)
        if known is None:
            yield from _unify(others, {**found, asked.variable: term}, steps)
        elif known.key == term.key:
            yield from _unify(others, found, steps)
    elif not asked.has_variables:
        if asked.key == term.key:
            yield from _unify(others, found, steps)
    elif asked.label == term.label and len(asked.children) == len(term.children):
        if asked.is_unordered:
            yield from _unify_unordered(asked, term, others, found, steps)
        else:
            inner = list(zip(asked.children, term.children, strict=True))
            yield from _unify([*inner, *others], found, steps)


def _unify_unordered(
    asked: Term,
    term: Term,
    others: Sequence[tuple[Term, Term]],
    found: _Found,
    steps: _Steps,
) -> Iterator[_Found]:
    """Try the operands of a sum, a product, ... in every order that differs.

    Operands without variables have but one partner; then come those with the most
    symbols around their variables.
    """
    ground = Counter(c.key for c in asked.children if not c.has_variables)
    left: list[Term] = []
    for child in term.children:
        if ground[child.key] > 0:
            ground[child.key] -= 1
        else:
            left.append(child)
    if any(ground.values()):
        return
    open_ones = [c for c in asked.children if c.has_variables]
    open_ones.sort(key=lambda c: -c.size)

    def assign(place: int, rest: list[Term], known: _Found) -> Iterator[_Found]:
        if place == len(open_ones):
            yield from _unify(others, known, steps)
            return
        tried: set[str] = set()
        for number, child in enumerate(rest):
            if child.key in tried:
                continue
            tried.add(child.key)
            remaining = rest[:number] + rest[number + 1 :]
            for inner in _unify([(open_ones[place], child)], known, steps):
                yield from assign(place + 1, remaining, inner)

    yield from assign(0, left, found)


class Resemblance(NamedTuple):
    """How a formula resembles another one."""

    share: float
    """Similarity: 1 only for the same operator tree."""
    names: Mapping[str, str] | None = None
    """Variables that differ, by name, if the formula that was asked for is in the other
    one up to them; ``None``: it is not."""
    is_whole: bool = False
    """Whether it is all of the other one; else a part of it."""


def compare_trees(asked: FormulaTree | None, found: FormulaTree | None) -> Resemblance:
    r"""Compare two operator trees.

    The share is Dice's coefficient of their nodes and edges; variables count as equal
    for four fifths of it.

    >>> from mathamr_kedro.formula import trees_from_latex
    >>> trees = [trees_from_latex(latex).opt for latex in (r"\sqrt p", r"\sqrt n")]
    >>> compare_trees(*trees)
    Resemblance(share=0.92, names={'p': 'n'}, is_whole=True)
    """
    if asked is None or found is None:
        return Resemblance(0.0)
    mine, theirs = (Term.list_subtrees(tree)[0] for tree in (asked, found))
    if mine.key == theirs.key:
        return Resemblance(1.0, {}, is_whole=True)
    bags = [[Counter(_list_parts(t, n)) for n in (False, True)] for t in (mine, theirs)]
    plain, named = (_measure_dice(a, b) for a, b in zip(*bags, strict=True))
    share = min(_STRUCTURE * plain + (1 - _STRUCTURE) * named, 0.99)
    renamed = find_renaming(asked, found)
    if renamed is None:
        return Resemblance(share)
    names = {a: b for a, b in renamed.bindings.items() if a != b}
    return Resemblance(share, names, renamed.is_whole)


def _list_parts(term: Term, with_names: bool) -> Iterator[str]:
    """Yield nodes and edges; operands of ordered operators with their place."""
    stack = [term]
    while stack:
        parent = stack.pop()
        label = _name(parent, with_names)
        yield label
        for place, child in enumerate(parent.children):
            where = "" if parent.is_unordered else place
            yield f"{label} {where} {_name(child, with_names)}"
        stack += parent.children


def _name(term: Term, with_names: bool) -> str:
    return "V!" if term.label.startswith("V!") and not with_names else term.label


def _measure_dice(one: Counter[str], other: Counter[str]) -> float:
    return 2 * (one & other).total() / (one.total() + other.total())
