"""One query by any system gives the list that evaluation's run has."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.runs import add_fusions, run_system
from mathamr_kedro.systems import Fusion, Query, Rankings
from mathamr_kedro.systems.ensemble import Ensemble
from mathamr_kedro.systems.mathamr_plus import MathAMRPlusIndex, Strategy
from mathamr_kedro.systems.rankings import Ranking
from mathamr_kedro.vectors import ExactIndex
from tests.vectors.conftest import draw_query

ENTRY = draw_query(0)
QUERY = Query(ENTRY.key, "prime", entry=ENTRY)
STRATEGIES = {
    "plain": Strategy(name="plain"),
    "with_question": Strategy(
        name="with_question", with_question=0.5, with_document=0.2, sentence_weight=0.3
    ),
}
FUSIONS = (
    Fusion("mean", name="both", of=("with_question", "words")),
    Fusion("rrf", name="three", of=("both", "words", "plain")),
)
POSTS = frozenset({"posts"})


class Words:
    """A system that finds every third post, and notes how deep it was asked."""

    def __init__(self, store):
        self.keys = sorted(store.keys(), key=int)[::3]
        self.asked = []

    def __call__(self, queries, depth):
        self.asked.append(depth)
        scores = np.arange(len(self.keys), 0, -1.0)
        return [Hits(self.keys, scores).top(depth) for _ in queries]


@pytest.fixture
def words(store):
    return Words(store)


@pytest.fixture
def vectors(store):
    keys = sorted(store.keys(), key=int)
    questions = [key for key in keys if int(key) % 3 == 0]
    question_of = {key: questions[int(key) % 5] for key in keys if int(key) % 2}
    return MathAMRPlusIndex(ExactIndex(store), STRATEGIES, question_of.items)


@pytest.fixture
def members(vectors, words):
    found = {
        name: Ranking(name, "strategy", POSTS, lambda: vectors) for name in STRATEGIES
    }
    rankings = Rankings({"posts": {"words": words}})
    return found | {"words": Ranking("words", "baseline", POSTS, lambda: rankings)}


@pytest.fixture
def open_by(members):
    return lambda system: Ensemble(members.values(), FUSIONS, {"posts": system})


@pytest.fixture
def runs(members):
    """What evaluation would write."""
    alone = [run_system(m.open(), name, [QUERY], 1000) for name, m in members.items()]
    return {r.name: r.lists[QUERY.key] for r in add_fusions(alone, FUSIONS)}


SYSTEMS = ["plain", "with_question", "words", "both", "three"]


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("top", [3, 40])
def test_ranking_is_that_of_the_run(open_by, runs, system, top):
    hits = open_by(system).find(QUERY, top).hits.top(top)
    assert hits.ids == runs[system].top(top).ids
    assert hits.scores == pytest.approx(runs[system].top(top).scores)


@pytest.mark.parametrize("system", SYSTEMS)
def test_parts_of_a_score_add_up_to_it(open_by, system):
    found = open_by(system).find(QUERY, 12)
    for key, score in found.hits.top(12):
        parts = found.explain(key)
        assert sum(part.share for part in parts) == pytest.approx(score, abs=1e-6)
        for part in parts:
            if part.terms and not math.isnan(part.score):
                total = sum(t.weight * t.similarity for t in part.terms)
                assert total == pytest.approx(part.score, abs=1e-6)
    fused = {f.name: list(f.of) for f in FUSIONS}
    assert [part.system for part in parts] == fused.get(system, [system])


def test_what_a_system_did_not_find_has_no_share(open_by, words, store):
    lost = next(key for key in store.keys() if key not in words.keys)
    (part,) = open_by("words").find(QUERY).explain(lost)
    assert (part.share, math.isnan(part.score), part.terms) == (0.0, True, ())
    first, second = open_by("both").find(QUERY).explain(lost)
    assert (second.share, math.isnan(second.score)) == (0.0, True)
    assert first.terms


def test_what_was_found_is_explained_without_asking_again(open_by, words):
    search = open_by("words")
    found = search.find(QUERY, 3)
    search.find(Query("other", entry=draw_query(5)), 3, "plain")
    assert found.explain(found.hits.ids[0])
    assert len(words.asked) == 1


def test_any_system_can_be_asked_for_one_query(open_by, runs):
    search = open_by("with_question")
    for system in SYSTEMS:
        assert search.find(QUERY, 5, system).hits.top(5).ids == runs[system].top(5).ids
    assert search.choose("posts") == "with_question"


def test_parts_go_as_deep_as_is_asked_for(open_by, words):
    search = open_by("both")
    search.find(QUERY, 3)
    search.find(QUERY, 3, depth=2000)
    assert words.asked == [1000, 2000]


def test_indexes_are_opened_when_they_are_first_asked_and_once(members):
    opened = []

    def open_words():
        opened.append("words")
        return Rankings({"posts": {"words": lambda queries, depth: [Hits([], [])]}})

    members["words"] = replace(members["words"], open=open_words)
    search = Ensemble(members.values(), FUSIONS, {"posts": "both"})
    assert opened == []
    search.warm_up("posts")
    search.find(QUERY, 3, "words")
    assert opened == ["words"]


def test_what_a_first_query_would_wait_for_is_loaded_in_advance(members):
    warm = []

    class Slow(Rankings):
        def warm_up(self):
            warm.append("words")

    members["words"] = replace(members["words"], open=lambda: Slow({}))
    search = Ensemble(members.values(), FUSIONS, {"posts": "plain"})
    search.warm_up("posts")
    assert warm == []
    search.warm_up("posts", "both")  # a fusion of which it is a part
    assert warm == ["words"]


def test_systems_are_listed_with_what_they_are(open_by):
    systems = open_by("plain").list_systems("posts")
    kinds = [systems[n] for n in ("plain", "words", "both")]
    assert kinds == ["strategy", "baseline", "fusion"]


def test_unknown_systems_are_refused_with_the_nearest_name(open_by):
    with pytest.raises(ConfigurationError, match="did you mean 'with_question'"):
        open_by("with_questions")
    with pytest.raises(ConfigurationError, match="did you mean 'words'"):
        open_by("plain").find(QUERY, 5, "word")
    with pytest.raises(ConfigurationError, match=r"`kedro run --env demo\+marf` does"):
        open_by("marf/context")


def test_formulas_are_fused_by_visual_ids(store):
    formula = FormulaInstance("q", "", "query", "x")
    query = Query("query", formula=formula)
    first = FormulaHits(["1", "2"], np.array([2.0, 1.0]), ["a", "b"], ["p", "q"])
    second = FormulaHits(["9"], np.array([5.0]), ["b"], ["r"])
    rankings = [
        Ranking(
            name,
            "system",
            frozenset({"formulas"}),
            lambda hits=hits, name=name: Rankings(
                {"formulas": {name: lambda queries, depth: [hits]}}
            ),
        )
        for name, hits in (("first", first), ("second", second))
    ]
    fusion = Fusion("mean", name="both", of=("first", "second"))
    found = Ensemble(rankings, [fusion], {"formulas": "both"}).find(query)
    hits = found.hits
    assert (hits.ids, hits.visual_ids) == (["1", "2"], ["a", "b"])
    shares = [part.share for part in found.explain("b")]
    assert shares == pytest.approx([0.0, 0.5])
