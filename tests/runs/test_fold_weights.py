"""Cross-validated weights against a search that tries each of them as a run."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.evaluation.metrics import evaluate_run, protocol_of
from mathamr_kedro.runs import add_fusions
from mathamr_kedro.runs.fusions import fuse_by_folds, list_weights
from mathamr_kedro.systems.folds import ALL, deal_topics
from mathamr_kedro.systems.fusion import Fusion, fuse_runs
from mathamr_kedro.trec import Qrels, Run

PROTOCOL = protocol_of("1").with_measures(["nDCG'"])
TOPICS = [f"A.{n}" for n in range(1, 8)]
UNJUDGED = "A.9"


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
            tuple(n / fusion.steps for n in share)
            for share in product(range(fusion.steps + 1), repeat=len(runs))
            if sum(share) == fusion.steps
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
    fusion = Fusion(method, name="e", of=("r0", "r1", "r2"), folds=3, k=5)
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
        ({"folds": 3, "steps": 0}, "positive steps"),
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


def test_two_folds_and_one_step_are_the_fewest():
    fusion = Fusion("weighted", name="e", of=("a", "b"), folds=2, steps=1)
    assert (fusion.folds, fusion.steps) == (2, 1)
    assert Fusion("weighted", name="e", of=("a", "b")).steps == 4
