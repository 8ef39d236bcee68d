"""Fusion of runs against formulas worked out one by one."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.runs import add_fusions
from mathamr_kedro.systems.fusion import Fusion, fuse_runs
from mathamr_kedro.trec import Run

A = Run.from_scores("a", {"A.1": {"17": 1.0, "4": 0.5, "90": 0.0}, "A.2": {"5": 3.0}})
B = Run.from_scores("b", {"A.1": {"4": 20.0, "90": 10.0}})


def scores(run, topic="A.1"):
    hits = run.lists[topic]
    return dict(zip(hits.ids, hits.scores.tolist(), strict=True))


def approx(values):
    return pytest.approx(values, abs=1e-8)


def test_reciprocal_ranks_are_added():
    fused = fuse_runs([A, B], Fusion("rrf"), "ab")
    expected = {"4": 1 / 62 + 1 / 61, "90": 1 / 63 + 1 / 62, "17": 1 / 61}
    assert scores(fused) == approx(expected)
    assert fused.lists["A.1"].ids == ["4", "90", "17"]
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


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("mean", {"4": 1.0, "17": 0.5, "90": 0.5}),
        ("max", {"4": 1.0, "17": 1.0, "90": 1.0}),
        ("f1", {"4": 1.0, "17": 0.0, "90": 0.0}),
    ],
)
@pytest.mark.parametrize("value", [0.0, 7.0, -3.0])
def test_scores_that_are_all_equal_count_as_the_best(method, expected, value):
    """All are returned, none is told apart: each is worth what a best one is."""
    level = Run.from_scores("l", {"A.1": {"4": value, "90": value}})
    other = Run.from_scores("o", {"A.1": {"17": 2.0, "4": 2.0}})
    assert scores(fuse_runs([level, other], Fusion(method), "x")) == approx(expected)
    alone = Run.from_scores("l", {"A.1": {"4": value}})
    assert scores(fuse_runs([alone], Fusion(method), "x")) == approx({"4": 1.0})


@pytest.mark.parametrize("scale", ["minmax", "none"])
@pytest.mark.parametrize("method", ["rrf", "weighted", "mean", "max", "f1"])
def test_what_each_run_gives_adds_up(method, scale):
    fusion = Fusion(method, scale=scale)
    found = scores(fuse_runs([A, B], fusion, "ab"))
    shares = fusion.split([A.lists["A.1"], B.lists["A.1"]])
    assert {key: parts.sum() for key, parts in shares.items()} == approx(found)
    if method != "f1":
        assert shares["17"].argmax() == (scale == "none" and method != "rrf")


def test_ties_go_to_the_shorter_id_and_depth_cuts():
    fused = fuse_runs([A, B], Fusion("max", depth=2), "ab")
    assert fused.lists["A.1"].ids == ["4", "17"]


def test_one_run_alone_keeps_its_order():
    rng = np.random.default_rng(0)
    ids = [str(i) for i in rng.permutation(50)]
    run = Run.from_scores("r", {"A.1": dict(zip(ids, -np.arange(50.0), strict=True))})
    for method in ("rrf", "mean", "max", "f1", "weighted"):
        fused = fuse_runs([run], Fusion(method), "one").lists["A.1"]
        assert fused.ids[:49] == ids[:49]


def test_repeats_in_a_run_count_once():
    hits = A.lists["A.1"]
    doubled = Run("d", {"A.1": Hits([*hits.ids, "4"], np.append(hits.scores, 0.2))})
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
    instances = Run("i", B.lists, holds_instances=True)
    with pytest.raises(ConfigurationError, match="one kind of id"):
        fuse_runs([A, instances], Fusion(), "x")


def posts(ids):
    return Hits(list(ids), np.arange(len(ids), 0, -1, dtype=np.float64))


def formulas(visual_ids, formula_ids, post_ids):
    scores = posts(visual_ids).scores
    return FormulaHits(list(formula_ids), scores, list(visual_ids), list(post_ids))


POSTS_A = Run("a", {"A.1": posts("987"), "A.2": posts("1")}, task=1, seconds=2.0)
POSTS_B = Run("b", {"A.1": posts("86")}, task=1, seconds=3.0)
FORMULAS_A = Run("a", {"B.1": formulas("xy", "12", "pq")}, task=2)
FORMULAS_B = Run("b", {"B.1": formulas("zy", "34", "rs")}, task=2)


def test_fusions_follow_the_systems_of_each_task():
    runs = add_fusions(
        [POSTS_A, POSTS_B, FORMULAS_A, FORMULAS_B],
        [Fusion("rrf", name="ab", of=("a", "b"))],
    )
    assert [(r.task, r.name) for r in runs] == [
        (1, "a"), (1, "b"), (1, "ab"), (2, "a"), (2, "b"), (2, "ab"),
    ]  # fmt: skip
    assert runs[2].lists["A.1"].ids == ["8", "9", "6", "7"]
    assert runs[2].lists["A.2"].ids == ["1"]
    assert runs[2].seconds == 5.0


def test_a_visual_id_is_named_by_the_first_system_that_has_it():
    fusion = Fusion("rrf", name="ab", of=("b", "a"))
    *_, fused = add_fusions([FORMULAS_A, FORMULAS_B], [fusion])
    found = fused.lists["B.1"]
    named = zip(found.visual_ids, found.ids, found.post_ids, strict=True)
    assert set(named) == {("x", "1", "p"), ("y", "4", "s"), ("z", "3", "r")}


def test_fusions_may_be_fused_and_skip_tasks_that_lack_a_part():
    runs = add_fusions(
        [POSTS_A, POSTS_B, FORMULAS_A],
        [
            Fusion("max", name="ab", of=("a", "b")),
            Fusion("mean", name="again", of=("ab", "a")),
        ],
    )
    assert [r.name for r in runs if r.task == 1] == ["a", "b", "ab", "again"]
    assert [r.name for r in runs if r.task == 2] == ["a"]


@pytest.mark.parametrize(
    ("fusion", "message"),
    [
        (Fusion(name="x", of=("aa",)), "no system is named 'aa'; did you mean"),
        (Fusion(name="b", of=("a",)), "Two systems are named 'b'"),
        (Fusion(name="x", of=("a", "c")), "no task has all of"),
    ],
)
def test_wrong_fusions_say_what_is_wrong(fusion, message):
    only_c = Run("c", {}, task=2)
    with pytest.raises(ConfigurationError, match=message):
        add_fusions([POSTS_A, POSTS_B, only_c], [fusion])
