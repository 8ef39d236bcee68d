import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.amr.graphs import AMRGraph, Attribute, Edge
from mathamr_kedro.amr.penman_io import format_graph, format_string, format_symbol
from mathamr_kedro.amr.report import report_parsing
from mathamr_kedro.amr.statistics import (
    GraphStatistics,
    check_account,
    describe_outcomes,
    measure_graph,
)
from mathamr_kedro.base.errors import MalformedInputError

QUESTION = "(m / multi-sentence\n  :snt1 (p / prove-01\n    :ARG1 (f / FORMULA_0)))"
ANSWER = "(m / multi-sentence\n  :snt1 (s / see-01\n    :polarity -))"


def make_statistics() -> dict:
    statistics = GraphStatistics()
    statistics.add("question", QUESTION, formulas=2, missing=1)
    statistics.add("answer", ANSWER, formulas=0, missing=0)
    return statistics.describe()


def test_graphs_are_counted_by_type():
    found = make_statistics()
    assert found["graphs"] == {"total": 2, "answer": 1, "question": 1}
    assert found["nodes_per_graph"]["all"]["mean"] == 2.5
    assert found["nodes_per_graph"]["question"]["max"] == 3
    assert found["edges_per_graph"]["answer"]["mean"] == 1.0
    assert found["sentences_per_graph"]["mean"] == 1.0
    assert found["node_histogram"]["0-9"] == 2
    assert found["node_types"] == 3  # multi-sentence, prove-01, see-01
    assert found["relation_types"] == 1  # ARG1
    assert found["placeholders"] == {
        "total": 2, "kept": 1, "kept_percent": 50.0, "graphs_with_all": 1,
    }  # fmt: skip


def test_report_stands_beside_the_thesis():
    found = make_statistics()
    by_type = found.pop("graphs")
    by_type.pop("total")
    outcomes = describe_outcomes(2, {"timeout": 1, "all_chunks_failed": 1}, {"x": 3})
    part = {**outcomes, "graphs_by_type": by_type, **found}
    statistics = {"parser": {"parser": "builtin"}, "posts": part, "topics": part}
    report, figure = report_parsing(statistics)
    assert "| Posts processed | 4 | 2,482,294 |" in report
    assert "| Successful graphs | 2 (50.00 %) | 2,432,933 (98.0 %) |" in report
    assert "| Failed posts | 2 (50.00 %) | 49,361 (2.0 %) |" in report
    assert "| … all chunks failed | 1 | 41,404 |" in report
    assert "| … disconnected graph | 0 | 7,946 |" in report
    assert "| … time-out | 1 |  |" in report
    assert "| Question graphs | 1 | 1,009,372 |" in report
    assert "| nodes, all | 2.5 |" in report
    assert "| Chunks lost in posts with a graph | 3 |" in report
    assert figure.axes[0].patches[0].get_height() == 2


def test_nothing_parsed_is_described_too():
    found = GraphStatistics().describe()
    assert found["graphs"] == {"total": 0}
    assert describe_outcomes(0, {}, {})["graphs_percent"] == 100.0


@pytest.mark.parametrize(
    ("graphs", "failed", "named"),
    [
        (["1"], [], "2"),
        (["1", "2"], ["2"], "2"),
        (["1", "2", "1"], [], "1"),
        (["1", "2", "3"], [], "3"),
    ],
)
def test_an_account_that_does_not_balance_is_refused(graphs, failed, named):
    with pytest.raises(MalformedInputError, match=f"1 ids .* e.g. '{named}'"):
        check_account("posts-00000-000", ["1", "2"], graphs, failed)


def test_an_account_that_balances_passes():
    check_account("posts-00000-000", ["1", "2"], ["2"], ["1"])


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


def test_chunks_are_no_sentences():
    statistics = GraphStatistics()
    text = """(m / multi-sentence
  :snt1 (m2 / multi-sentence
    :snt1 (s / show-01)
    :snt2 (h / hold-01))
  :snt2 (t / thank-01))"""
    statistics.add("answer", text, 0, 0)
    assert statistics.describe()["sentences_per_graph"]["max"] == 3
