"""The whole system on the embedded sample."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.formula import FormulaTrees
from mathamr_kedro.systems import read_system
from mathamr_kedro.systems.formula_rgcn.search import NAME
from tests.systems.formula_rgcn.conftest import SMALL, make_topic
from tests.systems.trained import SystemFolder

VALUES = {"model": SMALL}


def build(sample, folder, values):
    made = SystemFolder.create(folder, NAME, values, 42, sample.sources)
    made.train()
    counts = made.index(sample.sources)
    return made, counts, made.open(sample.sources)[2]


@pytest.fixture(scope="module")
def trained(sample, tmp_path_factory):
    return build(sample, tmp_path_factory.mktemp("systems"), VALUES)


def average_precision(sample, ranker):
    """Of only judged formulas, grades 2 and 3 counting as relevant."""
    found = []
    for topic, hits in zip(sample.topics, ranker(sample.topics, 1000), strict=True):
        grades = sample.grades[topic.topic_id]
        judged = [grades[v] >= 2 for v in hits.visual_ids if v in grades]
        places = np.flatnonzero(judged) + 1
        if len(places):
            found.append(np.mean((np.arange(len(places)) + 1) / places))
    return float(np.mean(found))


def shuffle_precision(sample):
    random = np.random.default_rng(0)
    found = []
    for grades in sample.grades.values():
        places = np.flatnonzero(random.permutation([g >= 2 for g in grades.values()]))
        if len(places):
            found.append(np.mean((np.arange(len(places)) + 1) / (places + 1)))
    return float(np.mean(found))


@pytest.mark.slow
def test_it_learns_and_ranks_far_above_chance(sample, trained):
    made, _, rankers = trained
    first, *_, last = made.train()
    assert last["loss"] < first["loss"] - 0.3
    assert last["accuracy"] > first["accuracy"] + 0.05
    chance = shuffle_precision(sample)
    assert all(average_precision(sample, r) > chance + 0.2 for r in rankers.values())


def test_rankers_have_the_names_of_the_paper(sample, trained):
    _, counts, rankers = trained
    assert list(rankers) == [
        NAME,
        *(f"{NAME}/{w}" for w in "slg opg avg f1 rrf".split()),
    ]
    chosen = {f.visual_id for f in sample.sources.formulas()}
    assert counts["formulas"] == len(chosen)
    assert counts["bytes"] > 0 and counts["opg_nodes"] > len(chosen) / 2
    (hits,) = rankers[NAME](sample.topics[:1], 1000)
    assert len(set(hits.visual_ids)) == len(hits.visual_ids)
    assert list(hits.scores) == sorted(hits.scores, reverse=True)
    posts = {f.formula_id: f.post_id for f in sample.sources.formulas()}
    assert hits.post_ids == [posts[i] for i in hits.ids]


@pytest.mark.parametrize("way", ["slg", "opg", "avg", "f1"])
def test_scores_are_means_over_matched_nodes(sample, trained, way):
    """Eq. 4 and its fusions, from the alignment that is explained."""
    _, _, rankers = trained
    topic = sample.topics[3]
    (hits,) = rankers[f"{NAME}/{way}"]([topic], 5)
    for name, score in hits:
        by = {m.kind: m.mean for m in rankers[NAME].explain(topic, name)}
        a, b = by["slg"], by["opg"]
        fused = {"slg": a, "opg": b, "avg": (a + b) / 2, "f1": 2 * a * b / (a + b)}
        assert score == pytest.approx(fused[way], rel=5e-3)  # stored in half precision


def test_sums_of_the_paper_count_each_query_node(sample, trained):
    made, _, rankers = trained
    values = {**VALUES, "search": {"normalise": False}}
    base = made.folder.parent.parent
    summed = SystemFolder.create(base, NAME, values, 42, sample.sources)
    summed.index(sample.sources)
    topic, way = sample.topics[3], f"{NAME}/opg"
    (means,) = rankers[way]([topic], 5)
    (sums,) = summed.open(sample.sources)[2][way]([topic], 5)
    (_, operators) = rankers[NAME].explain(topic, sums.ids[0])
    assert sums.ids == means.ids
    assert sums.scores == pytest.approx(means.scores * len(operators.partners))
    assert sums.scores[0] == pytest.approx(operators.score, rel=5e-3)


def test_a_post_stands_for_its_best_formula(sample, trained):
    _, _, rankers = trained
    topic = sample.topics[3]
    (hits,) = rankers[NAME]([topic], 1)
    by_post = rankers[NAME].explain(topic, hits.post_ids[0])
    by_formula = rankers[NAME].explain(topic, hits.ids[0])
    means = [sum(m.mean for m in found) for found in (by_post, by_formula)]
    assert means[0] >= means[1]


def test_max_takes_the_better_of_both_scores(sample, trained):
    _, _, rankers = trained
    lists = [rankers[f"{NAME}/{k}"](sample.topics[:3], 1000) for k in ("slg", "opg")]
    fused = rankers[NAME](sample.topics[:3], 1000)
    for first, second, both in zip(*lists, fused, strict=True):
        one, other = dict(first), dict(second)
        for name, score in both:
            assert score == pytest.approx(max(one[name], other[name]), abs=1e-6)


def test_few_candidates_are_completed_by_the_other_representation(
    sample, trained, monkeypatch
):
    _, _, rankers = trained
    (every,) = rankers[f"{NAME}/avg"](sample.topics[:1], 1000)
    # Fewer than the sample has formulas.
    monkeypatch.setattr("mathamr_kedro.systems.formula_rgcn.search._CANDIDATES", 20)
    (mine,) = rankers[f"{NAME}/avg"](sample.topics[:1], 10)
    known = dict(every)
    assert all(score == pytest.approx(known[name]) for name, score in mine)


def test_ranks_are_fused_by_their_reciprocals(sample, trained):
    _, _, rankers = trained
    lists = [rankers[f"{NAME}/{k}"](sample.topics[:2], 1000) for k in ("slg", "opg")]
    for *both, fused in zip(*lists, rankers[f"{NAME}/rrf"](sample.topics[:2], 1000),
                            strict=True):  # fmt: skip
        for name, score in fused:
            places = [hits.ids.index(name) for hits in both if name in hits.ids]
            assert score == pytest.approx(sum(1 / (61 + p) for p in places), abs=1e-8)


def test_one_representation_is_searched_alone(sample, tmp_path):
    values = {"model": {**SMALL, "pairs": "opg", "num_epochs": 1}}
    _, counts, rankers = build(sample, tmp_path, values)
    assert list(rankers) == [NAME]
    assert "slg_nodes" not in counts
    (matches,) = rankers[NAME].explain(
        sample.topics[0], rankers[NAME](sample.topics[:1], 1)[0].ids[0]
    )
    assert matches.kind == "opg"


def test_queries_without_trees_find_nothing(sample, trained):
    made, _, _ = trained
    given = sample.sources.trees_of

    def find(formula):
        if formula.formula_id == "q_none":
            return None
        if formula.formula_id == "q_slt":
            return FormulaTrees(given(formula).slt, None, {})
        return given(formula)

    rankers = made.open(replace(sample.sources, trees_of=find))[2]
    topics = [make_topic("none", "x"), make_topic("slt", "x^2+1"), sample.topics[0]]
    for name, ranker in rankers.items():
        none, layout, both = ranker(topics, 10)
        assert len(none) == 0, name
        assert len(layout) == (0 if name == f"{NAME}/opg" else 10), name
        assert len(both) == 10, name


def test_a_formula_that_is_not_indexed_is_refused(sample, trained):
    with pytest.raises(MissingInputError, match="'nobody'"):
        trained[2][NAME].explain(sample.topics[0], "nobody")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"model": {"pairs": "iner"}}, "inner"),
        ({"model": {"batch_size": 1}}, "batch_size of at least 2"),
        ({"model": {"learning_rate": 0.0}}, "learning_rate above 0"),
        ({"search": {"fusion": "sum"}}, "max"),
    ],
)
def test_wrong_parameters_are_refused(values, message):
    with pytest.raises(ConfigurationError, match=message):
        read_system(NAME, values)


@pytest.mark.slow
def test_training_needs_torch_and_numpy_only(sample, tmp_path):
    made = SystemFolder.create(
        tmp_path, NAME, {"model": {**SMALL, "num_epochs": 1}}, 42, sample.sources
    )
    hidden = ["pyarrow", "penman", "kedro", "pandas", "lxml", "spacy", "qdrant_client"]
    code = f"""
import sys
sys.modules.update(dict.fromkeys({hidden!r}))
from mathamr_kedro.systems.__main__ import main
sys.exit(main({made.arguments!r}))
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(json.loads((made.folder / "history.json").read_text())) == 1
