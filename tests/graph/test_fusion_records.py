"""Fusion of records: when they are read, and once by the workers of the stage."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from mathamr_kedro.base.errors import GraphError
from mathamr_kedro.base.records import Failure, FormulaMention
from mathamr_kedro.graph import (
    CheckRecords,
    FusedRecord,
    GraphRecord,
    GraphTally,
    RecordFile,
    ShardFacts,
    StoredTrees,
)


def mention(number: int, latex: str) -> FormulaMention:
    return FormulaMention(f"FORMULA_{number}", str(number), f"x{latex}", latex, 0, 9)


def text(record: GraphRecord) -> str:
    return record.format().removesuffix("\n\n")


FUSION = ("graph_fusion", "", "")
SHOW = GraphRecord(
    "7",
    "(s / show-01 :ARG1 (f / FORMULA_0))",
    "answer",
    (mention(0, "x"), mention(1, "y")),
)


def test_a_record_keeps_all_but_its_graph() -> None:
    found = FusedRecord.read(SHOW, StoredTrees(None))
    assert found.problems == ()
    assert found.formulas() == SHOW.formulas()
    assert found.write() == SHOW._replace(
        graph=(
            "(s / show-01\n"
            "  :ARG1 (f / FORMULA_0\n"
            "    :opt (F0o0 / V!𝑥)\n"
            "    :slt (F0s0 / V!x))\n"
            "  :math (F1 / FORMULA_1\n"
            "    :opt (F1o0 / V!𝑦)\n"
            "    :slt (F1s0 / V!y)))"
        ),
        missing=("FORMULA_1",),
    )


def test_bad_records_are_told_and_the_others_go_on() -> None:
    bad_map = SHOW._replace(
        formula_map=(SHOW.formula_map[0]._replace(placeholder="F"),)
    )
    results = CheckRecords(None)(
        [
            "(no / record)",
            text(SHOW._replace(graph="(a / b")),
            text(bad_map),
            text(SHOW),
        ]
    )
    reasons = [[(p.record_id, p.reason) for p in result.problems] for result in results]
    assert reasons == [
        [("", "malformed_record")],
        [("7", "graph_error")],
        [("7", "graph_error")],
        [],
    ]
    assert ShardFacts.of_records(results).dropped == [0, 1, 2]


def test_formulas_without_trees_and_strange_placeholders_are_noted() -> None:
    record = GraphRecord(
        "8", "(f / FORMULA_0 :mod (g / FORMULA_9))", "answer", (mention(0, " "),)
    )
    found = FusedRecord.read(record, StoredTrees(None))
    # A word like any other: it has no vector, and nobody looks for its trees.
    assert "FORMULA-9" in found.graph.atoms
    assert found.problems == (
        Failure(*FUSION, "8", "formula_without_tree", "no tree for FORMULA_0", True),
        Failure(
            *FUSION, "8", "unknown_placeholder", "not in formula_map: FORMULA_9", True
        ),
    )


def test_the_function_travels_to_another_process() -> None:
    check = pickle.loads(pickle.dumps(CheckRecords(None)))
    (found,) = check([text(SHOW)])
    assert found.tally.atoms == {
        "show-01", "FORMULA_0", "FORMULA_1", "V!𝑥", "V!x", "V!𝑦", "V!y",
    }  # fmt: skip


def test_equal_graphs_have_equal_checksums() -> None:
    def find(*records: GraphRecord) -> str:
        results = CheckRecords(None)([text(record) for record in records])
        return ShardFacts.of_records(results).checksum

    assert find(SHOW) == find(SHOW._replace(text_checksum="other"))
    others = [
        SHOW._replace(graph="(s / show-02 :ARG1 (f / FORMULA_0))"),
        SHOW._replace(formula_map=(mention(0, "z"), mention(1, "y"))),
        SHOW._replace(post_type="question"),
        SHOW._replace(graph_id="8"),
    ]
    found = [find(SHOW), find(SHOW, SHOW), *map(find, others)]
    assert len(set(found)) == len(found)


def test_facts_survive_being_written() -> None:
    (checked,) = CheckRecords(None)([text(SHOW)])
    facts = ShardFacts.of_records([checked, None])  # the second one's worker died
    back = ShardFacts.of_values(json.loads(json.dumps(facts.to_values())))
    assert (back.dropped, back.checksum) == ([1], facts.checksum)
    total = GraphTally()
    total.merge(back.tally)
    assert total.describe({}, 0) == facts.tally.describe({}, 0)


def test_records_are_left_out_by_their_places(tmp_path: Path) -> None:
    path = tmp_path / "posts-0.amr.txt"
    RecordFile(path).write([SHOW, SHOW._replace(graph_id="8")])
    assert [r.graph_id for r in RecordFile(path, dropped={0})] == ["8"]


def test_an_unreadable_graph_is_refused() -> None:
    with pytest.raises(GraphError, match="Expected a PENMAN graph"):
        FusedRecord.read(SHOW._replace(graph="(a / b"), StoredTrees(None))
