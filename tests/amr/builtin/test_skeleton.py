"""The dependency tree turned towards AMR, on trees written by hand."""

from __future__ import annotations

from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import Token


def test_a_condition_hangs_on_the_noun_before_it_though_that_looks_like_a_pronoun():
    skeleton = Skeleton([
        Token("Take", "take", "VB", "VERB", "ROOT", -1),
        Token("integers", "integer", "NNS", "NOUN", "dobj", 0),
        Token("such", "such", "JJ", "ADJ", "mark", 5),
        Token("that", "that", "WDT", "PRON", "mark", 5),
        Token("FORMULA_0", "FORMULA", "NNP", "PROPN", "nsubj", 5),
        Token("holds", "hold", "VBZ", "VERB", "advcl", 0),
    ])  # fmt: skip
    assert skeleton.parents == [-1, 0, 1, 2, 5, 2]
    assert skeleton.labels == ["ROOT", "dobj", "suchthat", "mark", "nsubj", "clause"]


def test_a_conjunction_that_joins_nothing_stays_where_it_is():
    skeleton = Skeleton([
        Token("FORMULA_0", "FORMULA", "NNP", "PROPN", "nsubj", 1),
        Token("holds", "hold", "VBZ", "VERB", "ROOT", -1),
        Token("and", "and", "CC", "CCONJ", "cc", 1),
    ])  # fmt: skip
    assert skeleton.parents == [1, -1, 1]
    assert skeleton.labels == ["nsubj", "ROOT", "cc"]


def test_members_that_nothing_joins_stay_where_they_are():
    skeleton = Skeleton([
        Token("Take", "take", "VB", "VERB", "ROOT", -1),
        Token("FORMULA_0", "FORMULA", "NNP", "PROPN", "dobj", 0),
        Token("FORMULA_1", "FORMULA", "NNP", "PROPN", "conj", 1),
    ])  # fmt: skip
    assert skeleton.parents == [-1, 0, 1]
    assert skeleton.labels == ["ROOT", "dobj", "conj"]
