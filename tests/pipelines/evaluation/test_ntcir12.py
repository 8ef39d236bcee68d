"""Formula browsing of NTCIR-12 through the stage, beside a run file of others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mathamr_kedro.base.records import FormulaMention, Topic
from tests.pipelines.evaluation import planted_world as world

TOPIC = "NTCIR12-MathWiki-1"
THEIRS = f"{TOPIC} Q0 12 1 0.9 x\n{TOPIC} Q0 Far:3 2 0.8 x\n{TOPIC} Q0 11 3 0.7 x\n"


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory):
    folder: Path = tmp_path_factory.mktemp("ntcir12")
    mention = FormulaMention("FORMULA_0", "q_1", "", r"\sqrt{2}", 0, 9)
    topic = Topic(
        TOPIC, "ntcir12", 2016, "", (), "FORMULA_0", (mention,), "q_1", r"\sqrt{2}",
        None, None, None,
    )  # fmt: skip
    query = world.entry(
        TOPIC, "topic", world.point(x0=0.1), ("q_1", "", True, np.eye(world.WIDTH)[3])
    )
    grades = {"10": 3, "11": 0, "12": 1, "Far:3": 4}
    (folder / "theirs.res").write_text(THEIRS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world, "TOPICS", [topic])
        patch.setattr(world, "JUDGMENTS", world.judged(TOPIC, grades, "ntcir12"))
        patch.setattr(world, "TOPIC_VECTORS", [query])
        world.plant(folder)
    return world.evaluate(
        folder,
        protocol="ntcir",
        measures=["Bpref full", "Bpref partial"],
        baselines=["bm25_tuples"],
        topic_sets={"concrete": ["NTCIR12-*"]},
        run_files={"theirs": str(folder / "theirs.res")},
        fusions=[{"name": "both", "method": "rrf", "of": ["mathamr_plus", "theirs"]}],
    )


def test_formulas_that_look_alike_are_all_returned(catalog) -> None:
    file = catalog.load("runs").folder / "task2" / "concrete" / "mathamr_plus.tsv"
    rows = [line.split("\t")[1:3] for line in file.read_text().splitlines()]
    assert rows == [["10", "2"], ["11", "3"], ["12", "3"]]


def test_scores_are_those_computed_by_hand(catalog) -> None:
    table = catalog.load("scores")
    scores = {
        (row.system, row.measure): row.score for row in table.itertuples(index=False)
    }
    # full: 10 and Far:3; partial: 12 too. What is not: 11 (and 12).
    assert scores["mathamr_plus", "Bpref full"] == pytest.approx(1 / 2)
    assert scores["mathamr_plus", "Bpref partial"] == pytest.approx((1 + 0) / 3)
    assert scores["theirs", "Bpref full"] == pytest.approx((1 - 1 / 2) / 2)
    assert scores["theirs", "Bpref partial"] == pytest.approx(2 / 3)
    assert ("both", "Bpref full") in scores
    assert ("bm25_tuples", "Bpref partial") in scores


def test_nobody_searched_for_what_a_file_holds(catalog) -> None:
    timed = {row["system"] for row in catalog.load("efficiency")["search"]}
    assert "mathamr_plus" in timed
    assert "theirs" not in timed
    report = catalog.load("evaluation_report")
    assert "| theirs " in report
    assert "Topics that were not searched" not in report
