"""What a word may mean: its frames, those with a particle, and what it looks like."""

from __future__ import annotations

import pytest

from mathamr_kedro.amr.builtin.concepts import find_candidates
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import Token
from mathamr_kedro.amr.builtin.words import Lexicon

LEXICON = Lexicon(
    frames={"carry-01": "01", "carry-out-03": "01", "carry-on-02": "01"},
    derived={"carrier": ("carry",)},
    actors={},
)


def find(*tokens, at=0):
    return find_candidates(Skeleton(tokens), at, LEXICON, ["seen-before"])


def test_a_verb_with_a_particle_has_the_frames_of_both():
    found = find(
        Token("Carry", "carry", "VB", "VERB", "ROOT", -1),
        Token("out", "out", "RP", "ADP", "prt", 0),
    )
    kinds = {"carry-out-03": "particle0", "carry-01": "frame0", "seen-before": "seen"}
    assert kinds.items() <= found.items()
    assert "carry-on-02" not in found


@pytest.mark.parametrize(
    ("token", "label", "kind"),
    [
        (Token("carrier", "carrier", "NN", "NOUN", "ROOT", -1), "carry-01", "derived0"),
        (Token("frob", "frob", "VB", "VERB", "ROOT", -1), "frob-01", "made-frame"),
        (Token("frob", "frob", "NN", "NOUN", "ROOT", -1), "frob", "lemma"),
    ],
)
def test_a_word_may_mean_what_it_comes_from(token, label, kind):
    assert find(token)[label] == kind


def test_only_verbs_get_frames_that_nobody_knows():
    assert "frob-01" not in find(Token("frob", "frob", "NN", "NOUN", "ROOT", -1))


@pytest.mark.parametrize(
    ("word", "pos", "denied"),
    [
        ("unequal", "ADJ", ["(equal* :polarity -)"]),
        ("unfit", "ADJ", ["(fit* :polarity -)"]),
        ("even", "ADJ", []),  # no prefix
        ("unit", "NOUN", []),  # what is left is too short
        ("unfold", "VERB", []),
    ],
)
def test_a_negative_prefix_denies_what_is_left_of_the_word(word, pos, denied):
    found = find(Token(word, word, "", pos, "ROOT", -1))
    assert [label for label, kind in found.items() if kind == "prefix"] == denied
