"""Run files and scores shared with ranx and ir_measures, the real packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from mathamr_kedro.evaluation.metrics import evaluate_run, protocol_of
from mathamr_kedro.trec import Qrels, Run, read_run, write_run

pytestmark = pytest.mark.filterwarnings("ignore")

GRADES = {
    f"A.{t}": {str(d): (t * d) % 4 for d in range(1, 30, 1 + t % 3)}
    for t in range(1, 12)
}


@pytest.fixture(scope="module")
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


RANX = """
import json, sys
from pathlib import Path
import ranx
folder = Path(sys.argv[1])
grades, lists = json.loads((folder / "given.json").read_text())
theirs = ranx.Run(lists)
theirs.name = "theirs"
theirs.save(str(folder / "theirs.trec"))
ours = ranx.Run.from_file(str(folder / "mine.trec"))
names = ["ndcg@10", "map", "recall@20", "mrr"]
found = ranx.evaluate(ranx.Qrels(grades), ours, names)
(folder / "found.json").write_text(json.dumps([float(found[n]) for n in names]))
"""


@pytest.fixture(scope="module")
def ranx_folder(run, tmp_path_factory) -> Path:
    """A run of ours and its scores by ranx, and the same run as ranx writes it."""
    if find_spec("ranx") is None:
        pytest.skip("ranx is missing")
    folder = tmp_path_factory.mktemp("ranx")
    write_run(folder / "mine.trec", run)
    lists = {t: dict(run.documents(t)) for t in run.lists}
    (folder / "given.json").write_text(json.dumps([GRADES, lists]))
    # A process of its own: there it need not compile, which takes a minute.
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RANX, str(folder)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.slow
def test_ranx_reads_our_runs_and_scores_alike(run, ranx_folder):
    found = json.loads((ranx_folder / "found.json").read_text())
    ours = score(run, ("nDCG@10", "MAP", "recall@20", "MRR"))
    assert found == pytest.approx(list(ours.values()))


def test_we_read_runs_of_ranx(run, ranx_folder):
    lists = {t: dict(run.documents(t)) for t in run.lists}
    read = read_run(ranx_folder / "theirs.trec")
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
    if needs is not None:  # trec_eval has wheels only for x86-64
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
