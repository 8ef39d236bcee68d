"""How close is close: what words and vectors give to it."""

import pytest

from mathamr_kedro.search.closeness import FAR, list_features, measure_closeness
from mathamr_kedro.systems.query import ScorePart, Term, WordShare


def list_parts(similarity, share):
    words = ScorePart("bm25", 1.0, share, words=(WordShare("ring", share),))
    term = Term(0, "post", 0, similarity, 1.0)
    return [words, ScorePart("mathamr_plus", 1.0, similarity, terms=(term,))]


def rate(similarity, share, known):
    return measure_closeness(list_features(list_parts(similarity, share), 1.0, known))


def test_words_stand_in_for_vectors_of_words_that_the_encoder_does_not_know():
    assert rate(0.95, 0.0, known=0.0) < FAR < rate(0.95, 0.0, known=1.0)
    assert rate(0.5, 0.9, known=0.0) > rate(0.5, 0.9, known=1.0) > FAR


def test_no_closeness_without_words_and_vectors():
    assert list_features(list_parts(0.5, 0.5)[:1], 1.0, 1.0) is None
    assert list_features(list_parts(0.5, 0.5)[1:], 1.0, 1.0) is None


@pytest.mark.parametrize("known", [0.0, 0.5, 1.0])
def test_closeness_is_a_chance(known):
    assert 0 <= rate(1.0, 1.0, known) <= 1
