from __future__ import annotations

import penman
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.amr.graphs import AMRGraph, Attribute, Edge
from mathamr_kedro.amr.penman_io import (
    format_graph,
    format_string,
    format_symbol,
    read_graph,
    read_string,
    read_symbol,
)
from mathamr_kedro.base.errors import GraphError

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=20)


@given(ANY_TEXT)
def test_symbols_keep_any_character(text):
    symbol = format_symbol(text)
    assert read_symbol(symbol) == text
    assert read_graph(f"(x / {symbol} :mod (y / {symbol}))").nodes == {
        "x": symbol,
        "y": symbol,
    }


@given(ANY_TEXT)
def test_strings_keep_any_character(text):
    atom = format_string(text)
    assert read_string(atom) == text
    assert read_graph(f"(x / name :op1 {atom})").attributes == (
        Attribute("x", "op1", atom),
    )


def test_formatting_draws_the_graph():
    nodes = {"s": "show-01", "y": "you", "h": "hold-01", "f": "FORMULA_0"}
    edges = [
        Edge("s", "ARG0", "y"),
        Edge("s", "ARG1", "f"),
        Edge("h", "ARG1", "f"),
        Edge("h", "ARG2", "y"),
    ]
    graph = AMRGraph("s", nodes, edges, [Attribute("s", "mode", "imperative")])
    assert format_graph(graph) == (
        "(s / show-01\n"
        "  :mode imperative\n"
        "  :ARG0 (y / you\n"
        "    :ARG2-of (h / hold-01\n"
        "      :ARG1 f))\n"
        "  :ARG1 (f / FORMULA_0))"
    )


def test_roles_that_end_in_of_by_nature_survive_inversion():
    graph = AMRGraph("a", {"a": "set", "b": "team"}, [Edge("b", "consist-of", "a")])
    text = format_graph(graph, indent=None)
    assert text == "(a / set :consist-of-of (b / team))"
    assert read_graph(text).edges == (Edge("b", "consist-of", "a"),)


@st.composite
def connected_graphs(draw):
    size = draw(st.integers(1, 12))
    variables = [f"v{n}" for n in range(size)]
    edges = []
    for n in range(1, size):
        ends = [variables[draw(st.integers(0, n - 1))], variables[n]]
        if draw(st.booleans()):
            ends.reverse()
        edges.append(Edge(ends[0], f"ARG{draw(st.integers(0, 3))}", ends[1]))
    for _ in range(draw(st.integers(0, 4))):
        ends = draw(st.tuples(st.sampled_from(variables), st.sampled_from(variables)))
        edges.append(Edge(ends[0], "mod", ends[1]))
    edges = [e for e in dict.fromkeys(edges) if e.source != e.target]
    nodes = {v: format_symbol(draw(ANY_TEXT)) for v in variables}
    values = [
        Attribute(v, "op1", format_string(draw(ANY_TEXT))) for v in variables[::3]
    ]
    return AMRGraph(draw(st.sampled_from(variables)), nodes, edges, values)


@given(connected_graphs(), st.sampled_from([None, 2, 6]))
def test_reading_what_was_written_gives_the_graph_back(graph, indent):
    read = read_graph(format_graph(graph, indent))
    assert read.top == graph.top
    assert read.nodes == graph.nodes
    assert set(read.edges) == set(graph.edges)
    assert set(read.attributes) == set(graph.attributes)


def test_a_deep_graph_is_written_without_recursion():
    nodes = {f"v{n}": "set" for n in range(3000)}
    edges = [Edge(f"v{n}", "mod", f"v{n + 1}") for n in range(2999)]
    text = format_graph(AMRGraph("v0", nodes, edges), indent=None)
    assert text.count("(") == text.count(")") == 3000


def test_what_does_not_hang_together_is_refused():
    with pytest.raises(GraphError, match="'b' / 'map'"):
        format_graph(AMRGraph("a", {"a": "set", "b": "map"}, []))
    with pytest.raises(GraphError, match="'z'"):
        format_graph(AMRGraph("a", {"a": "set"}, [Edge("a", "mod", "z")]))


@pytest.mark.parametrize("text", ["", "(a / ", "a / b", "(a :ARG0 (b / c))"])
def test_what_is_no_graph_is_refused(text):
    with pytest.raises(GraphError):
        read_graph(text)


def test_penman_agrees_on_the_triples():
    text = "(p / prove-01 :ARG0 (w / we) :ARG1 (f / FORMULA_0) :polarity -)"
    ours = read_graph(text)
    theirs = penman.decode(text)
    assert {(s, f":{r}", t) for s, r, t in [*ours.edges, *ours.attributes]} == {
        (s, r, t) for s, r, t in theirs.triples if r != ":instance"
    }
