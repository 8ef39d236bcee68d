"""Fusions of runs, with given and with cross-validated weights."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.evaluation.metrics import evaluate_run, protocol_of
from mathamr_kedro.runs import add_fusions
from mathamr_kedro.runs.fusions import fuse_by_folds, list_weights
from mathamr_kedro.systems.folds import ALL, deal_topics
from mathamr_kedro.systems.fusion import WEIGHT_STEPS, Fusion, fuse_runs
from mathamr_kedro.trec import Qrels, Run

A = Run.from_scores("a", {"A.1": {"17": 1.0, "4": 0.5, "90": 0.0}, "A.2": {"5": 3.0}})
B = Run.from_scores("b", {"A.1": {"4": 20.0, "90": 10.0}})
PROTOCOL = protocol_of("1").with_measures(["nDCG'"])
TOPICS = [f"A.{n}" for n in range(1, 8)]
UNJUDGED = "A.9"


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
    fused = fuse_runs([A, B], Fusion("rrf", weights=(3.0, 1.0)), "ab")
    expected = {"17": 3 / 61, "4": 3 / 62 + 1 / 61, "90": 3 / 63 + 1 / 62}
    assert scores(fused) == approx(expected)


@pytest.mark.parametrize(
    ("fusion", "expected"),
    [
        (Fusion("mean"), {"4": 0.75, "17": 0.5, "90": 0.0}),
        (Fusion("max"), {"4": 1.0, "17": 1.0, "90": 0.0}),
        (Fusion("f1"), {"4": 2 / 3, "17": 0.0, "90": 0.0}),
        (Fusion("weighted", (1.0, 3.0)), {"4": 0.875, "17": 0.25, "90": 0.0}),
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


@pytest.mark.parametrize("method", ["rrf", "weighted", "mean", "max", "f1"])
def test_what_each_run_gives_adds_up(method):
    fusion = Fusion(method)
    found = scores(fuse_runs([A, B], fusion, "ab"))
    shares = fusion.split([A.lists["A.1"], B.lists["A.1"]])
    assert {key: parts.sum() for key, parts in shares.items()} == approx(found)
    if method != "f1":
        assert shares["17"].argmax() == 0


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


def make_world(seed=0):
    rng = np.random.default_rng(seed)
    grades = {
        t: {str(d): int(rng.integers(0, 4)) for d in range(0, 20, 2)} for t in TOPICS
    }
    runs = []
    for n, noise in enumerate((1.0, 2.0, 9.0)):
        lists = {
            t: {
                str(d): grades.get(t, {}).get(str(d), 0) + noise * rng.normal()
                for d in rng.permutation(20)[: 15 + n].tolist()
            }
            for t in [*TOPICS, UNJUDGED]
        }
        runs.append(Run.from_scores(f"r{n}", lists))
    return [replace(run, task=1) for run in runs], grades


def fuse(runs, grades, fusion):
    return fuse_by_folds(runs, fusion, grades, PROTOCOL.measures[0])


def fuse_slowly(runs, grades, fusion):
    """Score a run for each weight, then let the other folds choose, topic by topic."""
    plain = replace(fusion, folds=0)
    grid = sorted(
        (
            tuple(n / WEIGHT_STEPS for n in share)
            for share in product(range(WEIGHT_STEPS + 1), repeat=len(runs))
            if sum(share) == WEIGHT_STEPS
        ),
        key=lambda w: sum(x * x for x in w),
    )
    scores = {}
    for weights in grid:
        lists = fuse_runs(runs, replace(plain, weights=weights), "x").lists
        # as run files have it: no ties that a tool could order by a rule of its own
        places = {
            t: {i: -float(n) for n, i in enumerate(h.ids)} for t, h in lists.items()
        }
        run = Run.from_scores("x", places)
        found = evaluate_run(run, Qrels(grades), PROTOCOL)
        scores[weights] = dict(zip(found.topics, found.column("nDCG'"), strict=True))
    folds = deal_topics(TOPICS, fusion.folds)
    lists = {}
    for topic in [*TOPICS, UNJUDGED]:
        others = [t for t in TOPICS if folds[t] != folds.get(topic, ALL)]
        best = max(grid, key=lambda w: round(sum(scores[w][t] for t in others), 9))
        fused = fuse_runs(runs, replace(plain, weights=best), "x")
        lists[topic] = fused.lists[topic]
    return lists


@pytest.mark.parametrize("method", ["rrf", "score_rrf", "weighted"])
@pytest.mark.parametrize("seed", [0, 1])
def test_weights_are_the_best_of_the_other_folds(method, seed):
    runs, grades = make_world(seed)
    fusion = Fusion(method, name="e", of=("r0", "r1", "r2"), folds=3)
    found = fuse(runs, grades, fusion)
    for topic, hits in fuse_slowly(runs, grades, fusion).items():
        assert found.lists[topic].ids == hits.ids, topic
        assert found.lists[topic].scores == pytest.approx(hits.scores)
    assert (found.name, found.task) == ("e", 1)


def test_judgments_of_a_topic_never_reach_its_own_fold():
    runs, grades = make_world()
    fusion = Fusion("weighted", name="e", of=("r0", "r1", "r2"), folds=3)
    before = fuse(runs, grades, fusion).lists
    folds = deal_topics(TOPICS, 3)
    changed = 0
    for topic in TOPICS:
        turned = {d: 3 - g for d, g in grades[topic].items()}
        after = fuse(runs, {**grades, topic: turned}, fusion).lists
        for other in TOPICS:
            if folds[other] == folds[topic]:
                assert after[other].ids == before[other].ids
            changed += after[other].ids != before[other].ids
    assert changed  # elsewhere they do count


def test_without_judgments_weights_are_equal():
    runs, _ = make_world()
    fusion = Fusion("weighted", name="e", of=("r0", "r1"), folds=2)
    equal = fuse_runs(runs[:2], replace(fusion, folds=0), "e")
    found = fuse(runs[:2], {}, fusion)
    for topic, hits in equal.lists.items():
        assert found.lists[topic].ids == hits.ids


@pytest.mark.parametrize(("count", "steps"), [(1, 3), (2, 4), (3, 4), (4, 2)])
def test_the_grid_is_whole(count, steps):
    grid = list_weights(count, steps)
    assert len({*grid}) == len(grid)
    expected = [s for s in product(range(steps + 1), repeat=count) if sum(s) == steps]
    assert {tuple(round(w * steps) for w in ws) for ws in grid} == {*expected}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"folds": 1}, "folds of at least 2"),
        ({"folds": 3, "weights": [1.0, 2.0]}, "no weights beside folds"),
        ({"folds": 3, "method": "max"}, "no weights beside folds"),
    ],
)
def test_senseless_folds_are_refused(values, message):
    given = {"name": "e", "of": ["a", "b"], **values}
    with pytest.raises(ConfigurationError, match=message):
        read_parameters(Fusion, given, "evaluation.fusions[0]")


def test_fusions_are_made_by_whoever_is_asked():
    runs, grades = make_world()
    fusion = Fusion("rrf", name="e", of=("r0", "r1"), folds=2)
    made = add_fusions(runs, [fusion], lambda parts, f: fuse(parts, grades, f))
    assert [run.name for run in made] == ["r0", "r1", "r2", "e"]
