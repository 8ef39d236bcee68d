"""Let, suppose, such that, if ... then."""

import pytest


def test_let_makes_the_formula_what_is_said_of_it(parse):
    meaning = parse("Let FORMULA_0 be a prime number.")
    assert meaning.tops == ["let-01"]
    assert meaning.has("let-01", "mode", "imperative")
    assert meaning.has("let-01", "ARG1", "number")
    assert meaning.has("number", "domain", "FORMULA_0")
    assert meaning.has("number", "mod", "prime")


def test_let_joins_two_formulas(parse):
    meaning = parse("Let FORMULA_0 and FORMULA_1 be groups.")
    assert meaning.has("group", "domain", "and")
    assert meaning.has("and", "op1", "FORMULA_0")
    assert meaning.has("and", "op2", "FORMULA_1")


def test_let_of_a_formula_alone(parse):
    assert parse("Let FORMULA_0.").has("let-01", "ARG1", "FORMULA_0")


@pytest.mark.parametrize("opening", ["Suppose that", "Suppose", "Assume that"])
def test_suppositions_hold_a_clause(parse, opening):
    meaning = parse(f"{opening} FORMULA_0 is a finite group.")
    assert meaning.tops[0] in ("suppose-01", "assume-01", "assume-02")
    assert meaning.has(meaning.tops[0], "ARG1", "group")
    assert meaning.has("group", "domain", "FORMULA_0")


@pytest.mark.parametrize(
    ("text", "noun", "condition"),
    [
        ("There exists FORMULA_0 such that FORMULA_1.", "FORMULA_0", "FORMULA_1"),
        (
            "Find all integers FORMULA_0 such that FORMULA_1 is divisible by 3.",
            "integer",
            "divisible",
        ),
        ("Find a prime such that FORMULA_0 is even.", "prime", "even-02"),
    ],
)
def test_such_that_runs_from_the_noun_to_its_condition(parse, text, noun, condition):
    meaning = parse(text)
    assert meaning.has("cause-01", "ARG0", noun)
    assert meaning.has("cause-01", "ARG1", condition)


@pytest.mark.parametrize(
    ("text", "claim", "condition"),
    [
        ("If FORMULA_0, then FORMULA_1.", "FORMULA_1", "FORMULA_0"),
        ("If FORMULA_0 is odd, then FORMULA_1 is prime.", "prime", "odd"),
        ("If there is a root, then FORMULA_0 is zero.", "zero", "exist-01"),
        ("FORMULA_0 is prime if FORMULA_1 is odd.", "prime", "odd"),
    ],
)
def test_if_is_a_condition_of_the_claim(parse, text, claim, condition):
    meaning = parse(text)
    assert meaning.tops == [claim]
    assert any(
        meaning.has(claim, "condition", found)
        for found in (condition, f"{condition}-01", f"{condition}-02")
    )
    assert "then" not in meaning.concepts
