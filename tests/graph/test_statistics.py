"""Statistics of a collection, counted by hand."""

from __future__ import annotations

from mathamr_kedro.base.records import FormulaMention
from mathamr_kedro.graph import (
    FusedRecord,
    GraphTally,
    read_math_graph,
    report_graphs,
)
from tests.pipelines.graph_world import INGESTED

QUESTION = FusedRecord(
    "1",  # 5 nodes, 4 edges, one sentence, one formula
    read_math_graph(
        "(s / show-01 :ARG0-of (y / you)"
        " :ARG1 (f / FORMULA_0 :opt (o / V!𝑥) :slt (t / V!x)))"
    ),
    "question",
    (FormulaMention("FORMULA_0", "7", "70", "x", 0, 9),),
)
ANSWER = FusedRecord(
    "2",  # 4 nodes, 4 edges, two sentences
    read_math_graph(
        '(m / multi-sentence :snt1 (y / yes) :snt2 (b / big :mod y :value "𝑥"))'
    ),
    "answer",
)


def count_both() -> GraphTally:
    total = GraphTally()
    for record in (QUESTION, ANSWER):
        total.merge(GraphTally.of_record(record))
    return total


def test_the_rows_of_table_4_2() -> None:
    found = count_both().describe({"all_chunks_failed": 2}, 1)
    assert found["posts_processed"] == 4
    assert found["graphs"] == 2
    assert found["failed_posts"] == 2
    assert found["all"]["nodes_per_graph"] == 4.5
    assert found["all"]["median_nodes"] == 4.5
    assert found["all"]["edges_per_graph"] == 4.0
    assert found["all"]["largest_graph"] == 5
    assert found["all"]["sentences_per_graph"] == 1.5
    for part in ("formulas", "opt_nodes", "slt_nodes"):
        assert found["all"][f"{part}_per_graph"] == 0.5
    question = found["by_post_type"]["question"]
    assert question["formulas_per_graph"] == 1
    assert question["opt_nodes_per_graph"] == question["slt_nodes_per_graph"] == 1
    # show-01 FORMULA_0 V!𝑥 V!x you; multi-sentence yes big 𝑥
    assert found["raw_node_types"] == 9
    # ARG1 opt slt ARG0 (written inverted); snt1 snt2 mod value
    assert found["raw_relations"] == 8
    assert found["size_histograms"] == {"answer": {"4": 1}, "question": {"4": 1}}


def test_the_report_names_the_failures() -> None:
    failures = {"all_chunks_failed": 1, "empty_text": 1}
    statistics = {
        "parser": {"parser": "builtin"},
        "collection": INGESTED,
        **count_both().describe(failures, 1),
        "notes": {"formula_without_tree": 3},
    }
    report, figure = report_graphs(statistics)
    assert "| Successful graphs | 2 (50.0%) |" in report
    assert "| … All chunks failed to parse | 1 |" in report
    assert "| … empty text | 1 |" in report
    assert "| … questions | 5.0 nodes, 1.0 formulas |" in report
    assert "| formula_without_tree | 3 |" in report
    _, names = figure.axes[0].get_legend_handles_labels()
    assert names == ["answer", "question"]
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == ["4–7"]
    assert "(math_graph_figure.png)" in report


def test_an_empty_collection_has_statistics_too() -> None:
    found = GraphTally().describe({}, 0)
    assert found["all"]["nodes_per_graph"] == 0
    report, figure = report_graphs(
        {
            "parser": {"parser": "builtin"},
            "collection": INGESTED,
            **found,
        }
    )
    assert "| Posts processed | 0 |" in report
    assert not figure.axes[0].patches
