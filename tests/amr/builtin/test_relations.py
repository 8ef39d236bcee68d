"""Which words are joined: governors that have a meaning, and the way to them."""

from __future__ import annotations

from mathamr_kedro.amr.builtin.fragments import Fragment
from mathamr_kedro.amr.builtin.relations import Reduced
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import Token
from mathamr_kedro.amr.builtin.words import Lexicon

SUM, PART, ROOT = 0, 2, 4
SKELETON = Skeleton([
    Token("Sum", "sum", "NN", "NOUN", "ROOT", -1),
    Token("of", "of", "IN", "ADP", "prep", 0),
    Token("part", "part", "NN", "NOUN", "pobj", 1),
    Token("of", "of", "IN", "ADP", "prep", 2),
    Token("root", "root", "NN", "NOUN", "pobj", 3),
    Token("FORMULA_0", "FORMULA", "NNP", "PROPN", "formula", 4),
])  # fmt: skip


def reduce_to(*places: int) -> Reduced:
    fragments = {i: Fragment.read(f"({SKELETON.words[i]}*)") for i in places}
    return Reduced(SKELETON, fragments, Lexicon({}, {}, {}))


def test_words_without_a_meaning_are_on_the_way_to_the_governor():
    reduced = reduce_to(SUM, PART, ROOT)
    assert reduced.parents == {SUM: -1, PART: SUM, ROOT: PART}
    assert reduced.paths == {SUM: "ROOT", PART: "pobj<prep:of", ROOT: "pobj<prep:of"}


def test_a_long_way_is_known_by_its_first_four_steps():
    reduced = reduce_to(SUM, 5)
    assert reduced.parents[5] == SUM
    assert reduced.paths[5] == "formula<pobj<prep:of<pobj"
