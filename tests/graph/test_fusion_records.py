"""Fusion of records, as the workers of the stage do it."""

from __future__ import annotations

import pickle
from pathlib import Path

from mathamr_kedro.base.records import Failure, FormulaMention
from mathamr_kedro.graph.fusion import FuseRecords
from mathamr_kedro.graph.penman_records import GraphRecord


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
    (found,) = FuseRecords(None)([text(SHOW)])
    assert found.problems == ()
    record = GraphRecord.read(found.text.removesuffix("\n\n"))
    assert record == SHOW._replace(
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
    results = FuseRecords(None)(
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
    assert [bool(result.text) for result in results] == [False, False, False, True]


def test_formulas_without_trees_and_strange_placeholders_are_noted() -> None:
    record = GraphRecord(
        "8", "(f / FORMULA_0 :mod (g / FORMULA_9))", "answer", (mention(0, " "),)
    )
    (found,) = FuseRecords(None)([text(record)])
    # A word like any other: it has no vector, and nobody looks for its trees.
    assert "(g / FORMULA-9)" in found.text
    assert found.problems == (
        Failure(*FUSION, "8", "formula_without_tree", "no tree for FORMULA_0", True),
        Failure(
            *FUSION, "8", "unknown_placeholder", "not in formula_map: FORMULA_9", True
        ),
    )


def test_the_function_travels_to_another_process(tmp_path: Path) -> None:
    fuse = pickle.loads(pickle.dumps(FuseRecords(None)))
    assert ":opt (F0o0 / V!𝑥)" in fuse([text(SHOW)])[0].text
