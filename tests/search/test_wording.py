"""What is said about the words of a query that the index does not know."""

from __future__ import annotations

import pytest

from mathamr_kedro.search.wording import check_wording

POSTS = [
    "the inequality of Cauchy and Schwarz is what we need",
    "there are primes that the sum does not have",
    "a compact space is complete if it is what you think",
    "a rational number is not irrational",
    "rational or not",
    "heron's rule",
]


def count(word: str) -> int:
    return sum(word in post.lower().split() for post in POSTS)


def check(typed: str):
    return check_wording(typed, typed, count)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("Caucy-Schwarz", "cauchy-Schwarz"),
        ("Cauchy-Schwartz", "Cauchy-schwarz"),
        ("compcat space", "compact space"),
        ("prims", "primes"),
        ("irational", "irrational"),  # not "rational": few slip in the first letter
    ],
)
def test_a_slip_in_a_known_word_is_corrected(typed: str, meant: str) -> None:
    assert check(typed) == ((), meant)


def test_words_that_nothing_has_are_named() -> None:
    found = check("primes in Naples, pizza")
    assert found.did_you_mean is None
    assert found.warnings == ("nothing in the index has the words: naples, pizza",)
    assert check("the primes") == ((), None)
    assert check("which rule of Heron") == ((), None)


@pytest.mark.parametrize(
    ("typed", "language"),
    [
        ("gibt es unendlich viele Primzahlen und wie beweist man das", "German"),
        ("pourquoi est-ce que la racine de deux est irrationnelle", "French"),
        ("¿por qué la raíz de dos es irracional?", "Spanish"),
        ("perché la radice di due non è razionale", "Italian"),
    ],
)
def test_another_language_than_that_of_the_index_is_named(typed, language) -> None:
    told = f"this seems to be {language}; the index is in English"
    assert check(typed) == ((told,), None)


def test_the_language_of_the_index_is_not_worth_a_word() -> None:
    assert check("is the sum of primes what we need?").warnings == ()
