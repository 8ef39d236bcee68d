r"""PENMAN text of math graphs, read and written at the speed of a stage.

Labels of formulas may hold any character. One that PENMAN could misread is quoted, so
that every tool reads it as one piece and it comes back as it was:

>>> [format_label(label) for label in ("U!plus", "O!interval(O-O)", ":", 'T!"a"')]
['U!plus', '"O!interval(O-O)"', '":"', '"T!\\"a\\""']
>>> read_label('"O!interval(O-O)"')
'O!interval(O-O)'

Each tree of a formula is on one line: a layout tree is a chain, and a step to
the right for each of its symbols would make most of the text blanks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import lru_cache

from mathamr_kedro.amr import (
    AMRGraph,
    Attribute,
    Edge,
    format_string,
    lay_out_text,
    read_graph,
    read_symbol,
)
from mathamr_kedro.amr import format_graph as format_amr
from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.graph.math_graph import Line, MathGraph, read_placeholder

_SYMBOL = r'[^\s"()/:~]++'
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
_ATOM = rf"{_SYMBOL}|{_STRING.pattern}"
# Possessive quantifiers (++, *+) never go back: damaged text fails in linear time.
# A role, a variable, a concept or constant or name, the brackets that close behind it.
_PIECE = re.compile(
    rf"(?::({_SYMBOL})\s++)?+(?:\(({_SYMBOL})\s*+/\s*+)?+({_ATOM})\s*+(\)*+)\s*+"
)
_SAFE_LABEL = re.compile(r"""[^\s"'()/:~#%\\\x00-\x1f\x7f-\x9f\ud800-\udfff]+""")
_INDENT = 2


@lru_cache(maxsize=200_000)
def format_label(label: str) -> str:
    """Return a label of a formula as a PENMAN atom; :func:`read_label` undoes it."""
    if _SAFE_LABEL.fullmatch(label) and label.isprintable():
        return label
    return format_string(label)


def read_label(atom: str) -> str:
    """Return the label of an atom: what was quoted or escaped, as it was."""
    if atom.startswith('"'):
        try:
            return json.loads(atom)
        except ValueError:  # quoted by a tool with escapes of its own
            return atom[1:-1]
    return read_symbol(atom) if "%" in atom else atom


def read_math_graph(text: str) -> MathGraph:
    """Read one graph.

    Text in another style than ours (alignments, blanks elsewhere) is read by the
    ``penman`` library.

    Raises:
        GraphError: the text is no PENMAN graph.

    >>> graph = read_math_graph("(f / FORMULA_0 :ARG1-of (p / prove-01 :polarity -))")
    >>> graph.atoms, graph.lines
    (['FORMULA_0', 'prove-01', '-'], [(0, 'ARG1-of', 1), (1, 'polarity', 2)])
    """
    graph = _read_pieces(text.strip())
    if graph is None and _is_one_bracket(text):
        graph = _read_pieces(format_amr(read_graph(text)))
    if graph is None:
        raise GraphError(f"Expected a PENMAN graph (got {text[:80]!r})")
    return graph


def _is_one_bracket(text: str) -> bool:
    """Tell whether one pair of brackets is around everything."""
    depth, closed = 0, 0
    for bracket in re.sub(r"[^()]+", "", _STRING.sub("", text)):
        depth += 1 if bracket == "(" else -1
        closed += depth == 0
        if depth < 0:
            return False
    return depth == 0 and closed == 1


def _read_pieces(text: str) -> MathGraph | None:
    # Text between the pieces (there must be none), then the four groups of each.
    pieces = _PIECE.split(text)
    gaps, roles, names, atoms, closings = (pieces[column::5] for column in range(5))
    if any(gaps) or not any(names[:1]) or roles[0] is not None or not all(roles[1:]):
        return None
    return _join_pieces(roles, names, atoms, closings)


def _join_pieces(
    roles: Sequence[str],
    names: Sequence[str | None],
    atoms: Sequence[str],
    closings: Sequence[str],
) -> MathGraph | None:
    found = _find_holders(names, closings)
    if found is None:
        return None
    holders, ends = found
    known = set(names)
    unnamed = names.count(None)
    # ``known`` holds None once, however many pieces have no name.
    if len(known) - bool(unnamed) != len(names) - unnamed:
        return None  # defined twice
    variables = [name or "" for name in names]
    if unnamed and any(
        not name and atom in known for name, atom in zip(names, atoms, strict=True)
    ):
        return _resolve_names(variables, atoms, roles, holders)
    # No piece refers to another one: pieces are nodes, and each line defines the next.
    columns = holders[1:], roles[1:], range(1, len(names))
    return MathGraph.of_columns(variables, atoms, columns, holders, ends)


def _find_holders(
    names: Sequence[str | None], closings: Sequence[str]
) -> tuple[list[int], list[int]] | None:
    """Return where the brackets of pieces lead.

    Returns:
        The piece in whose brackets each piece is, -1 for the first; and the piece
        behind the last one in the brackets of each.
    """
    holders: list[int] = []
    ends = list(range(1, len(names) + 1))
    path = [-1]
    put, push, pop = holders.append, path.append, path.pop
    number = 0
    try:
        for name, closing in zip(names, closings, strict=True):
            put(path[-1])
            if name:
                push(number)
            number += 1
            for _ in closing:
                ends[pop()] = number
    except IndexError:  # more brackets closed than opened
        return None
    is_whole = path == [-1] and holders.count(-1) == 1
    return (holders, ends) if is_whole else None


def _resolve_names(
    variables: Sequence[str],
    atoms: Sequence[str],
    roles: Sequence[str],
    holders: Sequence[int],
) -> MathGraph:
    """Return the graph of pieces some of which name nodes instead of defining them.

    A node is defined where it is first named, so what is in its brackets may move.
    """
    defined = {name: piece for piece, name in enumerate(variables) if name}
    held: list[list[int]] = [[] for _ in atoms]
    for piece, holder in enumerate(holders[1:], start=1):
        held[holder].append(piece)
    numbers = {0: 0}
    lines: list[Line] = []
    path = [(0, iter(held[0]))]
    while path:
        holder, pieces = path[-1]
        piece = next(pieces, -1)
        if piece < 0:
            path.pop()
            continue
        target = piece if variables[piece] else defined.get(atoms[piece], piece)
        known = len(numbers)
        lines.append((holder, roles[piece], numbers.setdefault(target, len(numbers))))
        if len(numbers) > known:
            path.append((numbers[target], iter(held[target])))
    return MathGraph(
        [variables[piece] for piece in numbers],
        [atoms[piece] for piece in numbers],
        lines,
    )


def format_math_graph(graph: MathGraph) -> str:
    """Write a graph as PENMAN text, two blanks a level, trees on one line.

    >>> print(format_math_graph(read_math_graph(
    ...     "(e / even-01 :ARG1 (f / FORMULA_0 :opt (o / U!plus :0 (p / V!x))))")))
    (e / even-01
      :ARG1 (f / FORMULA_0
        :opt (o / U!plus :0 (p / V!x))))
    """
    variables, atoms = graph.variables, graph.atoms
    inline = bytearray(len(atoms))
    for part in graph.formulas:
        for tree in (part.opt, part.slt):
            inline[tree.start : tree.stop] = b"\x01" * len(tree)
    pieces = [f"({variables[0]} / {atoms[0]}"]
    open_nodes = [0]
    defined = 1
    for holder, role, target in graph.lines:
        while open_nodes[-1] != holder:
            open_nodes.pop()
            pieces.append(")")
        if inline[holder]:
            pieces.append(f" :{role} ")
        else:
            pieces.append("\n" + " " * (_INDENT * len(open_nodes)) + f":{role} ")
        if target < defined:
            pieces.append(variables[target])
            continue
        defined += 1
        if variables[target]:
            pieces.append(f"({variables[target]} / {atoms[target]}")
            open_nodes.append(target)
        else:
            pieces.append(atoms[target])
    pieces.append(")" * len(open_nodes))
    return "".join(pieces)


def from_amr(graph: AMRGraph) -> MathGraph:
    """Lay out nodes, edges and attributes as its text would have them.

    Raises:
        GraphError: the graph is not connected, or names a node twice.
    """
    depths, roles, variables, atoms = zip(*lay_out_text(graph), strict=True)
    ends = [depth + bool(name) for depth, name in zip(depths, variables, strict=True)]
    closings = [")" * (e - d) for e, d in zip(ends, (*depths[1:], 0), strict=True)]
    names = [name or None for name in variables]
    found = _join_pieces(roles, names, atoms, closings)
    if found is None:
        raise GraphError(f"Expected an AMR graph (got {format_amr(graph)[:80]!r})")
    return found


def unify_formulas(amr: MathGraph) -> MathGraph:
    """Give each placeholder one node, if a parser made two or a constant of it.

    ```
    (a / and :op1 (f / FORMULA_0) :op2 (g / FORMULA_0))    two nodes
    (a / and :op1 (f / FORMULA_0) :op2 f)                  a re-entrancy
    ```
    """
    places: dict[int, list[int]] = {}
    for node, atom in enumerate(amr.atoms):
        if "FORMULA_" in atom:
            number = read_placeholder(atom)
            if number is not None:
                places.setdefault(number, []).append(node)
    if all(len(p) == 1 and amr.variables[p[0]] for p in places.values()):
        return amr
    return from_amr(_join_nodes(amr, list(places.values())))


def _join_nodes(amr: MathGraph, groups: Sequence[Sequence[int]]) -> AMRGraph:
    taken = {v or a for v, a in zip(amr.variables, amr.atoms, strict=True)}
    names = list(amr.variables)
    atoms = list(amr.atoms)
    for group in groups:
        number = read_placeholder(atoms[group[0]])
        name = next((names[node] for node in group if names[node]), "")
        if not name:
            name = f"f{number}"
            while name in taken:
                name += "f"
        for node in group:
            names[node], atoms[node] = name, f"FORMULA_{number}"
    nodes = {v: atom for v, atom in zip(names, atoms, strict=True) if v}
    edges = [(names[s], role, t) for s, role, t in amr.edges()]
    joined = [Edge(s, role, names[t]) for s, role, t in edges if names[t]]
    return AMRGraph(
        names[0],
        nodes,
        [edge for edge in dict.fromkeys(joined) if edge.source != edge.target],
        [Attribute(s, role, atoms[t]) for s, role, t in edges if not names[t]],
    )
