import pytest


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Use the Cauchy-Schwarz inequality.", ["Cauchy-Schwarz"]),
        ("By the Cauchy–Schwarz inequality, FORMULA_0 holds.", ["Cauchy–Schwarz"]),
        ("The Schwarz inequality holds.", ["Schwarz"]),
    ],
)
def test_an_inequality_has_its_name(parse, text, name):
    meaning = parse(text)
    assert meaning.has("inequality", "name", "name")
    assert "person" not in meaning.concepts
    parts = [a.value for a in meaning.graph.attributes if a.role.startswith("op")]
    assert parts == [f'"{part}"' for part in name]


@pytest.mark.parametrize(
    ("title", "parts"),
    [
        ("Fermat's Last Theorem", ['"Fermat\'s"', '"Last"', '"Theorem"']),
        ("the Mean Value Theorem", ['"Mean"', '"Value"', '"Theorem"']),
    ],
)
def test_titles_in_capitals_are_names_as_a_whole(parse, title, parts):
    meaning = parse(f"This follows from {title}.")
    assert meaning.has("follow-02", "ARG2", "theorem")
    assert meaning.has("theorem", "name", "name")
    assert [a.value for a in meaning.graph.attributes] == parts


def test_a_large_noun_alone_is_no_name(parse):
    meaning = parse("The Theorem holds.")
    assert meaning.has("hold-01", "ARG1", "theorem")
    assert "name" not in meaning.concepts


def test_a_rule_belongs_to_its_person(parse):
    meaning = parse("Apply L'Hôpital's rule to FORMULA_0.")
    assert meaning.tops == ["apply-02"]
    assert meaning.has("apply-02", "ARG1", "rule")
    assert meaning.has("rule", "poss", "person")
    assert meaning.has("name", "op1", '"L\'Hôpital"')


def test_a_single_letter_is_a_variable(parse):
    assert parse("We know that R is closed.").has("variable", "name", "name")
