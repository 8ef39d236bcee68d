r"""AMR graphs as PENMAN text, in a lossless way.

Any character survives. In symbols (concepts), characters that PENMAN would misread
become percent escapes of their UTF-8 bytes; in strings (parts of names) JSON escapes
are used:

>>> format_symbol("f(x):y")
'f%28x%29%3Ay'
>>> read_symbol("f%28x%29%3Ay")
'f(x):y'
>>> print(format_string('a "b"\n'))
"a \"b\"\n"
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mathamr_kedro.amr.graphs import AMRGraph, Attribute, Edge
from mathamr_kedro.base.errors import GraphError

# penman warns of every duplicate triple it reads; a graph with one is still a graph.
logging.getLogger("penman").setLevel(logging.CRITICAL)

_LINE_BREAKS = "\x0b\x0c\x1c-\x1e\x85\u2028\u2029"
_UNSAFE_IN_SYMBOL = re.compile(r"""[\s"'()/:~#%\\\x00-\x1f\x7f-\x9f\ud800-\udfff]""")
_UNSAFE_IN_STRING = re.compile(f"[{_LINE_BREAKS}\x7f-\x9f\ud800-\udfff]")
_ESCAPES = re.compile(r"(?:%[0-9A-F]{2})+")
_EMPTY = "%"


def format_symbol(text: str) -> str:
    """Return ``text`` as a PENMAN symbol; :func:`read_symbol` is the inverse."""
    if not text:
        return _EMPTY
    return _UNSAFE_IN_SYMBOL.sub(_percent, text)


def _percent(match: re.Match[str]) -> str:
    encoded = match.group().encode("utf-8", "surrogatepass")
    return "".join(f"%{byte:02X}" for byte in encoded)


def read_symbol(symbol: str) -> str:
    """Undo :func:`format_symbol`."""
    if symbol == _EMPTY:
        return ""
    return _ESCAPES.sub(
        lambda match: bytes.fromhex(match.group().replace("%", "")).decode(
            "utf-8", "surrogatepass"
        ),
        symbol,
    )


def format_string(text: str) -> str:
    """Return ``text`` as a quoted PENMAN string; :func:`read_string` is the inverse."""
    quoted = json.dumps(text, ensure_ascii=False)
    return _UNSAFE_IN_STRING.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)


def read_string(atom: str) -> str:
    """Undo :func:`format_string`; an unquoted constant is returned as it is."""
    return json.loads(atom) if atom.startswith('"') else atom


def format_graph(graph: AMRGraph, indent: int | None = 2) -> str:
    """Write ``graph`` as PENMAN.

    Args:
        graph: a connected graph.
        indent: blanks per level; ``None`` writes one line.

    Raises:
        GraphError: a node is not connected with the top, or an edge names no node.

    >>> nodes = {"s": "show-01", "f": "FORMULA_0"}
    >>> print(format_graph(AMRGraph("s", nodes, [Edge("s", "ARG1", "f")])))
    (s / show-01
      :ARG1 (f / FORMULA_0))
    """
    pieces: list[str] = []
    is_open = 0
    for depth, role, variable, atom in lay_out_text(graph):
        pieces.append(")" * (is_open - depth))
        if role:
            pieces.append(" " if indent is None else "\n" + " " * (indent * depth))
            pieces.append(f":{role} ")
        pieces.append(f"({variable} / {atom}" if variable else atom)
        is_open = depth + bool(variable)
    pieces.append(")" * is_open)
    return "".join(pieces)


class TextPiece(NamedTuple):
    """A role in a PENMAN text, and what it leads to."""

    depth: int
    """Brackets that are open around it."""
    role: str
    """Without colon; empty for the root."""
    variable: str
    """Of the node that is defined here; empty for a constant, and for a node that is
    defined elsewhere."""
    atom: str
    """Concept of the node that is defined here, a constant, or the other variable."""


def lay_out_text(graph: AMRGraph) -> Iterator[TextPiece]:
    """Yield the pieces of the text of a graph, in its order.

    Raises:
        GraphError: a node is not connected with the top, or an edge names no node.
    """
    lines_of = _lay_out(graph)
    yield TextPiece(0, "", graph.top, graph.nodes[graph.top])
    # An explicit stack: documents can nest deeper than Python's recursion limit.
    stack = [iter(lines_of[graph.top])]
    while stack:
        line = next(stack[-1], None)
        if line is None:
            stack.pop()
            continue
        role, target, is_defined_here = line
        if is_defined_here:
            yield TextPiece(len(stack), role, target, graph.nodes[target])
            stack.append(iter(lines_of[target]))
        else:
            yield TextPiece(len(stack), role, "", target)


def _lay_out(graph: AMRGraph) -> Mapping[str, Sequence[tuple[str, str, bool]]]:
    """Choose where each node is defined: per node, its lines (role, target, defined).

    Edges are followed forward as far as possible; a node that is no target is attached
    by an inverted role to the first node it points to.
    """
    outgoing, incoming = _index_edges(graph)
    lines: dict[str, list[tuple[str, str, bool]]] = {v: [] for v in graph.nodes}
    for source, role, value in graph.attributes:
        lines[source].append((role, value, False))
    written: set[int] = set()
    order: list[str] = []
    reached: set[str] = set()

    def follow(start: str) -> None:
        reached.add(start)
        order.append(start)
        stack = [(start, iter(outgoing[start]))]
        while stack:
            variable, edges = stack[-1]
            number = next(edges, None)
            if number is None:
                stack.pop()
                continue
            if number in written:
                continue
            _, role, target = graph.edges[number]
            lines[variable].append((role, target, target not in reached))
            if target not in reached:
                reached.add(target)
                order.append(target)
                stack.append((target, iter(outgoing[target])))

    follow(graph.top)
    for variable in order:  # grows while it is read
        for number in incoming[variable]:
            source, role, _ = graph.edges[number]
            if source not in reached:
                written.add(number)
                lines[variable].append((f"{role}-of", source, True))
                follow(source)
    _require_all(graph, reached)
    return lines


def _require_all(graph: AMRGraph, reached: set[str]) -> None:
    for variable, concept in graph.nodes.items():
        if variable not in reached:
            raise GraphError(
                f"Expected a connected graph (got node {variable!r} / {concept!r} "
                f"that is not connected with the top {graph.top!r})"
            )


def _index_edges(graph: AMRGraph) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Return the numbers of the edges that leave and that enter each node."""
    outgoing: dict[str, list[int]] = {v: [] for v in graph.nodes}
    incoming: dict[str, list[int]] = {v: [] for v in graph.nodes}
    try:
        for number, (source, _, target) in enumerate(graph.edges):
            outgoing[source].append(number)
            incoming[target].append(number)
        outgoing[graph.top]
    except KeyError as exc:
        raise GraphError(
            f"Expected edges and top to name nodes (got {exc.args[0]!r}, not one of "
            f"{len(graph.nodes)} nodes)"
        ) from exc
    return outgoing, incoming


def read_graph(text: str) -> AMRGraph:
    """Read one PENMAN graph.

    Raises:
        GraphError: the text is not PENMAN, or a variable has no concept.

    >>> graph = read_graph("(f / FORMULA_0 :ARG1-of (p / prove-01 :polarity -))")
    >>> graph.edges
    (Edge(source='p', role='ARG1', target='f'),)
    >>> graph.attributes
    (Attribute(source='p', role='polarity', value='-'),)
    """
    # penman is not installed on every machine that imports this package
    import penman  # noqa: PLC0415
    from penman.models.amr import model as amr_model  # noqa: PLC0415

    try:
        read = penman.decode(text, model=amr_model)
    except penman.PenmanError as exc:
        raise GraphError(
            f"Expected one PENMAN graph (got {text[:80]!r}: {exc})"
        ) from exc
    nodes: dict[str, str] = {}
    for source, _, concept in read.instances():
        if concept is None:
            raise GraphError(f"Expected a concept for {source!r} (in {text[:80]!r})")
        nodes[source] = concept
    if read.top not in nodes:
        raise GraphError(f"Expected a graph with a root (got {text[:80]!r})")
    return AMRGraph(
        top=read.top,
        nodes=nodes,
        edges=tuple(Edge(s, r[1:], t) for s, r, t in read.edges()),
        attributes=tuple(
            Attribute(s, r[1:], str(t))
            for s, r, t in read.attributes()
            if t is not None
        ),
    )
