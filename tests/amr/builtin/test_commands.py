"""Prove, show, compute: what the reader is told to do."""

import pytest


def test_a_denied_predicate_keeps_its_formula(parse):
    meaning = parse("Prove that FORMULA_0 is not even.")
    assert meaning.tops == ["prove-01"]
    assert meaning.has("prove-01", "ARG0", "you")
    assert meaning.has("prove-01", "ARG1", "even-02")
    assert meaning.has("even-02", "polarity", "-")
    assert meaning.has("even-02", "ARG1", "FORMULA_0")
    assert not meaning.has("prove-01", "ARG0", "FORMULA_0")


@pytest.mark.parametrize(
    ("verb", "frame"), [("Show", "show-01"), ("Prove", "prove-01")]
)
def test_a_claim_may_lack_its_that(parse, verb, frame):
    for text in (f"{verb} that FORMULA_0 converges.", f"{verb} FORMULA_0 converges."):
        meaning = parse(text)
        assert meaning.tops == [frame]
        assert meaning.has(frame, "ARG1", "converge-01")
        assert meaning.has("converge-01", "ARG1", "FORMULA_0")


def test_a_formula_can_be_the_claim(parse):
    assert parse("Show that FORMULA_0.").has("show-01", "ARG1", "FORMULA_0")
    assert parse("Prove FORMULA_0.").has("prove-01", "ARG1", "FORMULA_0")


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ("Compute FORMULA_0.", "compute-01"),
        ("Differentiate FORMULA_0.", "differentiate-01"),
        ("Expand FORMULA_0.", "expand-01"),
        ("Simplify FORMULA_0.", "simplify-01"),
        ("Solve FORMULA_0.", "solve-01"),
        ("Then evaluate FORMULA_0.", "evaluate-01"),
    ],
)
def test_commands_take_the_formula_as_object(parse, text, frame):
    meaning = parse(text)
    assert meaning.tops == [frame]
    assert meaning.has(frame, "mode", "imperative")
    assert meaning.has(frame, "ARG0", "you")
    assert meaning.has(frame, "ARG1", "FORMULA_0")


def test_two_commands_share_their_reader(parse):
    meaning = parse("Compute FORMULA_0 and simplify the result.")
    assert meaning.tops == ["and"]
    assert meaning.has("and", "op1", "compute-01")
    assert meaning.has("and", "op2", "simplify-01")
    assert meaning.concepts.count("you") == 1
    assert sum(a.role == "mode" for a in meaning.graph.attributes) == 2


def test_a_forbidden_thing_is_a_command_too(parse):
    meaning = parse("Do not use induction.")
    assert meaning.has("use-01", "mode", "imperative")
    assert meaning.has("use-01", "polarity", "-")


def test_what_one_can_do_is_no_command(parse):
    meaning = parse("We can add FORMULA_0 and divide by FORMULA_1.")
    assert not any(a.role == "mode" for a in meaning.graph.attributes)
