"""Posts, topics and formulas as MaRF reads them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.base.vocabulary import Vocabulary
from mathamr_kedro.systems import Query
from mathamr_kedro.systems.marf.posts import (
    choose_formulas,
    number_tokens,
    read_formula,
    read_post,
)
from tests.systems.marf.conftest import make_post, make_topic

TOKENS = st.lists(st.lists(st.sampled_from("abc"), max_size=4), max_size=12)


def test_a_post_has_its_latex_back_and_formulas_beside() -> None:
    post = make_post("17", "answer", "see", [r"\dfrac12", "x^30"])
    item = read_post(post, 6)
    assert item.text == r"see $\dfrac12$ $x^30$"
    assert [" ".join(f) for f in item.formulas] == [
        r"\frac { 1 } { 2 }", "x ^ { 3 } 0",
    ]  # fmt: skip


def test_a_topic_asks_by_its_longest_formula() -> None:
    item = read_post(Query.of_topic(make_topic("A.1", "why", ["x", "x+y", "z"])), 1)
    assert (item.key, item.formulas) == ("A.1", (("x", "+", "y"),))


def test_a_formula_is_its_own_text() -> None:
    item = read_formula(FormulaInstance("7", "v", "17", "x^30"))
    assert (item.text, len(item.formulas)) == ("$x^30$", 1)
    assert read_formula(FormulaInstance("7", "v", "17", "")).formulas == ()


@given(TOKENS, st.integers(1, 6), st.text(max_size=3))
def test_chosen_formulas_are_few_and_different_and_the_same_again(
    formulas, number, key
) -> None:
    chosen = choose_formulas(formulas, number, key)
    different = {tuple(f) for f in formulas} - {()}
    assert len(chosen) == len(set(chosen)) == min(number, len(different))
    assert set(chosen) <= different
    assert chosen == choose_formulas(formulas, number, key)
    if number == 1 and chosen:
        assert len(chosen[0]) == max(map(len, different))


def test_posts_choose_different_formulas() -> None:
    formulas = [[letter] for letter in "abcdefghijklmnop"]
    assert len({(choose_formulas(formulas, 6, f"q{n}")) for n in range(20)}) > 10


def test_so_many_tokens_of_a_formula_are_read() -> None:
    vocabulary = Vocabulary(["[UNK]", "+", "x"])
    assert number_tokens(vocabulary, ["x", "+", "y"]).tolist() == [2, 1, 0]
    assert len(number_tokens(vocabulary, ["x"] * 500)) == 128
