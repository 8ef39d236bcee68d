"""Operators of a typed query: what is read, and which posts will do."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.records import FormulaMention, Post
from mathamr_kedro.search.operators import Operators, read_operators

QUESTION = Post("1", "question", "1", title="Primes", tags=("number-theory",),
                text="Primes Are there infinitely many prime numbers?")  # fmt: skip
ANSWER = Post(
    "2", "answer", "1", "1", text="Euclid's  proof: FORMULA_0 is no multiple.",
    formula_map=(FormulaMention("FORMULA_0", "f", "v", "n!+1", 17, 26),),
)  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("prime numbers", Operators("prime numbers")),
        ("non-zero  x -y", Operators("non-zero  x -y")),  # mathematics, and as it was
        ("$a -bcd$ \\(+ab\\)", Operators("$a -bcd$ \\(+ab\\)")),
        ("primes -twin", Operators("primes", excluded=("twin",))),
        ("+Euclid's proof", Operators("Euclid's proof", required=("Euclid's",))),
        ('"prime ideal" ring', Operators("prime ideal ring", ("prime ideal",))),
        ("tag:Number-Theory", Operators("number theory", tags=("number-theory",))),
        ('tag:"number theory" x', Operators("x", tags=("number-theory",))),
        ("kind:Lemma flat", Operators("flat", kinds=("lemma",))),
    ],
)
def test_a_query_is_read(typed, read):
    assert read_operators(typed) == read


def test_a_long_question_is_prose():
    text = 'Why is it called "flat" ' + "and so on " * 10 + "-really"
    assert read_operators(text) == Operators(text)


@pytest.mark.parametrize(
    ("typed", "is_kept"),
    [
        ('"euclid\'s proof"', True),
        ('"proof euclid"', False),
        ('"proof: $n!+1$ is"', True),
        ("+numbers", True),  # its question has the word, in another form
        ("+rings", False),
        ("x -proofs", False),
        ("x -rings", True),
        ("x tag:number-theory", True),
        ("x tag:algebra", False),
        ("+proof -ring tag:number-theory", True),
    ],
)
def test_a_post_will_do_with_its_question(typed, is_kept):
    assert read_operators(typed).allow(ANSWER, QUESTION) is is_kept


def test_filters_add_up():
    asked = read_operators("+proof")
    never = asked.restrict(lambda post, question: False)
    assert never is not None and not never(ANSWER, QUESTION)
    assert read_operators("proof").restrict(None) is None


@pytest.mark.parametrize(("tag", "near"), [("theory", ["number-theory"]), ("ring", [])])
def test_tags_that_hold_what_was_asked_for_are_named(tag, near):
    asked = read_operators(f"primes tag:{tag}")
    assert asked.list_near_tags([ANSWER, QUESTION]) == near
