"""Negation, modality, coordination, quantifiers, existence, comparison."""

import pytest


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("FORMULA_0 does not divide FORMULA_1.", "divide-02"),
        ("FORMULA_0 has no real root.", "have-03"),
        ("No prime divides FORMULA_0.", "divide-02"),
        ("It is not true that FORMULA_0.", "true-01"),
        ("There is no integer FORMULA_0 with FORMULA_1.", "exist-01"),
    ],
)
def test_negation_denies_the_predicate(parse, text, denied):
    meaning = parse(text)
    assert meaning.tops == [denied]
    assert meaning.has(denied, "polarity", "-")


@pytest.mark.parametrize(
    ("text", "modal", "role", "below"),
    [
        ("FORMULA_0 can be written as FORMULA_1.", "possible-01", "ARG1", "write-01"),
        ("FORMULA_0 might converge.", "possible-01", "ARG1", "converge-01"),
        ("FORMULA_0 must be positive.", "obligate-01", "ARG2", "positive"),
        ("You should use induction.", "recommend-01", "ARG1", "use-01"),
    ],
)
def test_modals_stand_above_their_verb(parse, text, modal, role, below):
    meaning = parse(text)
    assert meaning.tops == [modal]
    assert meaning.has(modal, role, below)


def test_a_denied_modal_denies_the_possibility(parse):
    meaning = parse("FORMULA_0 cannot be zero.")
    assert meaning.has("possible-01", "polarity", "-")
    assert meaning.has("zero", "domain", "FORMULA_0")


def test_subjects_are_joined(parse):
    meaning = parse("FORMULA_0 and FORMULA_1 are coprime.")
    assert meaning.tops == ["coprime"]
    assert meaning.has("coprime", "domain", "and")


def test_three_members_are_numbered(parse):
    meaning = parse("FORMULA_0, FORMULA_1 and FORMULA_2 are integers.")
    assert [meaning.has("and", f"op{n + 1}", f"FORMULA_{n}") for n in range(3)] == (
        [True] * 3
    )


def test_joined_predicates_share_their_subject(parse):
    meaning = parse("FORMULA_0 is closed or open.")
    assert meaning.tops == ["or"]
    assert meaning.has("close-01", "ARG1", "FORMULA_0")
    assert meaning.has("open-02", "ARG1", "FORMULA_0")


@pytest.mark.parametrize(
    ("text", "noun", "quantifier"),
    [
        ("Every group is a set.", "group", "every"),
        ("All roots of FORMULA_0 are real.", "root", "all"),
        ("Some numbers are prime.", "number", "some"),
        ("For all FORMULA_0, FORMULA_1 is positive.", "FORMULA_0", "all"),
        ("For every FORMULA_0 there exists FORMULA_1.", "FORMULA_0", "every"),
    ],
)
def test_quantifiers_belong_to_their_noun(parse, text, noun, quantifier):
    assert parse(text).has(noun, "mod", quantifier)


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("Show that there is no FORMULA_0 such that FORMULA_1 is prime.", "show-01"),
        ("Prove that there are infinitely many primes.", "prove-01"),
    ],
)
def test_what_is_shown_is_the_existence(parse, text, verb):
    assert parse(text).has(verb, "ARG1", "exist-01")


@pytest.mark.parametrize(
    ("word", "concept"), [("greater", "great"), ("larger", "large")]
)
def test_comparison_has_both_sides(parse, word, concept):
    meaning = parse(f"FORMULA_0 is {word} than FORMULA_1.")
    assert meaning.tops == ["have-degree-91"]
    assert meaning.has("have-degree-91", "ARG1", "FORMULA_0")
    assert meaning.has("have-degree-91", "ARG2", concept)
    assert meaning.has("have-degree-91", "ARG3", "more")
    assert meaning.has("have-degree-91", "ARG4", "FORMULA_1")


def test_the_most_of_all(parse):
    meaning = parse("FORMULA_0 is the largest integer.")
    assert meaning.has("have-degree-91", "ARG3", "most")
    assert meaning.has("have-degree-91", "ARG1", "integer")
