"""PENMAN text of math graphs, against the penman library."""

from __future__ import annotations

import re
from pathlib import Path

import penman
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from penman.models.amr import model as amr_model

from mathamr_kedro.amr.graphs import AMRGraph, Attribute, Edge
from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.graph.math_graph import MathGraph
from mathamr_kedro.graph.penman_graph import (
    format_label,
    format_math_graph,
    from_amr,
    read_label,
    read_math_graph,
)

SHOW = """(m / multi-sentence
  :snt1 (s / show-01
    :mode imperative
    :ARG0 (y / you)
    :ARG1 (f / FORMULA_0
      :opt (F0o0 / "O!interval(O-O)" :0 (F0o1 / V!𝑥) :1 (F0o2 / N!1))
      :slt (F0s0 / "(" :n (F0s1 / V!x))
      :ARG1-of (p / prove-01
        :ARG0 y)))
  :math (F1 / FORMULA_1))"""


def list_triples(graph: MathGraph) -> set[tuple[str, str, str]]:
    """What the penman library calls a graph: instances, edges and attributes."""
    names = [v or a for v, a in zip(graph.variables, graph.atoms, strict=True)]
    edges = {(names[s], f":{role}", names[t]) for s, role, t in graph.edges()}
    nodes = zip(graph.variables, graph.atoms, strict=True)
    return edges | {(v, ":instance", a) for v, a in nodes if v}


def test_text_comes_back_byte_by_byte() -> None:
    assert format_math_graph(read_math_graph(SHOW)) == SHOW


def test_the_penman_library_reads_the_same_graph() -> None:
    graph = penman.decode(SHOW, model=amr_model)
    assert set(graph.triples) == list_triples(read_math_graph(SHOW))
    assert graph.top == "m"


def test_a_node_is_defined_where_it_is_first_named() -> None:
    text = (
        "(s / show-01 :ARG0 (y / you :ARG0-of (p / prove-01 :ARG1 f)) :ARG1 (f / f-1))"
    )
    graph = read_math_graph(text)
    assert graph.atoms == ["show-01", "you", "prove-01", "f-1"]
    assert graph.lines == [
        (0, "ARG0", 1),
        (1, "ARG0-of", 2),
        (2, "ARG1", 3),
        (0, "ARG1", 3),
    ]
    assert set(penman.decode(text, model=amr_model).triples) == list_triples(graph)


def test_another_style_is_read_as_well() -> None:
    text = '(a/and~e.1 :op1 b\n:op2(b / "x y" :mod a) )'
    graph = read_math_graph(text)
    assert list_triples(graph) == {
        ("a", ":instance", "and"),
        ("b", ":instance", '"x y"'),
        ("a", ":op1", "b"),
        ("a", ":op2", "b"),
        ("b", ":mod", "a"),
    }


@pytest.mark.parametrize(
    "text",
    [
        "", "()", "(a)", "a", "(a / b", "(a / b))", "(a / b) (c / d)", "(a / b c)",
        "(a / b :c d))", "(a / b :c (d))", ":c (a / b)",
    ],
)  # fmt: skip
def test_what_is_no_graph_is_refused(text: str) -> None:
    with pytest.raises(GraphError):
        read_math_graph(text)


LABELS = st.text(min_size=1, max_size=6) | st.sampled_from(
    ["U!plus", "N!1", "V!𝑥", "(", ")", ":", "/", '"', "\\", "~1", "#", "%", "-", " "]
)


@settings(max_examples=500)
@given(LABELS)
def test_any_label_survives(label: str) -> None:
    atom = format_label(label)
    assert read_label(atom) == label
    text = f"(a / {atom} :b (c / {atom}))"
    assert read_math_graph(text).atoms == [atom, atom]
    assert penman.decode(text).instances()[1].target == atom


@st.composite
def draw_graphs(draw: st.DrawFn) -> MathGraph:
    """Draw a graph in text order: trees, re-entrancies, constants, inversions."""
    variables, atoms, lines = ["v0"], [format_label(draw(LABELS))], []
    path = [0]
    roles = st.sampled_from(["ARG0", "ARG1-of", "op1", "n", "0", "consist-of", "mod"])
    for _ in range(draw(st.integers(0, 12))):
        del path[draw(st.integers(1, len(path))) :]
        kind = draw(st.sampled_from(["node", "node", "constant", "again"]))
        role = draw(roles)
        if kind == "again":
            named = [n for n, v in enumerate(variables) if v]
            lines.append((path[-1], role, draw(st.sampled_from(named))))
            continue
        number = len(atoms)
        lines.append((path[-1], role, number))
        variables.append(f"v{number}" if kind == "node" else "")
        atoms.append(format_label(draw(LABELS.filter(lambda t: t[:1] != "v"))))
        if kind == "node":
            path.append(number)
    return MathGraph(variables, atoms, lines)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(draw_graphs())
def test_any_graph_comes_back(graph: MathGraph) -> None:
    text = format_math_graph(graph)
    assert read_math_graph(text) == graph
    read = penman.decode(text, model=amr_model)
    # The library turns an inverted attribute round; ours stays as it is written.
    if not any(
        role == "ARG1-of" and not graph.variables[target]
        for _, role, target in graph.lines
    ):
        assert set(read.triples) == list_triples(graph)


def to_amr(graph: MathGraph) -> AMRGraph:
    """Nodes, edges and attributes by variable."""
    variables, atoms = graph.variables, graph.atoms
    named = {v: atom for v, atom in zip(variables, atoms, strict=True) if v}
    edges, attributes = [], []
    for source, role, target in graph.edges():
        if variables[target]:
            edges.append(Edge(variables[source], role, variables[target]))
        else:
            attributes.append(Attribute(variables[source], role, atoms[target]))
    return AMRGraph(variables[0], named, edges, attributes)


def test_amr_graphs_are_laid_out_and_given_back() -> None:
    graph = read_math_graph(SHOW)
    amr = to_amr(graph)
    assert amr.nodes["F0o0"] == '"O!interval(O-O)"'
    assert list_triples(from_amr(amr)) == list_triples(graph)


def test_a_string_of_another_tool_is_taken_as_it_is() -> None:
    assert read_label(r'"a\qb"') == r"a\qb"
    assert read_label("f%28x%29") == "f(x)"


@pytest.mark.shared
def test_real_amr_graphs_are_read_as_the_library_reads_them(shared: Path) -> None:
    text = (shared / "collection/amr/lpp.txt").read_text(encoding="utf-8")
    blocks = [re.sub(r"(?m)^#.*\n", "", block) for block in text.split("\n\n")]
    graphs = [block for block in blocks if block.startswith("(")]
    assert len(graphs) == 1562
    for block in graphs:
        graph = read_math_graph(block)
        read = penman.decode(block, model=amr_model)
        assert set(read.triples) == list_triples(graph)
        assert read_math_graph(format_math_graph(graph)) == graph
