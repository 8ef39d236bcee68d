"""Formula trees, the common result of all sources (MathML, LaTeX).

>>> tree = FormulaTree.from_string("[V!x[+[V!y]],a[N!2]]")
>>> tree.kind, tree.size, tree.depth
('slt', 4, 3)
>>> tree.nodes
('V!x', '+', 'V!y', 'N!2')
>>> tree.edges
((0, 'n', 1), (1, 'n', 2), (0, 'a', 3))
>>> tree.to_string()
'[V!x[+[V!y]],a[N!2]]'

Tuples ("pairs") are a tree as a bag of two symbols and the path between them::

    x^2 + y, window 1           SLT  V!x  N!2  a  -      OPT  U!plus  O!SUP  0  -
                                     N!2  0!   n  a           O!SUP   V!x    0  0
                                     V!x  +    n  -           V!x     0!     0  00
                                     +    V!y  n  n           ...
                                     V!y  0!   n  nn

A tuple is (first label, second label, path from first to second, path from the root to
the first). ``0!`` closes a baseline (SLT) or a leaf (OPT). Paths of
more than five edges are written run by run: ``nnnnnna`` is ``6n1a``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from mathamr_kedro.base.errors import FormulaError, suggest
from mathamr_kedro.formula.node import (
    BLANK,
    ERROR,
    SLT_TUPLE_EDGES,
    Node,
    format_bracket_string,
    list_links,
    parse_bracket_string,
)

END = "0!"
"""Second symbol of a tuple at the end of a baseline or at a leaf."""

MAX_PLAIN_PATH = 5
"""Edges of a path that is written edge by edge; longer ones run by run."""

MAX_CHARACTERS = 200
"""Characters of a tuple that the published indexes hold; longer ones are skipped."""

TreeKind: TypeAlias = Literal["slt", "opt"]
Edge: TypeAlias = tuple[int, str, int]
"""Index of the parent in ``nodes``, edge label, index of the child."""

_KINDS = ("slt", "opt")


class SymbolPair(NamedTuple):
    """Two labels of a tree and their relative position."""

    first: str
    second: str
    path: str
    location: str


class _Path(NamedTuple):
    """A path stored as runs, so that long baselines cost constant work per edge."""

    raw: str  # the plain path while it is short, then empty
    done: str  # the runs before the last one
    edge: str  # the last run
    run: int
    length: int

    def extend(self, edge: str) -> _Path:
        raw = self.raw + edge if self.length < MAX_PLAIN_PATH else ""
        if edge == self.edge:
            return _Path(raw, self.done, edge, self.run + 1, self.length + 1)
        done = f"{self.done}{self.run}{self.edge}" if self.run else ""
        return _Path(raw, done, edge, 1, self.length + 1)

    def write(self) -> str:
        if self.length <= MAX_PLAIN_PATH:
            return self.raw or "-"
        return f"{self.done}{self.run}{self.edge}"


_ROOT_PATH = _Path("", "", "", 0, 0)


def list_tuples(root: Node, kind: str, window: int) -> Iterator[SymbolPair]:
    """Yield the tuples of a tree in the reference order."""
    start = iter(list_links(root, kind, SLT_TUPLE_EDGES))
    stack: list[tuple[Node, _Path, Iterator[tuple[str, Node]]]]
    stack = [(root, _ROOT_PATH, start)]
    while stack:
        node, place, waiting = stack[-1]
        step = next(waiting, None)
        if step is None:
            stack.pop()
            is_last = "n" not in node.edges if kind == "slt" else not node.edges
            if is_last:
                edge = "n" if kind == "slt" else "0"
                yield from _keep_short(node.label, END, edge, place.write())
            continue
        edge, child = step
        location = place.write()
        if window == 1:
            yield from _keep_short(node.label, child.label, edge, location)
        else:
            for label, path in _descend(edge, child, window, kind):
                yield from _keep_short(node.label, label, path, location)
        links = iter(list_links(child, kind, SLT_TUPLE_EDGES))
        stack.append((child, place.extend(edge), links))


def _descend(
    edge: str, child: Node, window: int, kind: str
) -> Iterator[tuple[str, str]]:
    """Yield the child and its descendants at most ``window`` edges away (0: all)."""
    stack = [(child, _ROOT_PATH.extend(edge))]
    while stack:
        node, path = stack.pop()
        yield node.label, path.write()
        if not window or path.length < window:
            links = list_links(node, kind)
            stack += [(below, path.extend(name)) for name, below in links]


def _keep_short(
    first: str, second: str, path: str, location: str
) -> tuple[SymbolPair, ...]:
    """Return the tuple, unless its text is too long for the published indexes."""
    length = len(first) + len(second) + len(path) + len(location) + 3
    if length > MAX_CHARACTERS:
        return ()
    return (SymbolPair(first, second, path, location),)


class FormulaTree:
    """A Symbol Layout Tree or an Operator Tree; immutable.

    Args:
        kind: ``"slt"`` or ``"opt"``.
        root: the left-most symbol (SLT) or the outermost operator (OPT); the tree owns
            the nodes; do not change them afterwards.
    """

    __slots__ = ("_edges", "_labels", "_text", "kind", "root")

    def __init__(self, kind: TreeKind, root: Node) -> None:
        self.kind = kind
        self.root = root
        self._text: str | None = None
        self._labels: tuple[str, ...] | None = None
        self._edges: tuple[Edge, ...] = ()

    @classmethod
    def from_string(cls, text: str, kind: str | None = None) -> FormulaTree:
        """Return the tree that a bracket string draws.

        Args:
            text: as :meth:`to_string` writes it.
            kind: ``"slt"`` or ``"opt"``; inferred from the edges if omitted (a tree of
                one node then counts as ``"slt"``).

        Raises:
            FormulaError: the text is not a bracket string, or the kind is unknown.
        """
        if kind is not None and kind not in _KINDS:
            raise FormulaError(
                f"Expected one of {list(_KINDS)} for kind (got {kind!r})"
                f"{suggest(str(kind), _KINDS)}"
            )
        root = parse_bracket_string(text)
        if kind is None:  # a tree of one node may be either
            kind = "opt" if "0" in root.edges else "slt"
        return cls(kind, root)  # type: ignore[arg-type]

    def to_string(self) -> str:
        """Return the bracket string, e.g. ``[V!x,a[N!2]]``."""
        if self._text is None:
            self._text = format_bracket_string(self.root, self.kind)
        return self._text

    @property
    def nodes(self) -> tuple[str, ...]:
        """The labels in preorder (children in the order of the bracket string)."""
        if self._labels is None:
            self._flatten()
        return self._labels  # type: ignore[return-value]

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges by child in preorder; below an unordered operator all are ``0``."""
        if self._labels is None:
            self._flatten()
        return self._edges

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    @property
    def depth(self) -> int:
        """Number of nodes on the longest path down from the root."""
        depths = [1] * self.size
        for parent, _, child in self.edges:  # parents come before their children
            depths[child] = depths[parent] + 1
        return max(depths)

    @property
    def is_blank(self) -> bool:
        """Whether nothing of it is visible, e.g. a blank or an unknown command."""
        return all(label in (BLANK, ERROR) for label in self.nodes)

    def tuples(self, window: int = 1) -> list[SymbolPair]:
        """Return the symbol pairs of the tree in the order of Tangent-S.

        Args:
            window: length of the longest path between two symbols; 0 for no limit.
        """
        if window < 0:
            raise FormulaError(f"Expected window >= 0 (got {window!r})")
        return list(list_tuples(self.root, self.kind, window))

    def _flatten(self) -> None:
        labels: list[str] = []
        edges: list[Edge] = []
        stack = [(-1, "", self.root)]
        while stack:
            parent, edge, node = stack.pop()
            if parent >= 0:
                edges.append((parent, edge, len(labels)))
            if node.edges:
                index = len(labels)
                links = reversed(list_links(node, self.kind))
                stack += [(index, name, child) for name, child in links]
            labels.append(node.label)
        self._labels = tuple(labels)
        self._edges = tuple(edges)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FormulaTree):
            return NotImplemented
        return self.kind == other.kind and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash((self.kind, self.to_string()))

    def __repr__(self) -> str:
        text = self.to_string()
        shown = text if len(text) <= 70 else text[:67] + "..."
        return f"FormulaTree({self.kind!r}, {shown!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        # As text: nested nodes would make the copier recurse once per symbol.
        return FormulaTree.from_string, (self.to_string(), self.kind)

    def __deepcopy__(self, memo: dict[int, Any]) -> FormulaTree:
        return self


class FormulaTrees(NamedTuple):
    """Both trees of one formula, and where reading them deviated from the rules."""

    slt: FormulaTree | None
    opt: FormulaTree | None
    problems: Mapping[str, int]
    """Deviations by reason, e.g. ``{"unknown_tag:ms": 2}``."""

    @property
    def is_whole(self) -> bool:
        """Whether both trees exist and something of them is visible."""
        trees = (self.slt, self.opt)
        return all(tree is not None and not tree.is_blank for tree in trees)

    @property
    def is_blank(self) -> bool:
        """Whether nothing of either tree is visible: there is nothing to search for."""
        return all(tree is None or tree.is_blank for tree in (self.slt, self.opt))

    def fill(self, other: FormulaTrees) -> FormulaTrees:
        """Return these trees, or those of another reading if they are empty."""
        return FormulaTrees(
            _prefer(self.slt, other.slt), _prefer(self.opt, other.opt), self.problems
        )


def _prefer(
    first: FormulaTree | None, second: FormulaTree | None
) -> FormulaTree | None:
    if second is None or (first is not None and not first.is_blank):
        return first
    return second if first is None or not second.is_blank else first
