from __future__ import annotations

from mathamr_kedro.amr.graphs import Edge, merge_graphs
from mathamr_kedro.amr.penman_io import format_graph, read_graph


def _merge(*texts: str) -> str:
    return format_graph(merge_graphs([read_graph(t) for t in texts]), indent=None)


def test_graphs_get_sentence_roles_and_own_variables():
    assert _merge(
        "(s / show-01 :ARG1 (s2 / set))", "(s / see-01 :ARG1 (s2 / sum))"
    ) == (
        "(m / multi-sentence :snt1 (s / show-01 :ARG1 (s2 / set))"
        " :snt2 (s3 / see-01 :ARG1 (s4 / sum)))"
    )


def test_a_single_graph_also_gets_the_root():
    assert _merge("(m / map)") == "(m / multi-sentence :snt1 (m2 / map))"


def test_a_formula_named_twice_has_one_node():
    assert _merge(
        "(p / prime :domain (f / FORMULA_0))", "(e / even :domain (f / FORMULA_0))"
    ) == (
        "(m / multi-sentence :snt1 (p / prime :domain (f / FORMULA_0))"
        " :snt2 (e / even :domain f))"
    )


def test_a_formula_can_be_a_whole_sentence_twice():
    merged = merge_graphs([read_graph("(f / FORMULA_0)")] * 2)
    assert list(merged.nodes.values()) == ["multi-sentence", "FORMULA_0"]
    assert merged.is_connected()
    assert [e.role for e in merged.edges] == ["snt1", "snt2"]


def test_chunks_of_several_sentences_are_counted_on():
    chunk = "(m / multi-sentence :snt1 (a / a1) :snt2 (b / b1))"
    document = "(d / document :snt1 (c / c1) :snt2 (d2 / d1))"
    merged = merge_graphs([read_graph(chunk), read_graph(document)])
    assert [(e.role, merged.nodes[e.target]) for e in merged.edges] == [
        ("snt1", "a1"),
        ("snt2", "b1"),
        ("snt3", "c1"),
        ("snt4", "d1"),
    ]


def test_sentences_are_counted_by_number_not_by_place():
    text = "(m / multi-sentence :snt10 (b / late) :snt2 (a / early))"
    merged = merge_graphs([read_graph(text)])
    roots = sorted((e.role, merged.nodes[e.target]) for e in merged.edges)
    assert roots == [("snt1", "early"), ("snt2", "late")]


def test_a_root_that_says_more_than_its_sentences_is_kept():
    text = "(m / multi-sentence :snt1 (a / a1) :ARG1 (b / b1))"
    merged = merge_graphs([read_graph(text)])
    assert list(merged.nodes.values()).count("multi-sentence") == 2
    assert merged.edges[0] == Edge("m", "snt1", "m2")


def test_edges_between_sentences_survive():
    text = "(d / document :snt1 (a / she) :snt2 (b / go-02 :ARG0 (c / she :same-as a)))"
    merged = merge_graphs([read_graph(text)])
    assert any(e.role == "same-as" for e in merged.edges)


def _merge_chunks(*texts: str) -> str:
    graphs = [read_graph(text) for text in texts]
    return format_graph(merge_graphs(graphs, keep_chunks=True), indent=None)


def test_the_sentences_of_a_chunk_hang_under_it():
    assert _merge_chunks(
        "(m / multi-sentence :snt1 (s / show-01 :ARG1 (f / FORMULA_0)) :snt2 (a / a1))",
        "(d / document :snt1 (f / FORMULA_0) :snt2 (b / b1))",
        "(t / thank-01)",
    ) == (
        "(m / multi-sentence"
        " :snt1 (m2 / multi-sentence"
        " :snt1 (s / show-01 :ARG1 (f / FORMULA_0)) :snt2 (a / a1))"
        " :snt2 (m3 / multi-sentence :snt1 f :snt2 (b / b1))"
        " :snt3 (t / thank-01))"
    )


def test_a_text_of_one_chunk_is_that_chunk():
    chunk = "(m / multi-sentence :snt1 (a / a1) :snt2 (b / b1))"
    assert _merge_chunks(chunk) == chunk


def test_what_two_sentences_say_of_the_same_formulas_is_said_once():
    between = "(f / FORMULA_0 :mod (g / FORMULA_1))"
    merged = merge_graphs([read_graph(between), read_graph(between)])
    assert merged.edges == [
        Edge("m", "snt1", "f"), Edge("m", "snt2", "f"), Edge("f", "mod", "f2"),
    ]  # fmt: skip


def test_formulas_that_become_one_node_do_not_point_at_themselves():
    merged = merge_graphs(
        [read_graph("(f / FORMULA_0 :op1 (g / FORMULA_0) :op2 (x / x1))")]
    )
    assert merged.edges == [Edge("m", "snt1", "f"), Edge("f", "op2", "x")]
    assert merged.is_connected()


def test_different_roles_between_the_same_nodes_both_stay():
    merged = merge_graphs([read_graph("(f / FORMULA_0 :ARG0 (g / g1) :ARG1 g)")])
    assert [e.role for e in merged.edges] == ["snt1", "ARG0", "ARG1"]
