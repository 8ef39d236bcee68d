"""Fusion of runs against formulas worked out one by one."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.metrics.runs import Run, make_run
from mathamr_kedro.parameters import read_parameters
from mathamr_kedro.runs.fusion import Fusion, fuse_runs

A = make_run("a", {"A.1": {"17": 1.0, "4": 0.5, "90": 0.0}, "A.2": {"5": 3.0}})
B = make_run("b", {"A.1": {"4": 20.0, "90": 10.0}})


def scores(run, topic="A.1"):
    results = run.results[topic]
    return dict(zip(results.ids, results.scores.tolist(), strict=True))


def approx(values):
    return pytest.approx(values, abs=1e-8)


def test_reciprocal_ranks_are_added():
    fused = fuse_runs([A, B], Fusion("rrf"), "ab")
    expected = {"4": 1 / 62 + 1 / 61, "90": 1 / 63 + 1 / 62, "17": 1 / 61}
    assert scores(fused) == approx(expected)
    assert list(fused.results["A.1"].ids) == ["4", "90", "17"]
    assert scores(fused, "A.2") == approx({"5": 1 / 61})


def test_weights_count_ranks_differently():
    fused = fuse_runs([A, B], Fusion("rrf", weights=(3.0, 1.0), k=0), "ab")
    assert scores(fused) == approx({"17": 3.0, "4": 3 / 2 + 1, "90": 1 + 1 / 2})


@pytest.mark.parametrize(
    ("fusion", "expected"),
    [
        (Fusion("mean"), {"4": 0.75, "17": 0.5, "90": 0.0}),
        (Fusion("max"), {"4": 1.0, "17": 1.0, "90": 0.0}),
        (Fusion("f1"), {"4": 2 / 3, "17": 0.0, "90": 0.0}),
        (Fusion("weighted", (1.0, 3.0)), {"4": 0.875, "17": 0.25, "90": 0.0}),
        (Fusion("mean", scale="none"), {"4": 10.25, "17": 5.5, "90": 5.0}),
        (Fusion("max", scale="none"), {"4": 20.0, "17": 10.0, "90": 10.0}),
    ],
)
def test_scores_are_put_together(fusion, expected):
    assert scores(fuse_runs([A, B], fusion, "ab")) == approx(expected)


def test_ties_go_to_the_shorter_id_and_depth_cuts():
    fused = fuse_runs([A, B], Fusion("max", depth=2), "ab")
    assert list(fused.results["A.1"].ids) == ["4", "17"]


def test_one_run_alone_keeps_its_order():
    rng = np.random.default_rng(0)
    ids = [str(i) for i in rng.permutation(50)]
    run = make_run("r", {"A.1": dict(zip(ids, -np.arange(50.0), strict=True))})
    for method in ("rrf", "mean", "max", "f1", "weighted"):
        fused = fuse_runs([run], Fusion(method), "one").results["A.1"]
        assert list(fused.ids)[:49] == ids[:49]


def test_repeats_in_a_run_count_once():
    results = A.results["A.1"]
    doubled = Run(
        "d",
        {
            "A.1": results._replace(
                ids=[*results.ids, "4"],
                scores=np.append(results.scores, 0.2),
                ranks=np.arange(1, 5),
            )
        },
    )
    assert scores(fuse_runs([doubled, B], Fusion("rrf"), "x")) == approx(
        scores(fuse_runs([A, B], Fusion("rrf"), "y"))
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"method": "mean", "weights": [1.0, 2.0]}, "no weights"),
        ({"method": "rrf", "weights": [1.0, -2.0]}, "at least 0"),
        ({"method": "weighted", "weights": [0.0, 0.0]}, "not all 0"),
        ({"method": "median"}, "did you mean 'mean'"),
        ({"k": -1}, "k of at least 0"),
    ],
)
def test_senseless_parameters_are_refused(values, message):
    with pytest.raises(ConfigurationError, match=message):
        read_parameters(Fusion, values, "evaluation.fusion")


def test_runs_that_do_not_fit_are_refused():
    with pytest.raises(ConfigurationError, match="at least one run"):
        fuse_runs([], Fusion(), "x")
    with pytest.raises(ConfigurationError, match="2 weights"):
        fuse_runs([A, B], Fusion(weights=(1.0, 2.0, 3.0)), "x")
    instances = Run("i", B.results, holds_instances=True)
    with pytest.raises(ConfigurationError, match="one kind of id"):
        fuse_runs([A, instances], Fusion(), "x")
