"""Strategies as systems: their names, and what they refuse."""

from __future__ import annotations

import pytest

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.runs import NamedStrategy
from mathamr_kedro.search import Strategy


def test_names_of_strategies():
    assert NamedStrategy("rerank", "hnsw", 5000).name == "rerank-5000-hnsw"
    assert NamedStrategy(with_question=0.25).name == "maxsim-exact-question-0.25"
    mixed = NamedStrategy(with_question=0.5, with_document=0.2)
    assert mixed.name == "maxsim-exact-question-0.5-document-0.2"
    assert NamedStrategy(sentence_weight=0.3).name == "maxsim-exact-sentence-0.3"
    assert NamedStrategy(name="mine").name == "mine"
    assert NamedStrategy(query_parts="words").name == "maxsim-exact-words"
    both = NamedStrategy("combined", document_weight=0.5, sentence_weight=0.3)
    assert both.name == "combined-1000-exact-document-0.5-sentence-0.3"
    alone = NamedStrategy("maxsim", "hnsw", hnsw_walks="per_vector")
    assert alone.name == "maxsim-hnsw-per-vector"
    assert alone.mode.walks == "per_vector"
    plain = Strategy("single", depth=7, post_types=("document",))
    named = NamedStrategy.of(plain)
    assert (named.name, named.depth, named.post_types) == (
        "single-exact", 7, ("document",),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"with_question": 1.5}, "0 to 1"),
        ({"with_question": 0.5}, "'rerank' or"),
        ({"with_document": -0.1}, "at least 0"),
        ({"with_document": 0.1}, "'rerank' or"),
        ({"sentence_weight": 0.0}, "positive sentence_weight"),
        ({"sentence_weight": 0.5}, "'rerank' or"),
    ],
)
def test_impossible_strategies_are_refused(values, message):
    with pytest.raises(ConfigurationError, match=message):
        NamedStrategy("single", **values)


def test_weights_of_documents_belong_to_their_retrieval():
    with pytest.raises(ConfigurationError, match="Expected document_weight for"):
        NamedStrategy("combined", with_document=0.2)
    with pytest.raises(ConfigurationError, match="retrieval 'combined' for"):
        Strategy("maxsim", document_weight=0.5)
    with pytest.raises(ConfigurationError, match="at least 0"):
        Strategy("combined", document_weight=-1.0)
