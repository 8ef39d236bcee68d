from __future__ import annotations

from mathamr_kedro.amr.graphs import AMRGraph, Edge


def test_edges_connect_in_both_directions():
    # b -> a <- c, d alone
    graph = AMRGraph(
        "a", dict.fromkeys("abcd", "x"), [Edge("b", "r", "a"), Edge("c", "r", "a")]
    )
    assert not graph.is_connected()
    assert graph._replace(edges=[*graph.edges, Edge("d", "r", "c")]).is_connected()


def test_missing_placeholders_are_named_once_and_in_order():
    graph = AMRGraph("f", {"f": "FORMULA_10"}, [])
    text = "FORMULA_1 and FORMULA_0, FORMULA_1 or FORMULA_10"
    assert graph.find_missing_placeholders(text) == ("FORMULA_1", "FORMULA_0")


def test_loose_parts_are_hung_from_the_top():
    nodes = {"a": "and", "b": "map", "c": "set", "d": "loop", "e": "back"}
    edges = [Edge("c", "mod", "b"), Edge("d", "mod", "e"), Edge("e", "mod", "d")]
    joined = AMRGraph("a", nodes, edges).join_parts("mod")
    assert joined.edges[3:] == [Edge("a", "mod", "c"), Edge("a", "mod", "d")]
    assert joined.is_connected()
