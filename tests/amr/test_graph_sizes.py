from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.amr.graph_sizes import measure_graph
from mathamr_kedro.amr.graphs import AMRGraph, Attribute, Edge
from mathamr_kedro.amr.penman_io import format_graph, format_string, format_symbol

texts = st.text(min_size=1, max_size=6)
roles = st.sampled_from(["ARG0", "ARG1", "mod", "consist-of", "snt1", "snt2"])


def turn(edge: Edge) -> Edge:
    return Edge(edge.target, edge.role, edge.source)


@st.composite
def graphs(draw):
    concepts = draw(st.lists(texts, min_size=1, max_size=8))
    quoted = draw(st.lists(st.booleans(), min_size=8, max_size=8))
    nodes = {
        f"v{n}": format_string(c) if quoted[n] else format_symbol(c)
        for n, c in enumerate(concepts)
    }
    names = list(nodes)
    edges = [
        Edge(draw(st.sampled_from(names[:n])), draw(roles), names[n])
        for n in range(1, len(names))
    ]
    if draw(st.booleans()):  # some stand the other way round, as ARG0-of
        edges = [e if e.role == "consist-of" else turn(e) for e in edges]
    edges.append(Edge(names[-1], "ARG2", names[0]))
    attributes = [
        Attribute(draw(st.sampled_from(names)), "op1", format_string(text))
        for text in draw(st.lists(texts, max_size=3))
    ]
    edges = [e for e in dict.fromkeys(edges) if e.source != e.target]
    return AMRGraph("v0", nodes, edges, attributes)


@given(graphs())
def test_counting_lines_agrees_with_the_graph(graph):
    size = measure_graph(format_graph(graph))
    assert sorted(size.concepts) == sorted(graph.nodes.values())
    assert sorted(size.roles) == sorted(edge.role for edge in graph.edges)
    assert size.attributes == len(graph.attributes)


def test_sentences_are_counted():
    text = "(m / multi-sentence\n  :snt1 (a / and)\n  :snt2 (o / or\n    :mod a))"
    assert measure_graph(text).sentences == 2
