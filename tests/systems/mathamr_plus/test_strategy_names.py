"""Names of strategies, what they refuse, and what their scores are the sum of."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.systems.mathamr_plus import Strategy
from mathamr_kedro.systems.mathamr_plus.index import list_terms
from mathamr_kedro.systems.mathamr_plus.strategies import search_posts
from mathamr_kedro.vectors.exact import ExactIndex
from tests.vectors.conftest import draw_query


@pytest.mark.parametrize(
    "strategy",
    [
        Strategy(),
        Strategy(retrieval="single"),
        Strategy(retrieval="rerank", candidates=30),
        Strategy(sentence_weight=0.3),
        Strategy(with_question=1.0),
        Strategy(with_question=0.5, with_document=0.2, sentence_weight=0.3),
    ],
    ids=lambda strategy: strategy.name,
)
def test_terms_add_up_to_the_score(store, strategy):
    keys = sorted(store.keys(), key=int)
    questions = [key for key in keys if int(key) % 3 == 0]
    question_of = {key: questions[int(key) % 5] for key in keys if int(key) % 2}
    query = draw_query(3)
    (hits,) = search_posts(ExactIndex(store), strategy, question_of, [query], 20)
    owners = set()
    for key, score in hits:
        terms = list_terms(strategy, query, key, store, question_of)
        total = sum(term.weight * term.similarity for term in terms)
        assert total == pytest.approx(score, abs=1e-6)
        asked = question_of.get(key, key) if strategy.with_question else key
        assert {term.owner for term in terms} <= {key, asked}
        owners |= {term.owner == key for term in terms}
    assert owners == ({True, False} if strategy.with_question else {True})


def test_weights_of_a_query_add_up_to_one():
    weights = Strategy(sentence_weight=0.3).weigh(draw_query(1))
    assert weights.sum() == pytest.approx(1.0)
    assert weights.tolist() == pytest.approx(
        [1 / 3.6, 1 / 3.6, 0.3 / 3.6, 0.3 / 3.6, 1 / 3.6]
    )


def test_names_of_strategies():
    assert Strategy("rerank", "hnsw", 5000).name == "rerank-5000-hnsw"
    assert Strategy(with_question=0.25).name == "maxsim-exact-question-0.25"
    mixed = Strategy(with_question=0.5, with_document=0.2)
    assert mixed.name == "maxsim-exact-question-0.5-document-0.2"
    assert Strategy(sentence_weight=0.3).name == "maxsim-exact-sentence-0.3"
    assert Strategy(name="mine").name == "mine"
    assert Strategy(query_parts="words").name == "maxsim-exact-words"
    assert Strategy("maxsim", "hnsw").name == "maxsim-hnsw"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"with_question": 1.5}, "with_question of at least 0 and at most 1"),
        ({"with_question": 0.5}, "or 'rerank'"),
        ({"with_document": -0.1}, "at least 0"),
        ({"with_document": 0.1}, "or 'rerank'"),
        ({"sentence_weight": 0.0}, "sentence_weight above 0"),
        ({"sentence_weight": 0.5}, "or 'rerank'"),
    ],
)
def test_impossible_strategies_are_refused(values, message):
    with pytest.raises(ConfigurationError, match=message):
        Strategy("single", **values)
