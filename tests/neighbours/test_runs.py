"""Run files and scores shared with ranx and ir_measures, the real packages."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.metrics import evaluate_run, protocol_of
from mathamr_kedro.trec import Qrels, Run, read_run, write_run

pytestmark = pytest.mark.filterwarnings("ignore")

GRADES = {
    f"A.{t}": {str(d): (t * d) % 4 for d in range(1, 30, 1 + t % 3)}
    for t in range(1, 12)
}


@pytest.fixture
def run() -> Run:
    """Scores without ties, which tools break in ways of their own."""
    draws = np.random.default_rng(0)
    return Run.from_scores(
        "mine",
        {
            topic: {str(d): float(s) for d, s in enumerate(draws.permutation(60))}
            for topic in GRADES
        },
    )


def score(run: Run, measures: tuple[str, ...]) -> dict[str, float]:
    protocol = protocol_of("trec").with_measures(list(measures))
    found = evaluate_run(run, Qrels(GRADES), protocol)
    return {name: found.mean(name) for name in measures}


def test_ranx_reads_our_runs_and_scores_alike(run, tmp_path):
    ranx = pytest.importorskip("ranx")
    write_run(tmp_path / "mine.trec", run)
    theirs = ranx.Run.from_file(str(tmp_path / "mine.trec"))
    found = ranx.evaluate(
        ranx.Qrels(GRADES), theirs, ["ndcg@10", "map", "recall@20", "mrr"]
    )
    ours = score(run, ("nDCG@10", "MAP", "recall@20", "MRR"))
    assert list(found.values()) == pytest.approx(list(ours.values()))


def test_we_read_runs_of_ranx(run, tmp_path):
    ranx = pytest.importorskip("ranx")
    lists = {t: dict(run.documents(t)) for t in run.lists}
    theirs = ranx.Run(
        {t: {d: float(s) for d, s in x.items()} for t, x in lists.items()}
    )
    theirs.name = "theirs"
    theirs.save(str(tmp_path / "theirs.trec"))
    read = read_run(tmp_path / "theirs.trec")
    assert {t: dict(read.documents(t)) for t in read.lists} == lists


@pytest.mark.parametrize(
    ("theirs", "ours", "needs"),
    [
        ("RR@10", "MRR@10", None),
        ("Judged@10", "judged@10", None),
        ("nDCG@10", "nDCG@10", "pytrec_eval"),
        ("R@20", "recall@20", "pytrec_eval"),
    ],
)
def test_ir_measures_reads_our_runs_and_scores_alike(
    theirs, ours, needs, run, tmp_path
):
    ir_measures = pytest.importorskip("ir_measures")
    if needs is not None:  # trec_eval has wheels for x86-64 alone
        pytest.importorskip(needs)
    write_run(tmp_path / "mine.trec", run)
    read = list(ir_measures.read_trec_run(str(tmp_path / "mine.trec")))
    qrels = [
        ir_measures.Qrel(t, d, g)
        for t, by_id in GRADES.items()
        for d, g in by_id.items()
    ]
    measure = ir_measures.parse_measure(theirs)
    found = ir_measures.calc_aggregate([measure], qrels, read)
    assert found[measure] == pytest.approx(score(run, (ours,))[ours])


def test_we_read_runs_of_ir_measures(tmp_path):
    """It has no writer; its rows are what a TREC file holds."""
    ir_measures = pytest.importorskip("ir_measures")
    rows = [
        ir_measures.ScoredDoc("A.1", "17", 2.5),
        ir_measures.ScoredDoc("A.1", "4", 1),
    ]
    lines = [
        f"{r.query_id} Q0 {r.doc_id} {n} {r.score} x\n" for n, r in enumerate(rows, 1)
    ]
    (tmp_path / "x.trec").write_text("".join(lines))
    assert read_run(tmp_path / "x.trec").documents("A.1").ids == ["17", "4"]
