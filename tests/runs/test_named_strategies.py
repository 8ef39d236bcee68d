"""What a score of a strategy is the sum of, against the score itself."""

from __future__ import annotations

import pytest

from mathamr_kedro.runs import NamedStrategy, search_posts
from mathamr_kedro.search.engines.exact import ExactIndex
from tests.search.conftest import draw_query


@pytest.mark.parametrize(
    "strategy",
    [
        NamedStrategy(),
        NamedStrategy(retrieval="single"),
        NamedStrategy(retrieval="rerank", candidates=30),
        NamedStrategy(sentence_weight=0.3),
        NamedStrategy(with_question=1.0),
        NamedStrategy(with_question=0.5, with_document=0.2, sentence_weight=0.3),
    ],
    ids=lambda strategy: strategy.name,
)
def test_terms_add_up_to_the_score(store, strategy):
    keys = sorted(store.keys(), key=int)
    questions = [key for key in keys if int(key) % 3 == 0]
    question_of = {key: questions[int(key) % 5] for key in keys if int(key) % 2}
    query = draw_query(3)
    (hits,) = search_posts(ExactIndex(store), store, strategy, question_of, [query], 20)
    owners = set()
    for key, score in hits:
        terms = strategy.list_terms(query, key, store, question_of)
        total = sum(term.weight * term.similarity for term in terms)
        assert total == pytest.approx(score, abs=1e-6)
        asked = question_of.get(key, key) if strategy.with_question else key
        assert {term.owner for term in terms} <= {key, asked}
        owners |= {term.owner == key for term in terms}
    assert owners == ({True, False} if strategy.with_question else {True})


def test_weights_of_a_query_add_up_to_one():
    weights = NamedStrategy(sentence_weight=0.3).weigh(draw_query(1))
    assert weights.sum() == pytest.approx(1.0)
    assert weights.tolist() == pytest.approx(
        [1 / 3.6, 1 / 3.6, 0.3 / 3.6, 0.3 / 3.6, 1 / 3.6]
    )
