"""Fusions with cross-validated weights in the stage."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from mathamr_kedro.base.records import Judgment, Topic
from mathamr_kedro.pipelines.evaluation.searches import fuse_systems
from mathamr_kedro.trec import Run

TOPICS = [
    Topic(f"A.{n}", "task1", 2020, "", (), "", (), None, None, None, None, None)
    for n in range(1, 5)
]
JUDGMENTS = [
    Judgment(t.topic_id, document, grade, "task1", "q")
    for t in TOPICS
    for document, grade in (("1", 3), ("2", 0), ("3", 0))
]


def fuse(**fusion):
    """One system is always right, the other always wrong."""
    right = {t.topic_id: {"1": 3.0, "2": 2.0, "3": 1.0} for t in TOPICS}
    wrong = {t.topic_id: {"3": 3.0, "2": 2.0, "1": 1.0} for t in TOPICS}
    runs = [
        replace(Run.from_scores(name, lists), task=1)
        for name, lists in (("mathamr_plus", wrong), ("bm25", right))
    ]
    of = ["mathamr_plus", "bm25"]
    values = {
        "baselines": ["bm25"],
        "fusions": [{"name": "both", "method": "weighted", "of": of, **fusion}],
    }
    topics = SimpleNamespace(records=lambda: iter(TOPICS))
    judgments = SimpleNamespace(records=lambda: iter(JUDGMENTS))
    formulas = SimpleNamespace(tables=lambda columns: iter(()))
    found = fuse_systems(
        topics,
        judgments,
        formulas,
        lambda formula: None,
        values,
        {},
        runs[:1],
        runs[1:],
    )
    assert [run.name for run in found] == ["mathamr_plus", "bm25", "both"]
    return found[-1]


def test_folds_choose_the_weights_by_judgments():
    assert fuse(folds=2).lists["A.1"].ids[0] == "1"
    assert fuse(weights=[3.0, 1.0]).lists["A.1"].ids[0] == "3"
