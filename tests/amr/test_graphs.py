from __future__ import annotations

from mathamr_kedro.amr.graphs import (
    AMRGraph,
    Edge,
    find_missing_placeholders,
    find_reachable,
    is_connected,
    join_parts,
)


def test_edges_connect_in_both_directions():
    # b -> a <- c, d alone
    graph = AMRGraph(
        "a", dict.fromkeys("abcd", "x"), [Edge("b", "r", "a"), Edge("c", "r", "a")]
    )
    assert find_reachable(graph) == {"a", "b", "c"}
    assert not is_connected(graph)
    assert is_connected(graph._replace(edges=[*graph.edges, Edge("d", "r", "c")]))


def test_missing_placeholders_are_named_once_and_in_order():
    graph = AMRGraph("f", {"f": "FORMULA_10"}, [])
    text = "FORMULA_1 and FORMULA_0, FORMULA_1 or FORMULA_10"
    assert find_missing_placeholders(text, graph) == ("FORMULA_1", "FORMULA_0")


def test_loose_parts_are_hung_from_the_top():
    nodes = {"a": "and", "b": "map", "c": "set", "d": "loop", "e": "back"}
    edges = [Edge("c", "mod", "b"), Edge("d", "mod", "e"), Edge("e", "mod", "d")]
    joined = join_parts(AMRGraph("a", nodes, edges), "mod")
    assert joined.edges[3:] == [Edge("a", "mod", "c"), Edge("a", "mod", "d")]
    assert is_connected(joined)
