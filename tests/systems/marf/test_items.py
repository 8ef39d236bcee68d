"""Posts, topics and formulas as MaRF reads them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.systems.marf.items import Item
from mathamr_kedro.systems.marf.vocabulary import TokenVocabulary
from tests.systems.marf.conftest import make_post, make_topic

TOKENS = st.lists(st.lists(st.sampled_from("abc"), max_size=4), max_size=12)


def test_a_post_has_its_latex_back_and_formulas_beside() -> None:
    post = make_post("17", "answer", "see", [r"\dfrac12", "x^30"])
    item = Item.of_post(post, 6)
    assert item.text == r"see $\dfrac12$ $x^30$"
    assert [" ".join(f) for f in item.formulas] == [
        r"\frac { 1 } { 2 }", "x ^ { 3 } 0",
    ]  # fmt: skip


def test_a_topic_asks_by_its_longest_formula() -> None:
    item = Item.of_post(make_topic("A.1", "why", ["x", "x+y", "z"]), 1)
    assert (item.key, item.formulas) == ("A.1", (("x", "+", "y"),))


def test_a_formula_is_its_own_text() -> None:
    item = Item.of_formula(FormulaInstance("7", "v", "17", "x^30"))
    assert (item.text, len(item.formulas)) == ("$x^30$", 1)
    assert Item.of_formula(FormulaInstance("7", "v", "17", "")).formulas == ()


@given(TOKENS, st.integers(1, 6), st.text(max_size=3))
def test_chosen_formulas_are_few_and_different_and_the_same_again(
    formulas, number, key
) -> None:
    chosen = Item.choose_formulas(formulas, number, key)
    different = {tuple(f) for f in formulas} - {()}
    assert len(chosen) == len(set(chosen)) == min(number, len(different))
    assert set(chosen) <= different
    assert chosen == Item.choose_formulas(formulas, number, key)
    if number == 1 and chosen:
        assert len(chosen[0]) == max(map(len, different))


def test_posts_choose_different_formulas() -> None:
    formulas = [[letter] for letter in "abcdefghijklmnop"]
    assert len({(Item.choose_formulas(formulas, 6, f"q{n}")) for n in range(20)}) > 10


def test_the_rarest_tokens_share_a_number(tmp_path) -> None:
    vocabulary = TokenVocabulary.count([["x", "+", "x"], ["y", "+"]], 2, longest=3)
    assert vocabulary.number(["x", "+", "y", "x"]).tolist() == [2, 1, 0]
    vocabulary.save(tmp_path)
    again = TokenVocabulary.load(tmp_path)
    assert len(again) == len(vocabulary) == 3
    np.testing.assert_array_equal(again.number(["x", "?"]), [2, 0])


def test_a_bad_vocabulary_is_named(tmp_path) -> None:
    with pytest.raises(MissingInputError, match=r"vocabulary\.json"):
        TokenVocabulary.load(tmp_path)
    (tmp_path / "vocabulary.json").write_text("[")
    with pytest.raises(MalformedInputError, match=r"vocabulary\.json"):
        TokenVocabulary.load(tmp_path)
