"""Tuples ("pairs"): a tree as a bag of two symbols and the path between them.

```
x^2 + y, window 1, eob      SLT  V!x  N!2  a  -      OPT  U!plus  O!SUP  0  -
                                 N!2  0!   n  a           O!SUP   V!x    0  0
                                 V!x  +    n  -           V!x     0!     0  00
                                 +    V!y  n  n           ...
                                 V!y  0!   n  nn
```

A tuple is (first label, second label, path from first to second, path from the root to
the first). ``0!`` closes a baseline (SLT) or a leaf (OPT) when ``eob`` is on. Paths of
more than five edges are written run by run: ``nnnnnna`` is ``6n1a``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TypeAlias

from mathamr_kedro.formula.node import SLT_TUPLE_EDGES, Node

END = "0!"
"""Second symbol of a tuple that closes a baseline or a leaf."""

MAX_PLAIN_PATH = 5
"""Edges of a path that is written edge by edge; longer ones run by run."""

MAX_CHARACTERS = 200
"""Characters of a tuple that the published indexes hold; longer ones are skipped."""
_SLT_PUSH_ORDER = "nabou" + "cdwe"

Links: TypeAlias = Iterable[tuple[str, Node]]


class SymbolPair(NamedTuple):
    """Two labels of a tree and their relative position."""

    first: str
    second: str
    path: str
    location: str


class _Path(NamedTuple):
    """A path kept run by run, so that long baselines cost constant work per edge."""

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


def list_tuples(root: Node, kind: str, window: int, eob: bool) -> list[SymbolPair]:
    """Return the tuples of a tree in the reference order.

    Args:
        root: of the tree; in an Operator Tree edges under ``U!`` are all ``0``.
        kind: ``"slt"`` or ``"opt"``.
        window: length of the longest path between the two symbols; 0 for no limit.
        eob: whether to close baselines (SLT) and leaves (OPT).
    """
    if kind == "slt":
        return list(_walk(root, window, eob, _slt_links, _slt_push_links, _slt_end))
    return list(_walk(root, window, eob, _opt_links, _opt_links, _opt_end))


def _slt_links(node: Node) -> Links:
    edges = node.edges
    return [(edge, edges[edge]) for edge in SLT_TUPLE_EDGES if edge in edges]


def _slt_push_links(node: Node) -> Links:
    edges = node.edges
    return [(edge, edges[edge]) for edge in _SLT_PUSH_ORDER if edge in edges]


def _opt_links(node: Node) -> Links:
    if node.label.startswith("U!"):
        return [("0", child) for child in node.edges.values()]
    return list(node.edges.items())


def _slt_end(node: Node) -> str | None:
    return None if "n" in node.edges else "n"


def _opt_end(node: Node) -> str | None:
    return None if node.edges else "0"


def _walk(
    root: Node,
    window: int,
    eob: bool,
    links: Callable[[Node], Links],
    push_links: Callable[[Node], Links],
    end: Callable[[Node], str | None],
) -> Iterator[SymbolPair]:
    stack: list[tuple[Node, _Path, Iterator[tuple[str, Node]]]]
    stack = [(root, _ROOT_PATH, iter(links(root)))]
    while stack:
        node, place, waiting = stack[-1]
        step = next(waiting, None)
        if step is None:
            stack.pop()
            last = end(node) if eob else None
            if last is not None:
                yield from _keep_short(node.label, END, last, place.write())
            continue
        edge, child = step
        location = place.write()
        if window == 1:
            yield from _keep_short(node.label, child.label, edge, location)
        else:
            for label, path in _descend(edge, child, window, push_links):
                yield from _keep_short(node.label, label, path, location)
        stack.append((child, place.extend(edge), iter(links(child))))


def _descend(
    edge: str, child: Node, window: int, push_links: Callable[[Node], Links]
) -> Iterator[tuple[str, str]]:
    """Yield the child and its descendants at most ``window`` edges away (0: all)."""
    stack = [(child, _ROOT_PATH.extend(edge))]
    while stack:
        node, path = stack.pop()
        yield node.label, path.write()
        if not window or path.length < window:
            stack += [(below, path.extend(name)) for name, below in push_links(node)]


def _keep_short(
    first: str, second: str, path: str, location: str
) -> tuple[SymbolPair, ...]:
    """Return the tuple, unless its text is too long for the published indexes."""
    length = len(first) + len(second) + len(path) + len(location) + 3
    if length > MAX_CHARACTERS:
        return ()
    return (SymbolPair(first, second, path, location),)
