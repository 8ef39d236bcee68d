import pytest

from mathamr_kedro.amr.builtin.coreference import find_antecedents, share_names
from mathamr_kedro.amr.builtin.fragments import Fragment
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import parse_sentences
from mathamr_kedro.amr.penman_io import read_graph


@pytest.mark.parametrize(
    ("text", "verb", "role", "noun"),
    [
        (
            "The function FORMULA_0 is continuous because it is differentiable.",
            "differentiate-01",
            "ARG1",
            "function",
        ),
        (
            "If FORMULA_0 is prime, then it divides FORMULA_1.",
            "divide-02",
            "ARG0",
            "FORMULA_0",
        ),
        (
            "The matrix FORMULA_0 is invertible if its determinant is nonzero.",
            "determinant",
            "poss",
            "matrix",
        ),
    ],
)
def test_a_pronoun_means_the_only_noun_before_it(parse, text, verb, role, noun):
    meaning = parse(text)
    assert meaning.has(verb, role, noun)
    assert meaning.concepts.count(noun) == 1
    assert "it" not in meaning.concepts


@pytest.mark.parametrize(
    "text",
    [
        "The limit of the sequence is zero because it is bounded.",  # which of two?
        "Euler proved the theorem, and he published it.",
        "FORMULA_0 divides it.",
    ],
)
def test_an_unsafe_pronoun_is_left_alone(text):
    skeleton = Skeleton(next(parse_sentences([text])))
    fragments = {i: Fragment((word,)) for i, word in enumerate(skeleton.words)}
    assert "it" in skeleton.words
    assert find_antecedents(skeleton, fragments) == {}


def test_an_empty_subject_means_nothing(parse):
    meaning = parse("Since FORMULA_0 is odd, it is clear that FORMULA_1 holds.")
    assert not any(
        meaning.has(clear, "ARG1", "FORMULA_0") for clear in ("clear-06", "clear")
    )


def test_people_and_formulas_are_one_node_in_a_text(parse):
    meaning = parse(
        "Augustin Cauchy proved FORMULA_0. Then Cauchy used FORMULA_0 again."
    )
    assert meaning.concepts.count("person") == 1
    assert meaning.concepts.count("FORMULA_0") == 1
    assert meaning.has("prove-01", "ARG0", "person")
    assert meaning.has("use-01", "ARG0", "person")


def test_i_is_one_within_a_sentence(parse):
    meaning = parse("I think that I can prove my theorem.")
    assert meaning.concepts.count("i") == 1


def test_other_kinds_or_names_are_other_things():
    graph = read_graph(
        '(a / and :op1 (p / person :name (n / name :op1 "Abel"))'
        ' :op2 (p2 / prize :name (n2 / name :op1 "Abel"))'
        ' :op3 (p3 / person :name (n3 / name :op1 "Gauss")))'
    )
    assert share_names(graph) == graph
