import pytest


@pytest.mark.parametrize(
    ("text", "top"),
    [
        ("Is FORMULA_0 prime?", "prime"),
        ("Does FORMULA_0 converge?", "converge-01"),
        ("Is it true that FORMULA_0 converges?", "true-01"),
        ("Is there a closed form for FORMULA_0?", "exist-01"),
    ],
)
def test_yes_no_questions_ask_for_the_polarity(parse, text, top):
    meaning = parse(text)
    assert meaning.tops == [top]
    assert meaning.has(top, "polarity", "amr-unknown")


@pytest.mark.parametrize(
    ("text", "source", "role"),
    [
        ("What is FORMULA_0?", "FORMULA_0", "domain"),
        ("What is the derivative of FORMULA_0?", "derivative", "domain"),
        ("Who proved the theorem?", "prove-01", "ARG0"),
        ("How can I prove FORMULA_0?", "prove-01", "manner"),
        ("Why does FORMULA_0 diverge?", "cause-01", "ARG0"),
        ("Which functions are continuous?", "function", "mod"),
        ("How many roots does FORMULA_0 have?", "root", "quant"),
    ],
)
def test_question_words_stand_where_the_answer_would(parse, text, source, role):
    assert parse(text).has(source, role, "amr-unknown")


def test_a_statement_asks_nothing(parse):
    assert "amr-unknown" not in parse("FORMULA_0 is prime.").concepts
