import numpy as np
import pytest

from mathamr_kedro.amr.builtin.concepts import NAME, NEGATIVE, ORDINAL
from mathamr_kedro.amr.builtin.fragments import (
    make_named_fragments,
)
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import Token
from mathamr_kedro.amr.builtin.tables import Classifier


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


TYPES = Classifier(
    ("person", "city"), {"wparis": 1}, np.array([[0.0, 0.0], [0.0, 5.0]], np.float32)
)
"""Knows that Paris is a city, and nothing else."""


def say(text, label="compound"):
    """Return a sentence of words with their kinds, all hanging on the last one."""
    words = [word.split("/") for word in text.split()]
    end = len(words) - 1
    return Skeleton(
        [
            Token(form, form.lower(), "POS" if form == "'s" else kind, kind,
                  label if n < end else "ROOT", end if n < end else -1)
            for n, (form, kind) in enumerate(words)
        ]
    )  # fmt: skip


def name_all(text, *labels):
    """Return what each token with a fragment stands for: concept and name."""
    found = make_named_fragments(say(text), labels, TYPES)
    return {
        i: (fragment.concepts[0], *(value.strip('"') for *_, value in fragment.values))
        for i, fragment in sorted(found.items())
    }


@pytest.mark.parametrize(
    ("word", "kind"),
    [("R", "variable"), ("R.", "variable"), ("Paris", "city"), ("Euler", "person"),
     ("I", "person")],
)  # fmt: skip
def test_a_name_alone_is_of_the_kind_that_is_known_of_it(word, kind):
    found = name_all(f"{word}/PROPN exists/VERB", NAME, "exist-01")
    assert found == {0: (kind, word), 1: ("exist-01",)}


def test_a_formula_before_a_title_is_no_part_of_it():
    text = "by/ADP FORMULA_0/PROPN Fermat/PROPN 's/PART Last/ADJ Theorem/NOUN"
    found = name_all(text, "", "FORMULA_0", NAME, "", "last", "theorem")
    assert found == {1: ("FORMULA_0",), 5: ("theorem", "Fermat's", "Last", "Theorem")}


def test_a_title_begins_with_its_first_proper_noun():
    text = "New/ADJ Zorn/PROPN Lemma/NOUN"
    assert name_all(text, "new", NAME, NAME) == {
        0: ("new",),
        2: ("lemma", "Zorn", "Lemma"),
    }
    assert name_all("Zorn/PROPN Lemma/NOUN", NAME, NAME) == {
        1: ("lemma", "Zorn", "Lemma")
    }


def test_a_title_takes_in_no_other_names_of_its_sentence():
    text = "Zorn/PROPN Lemma/NOUN inspired/VERB Gauss/PROPN"
    found = name_all(text, NAME, NAME, "inspire-01", NAME)
    assert ("lemma", "Zorn", "Lemma") in found.values()
    text = "Gauss/PROPN proof/NOUN Zorn/PROPN Lemma/NOUN"
    found = name_all(text, NAME, "proof", NAME, NAME)
    assert ("lemma", "Zorn", "Lemma") in found.values()


def test_a_hyphen_joins_names_and_capitals_alone():
    text = "Gauss/PROPN -/PUNCT Euler/PROPN met/VERB"
    assert name_all(text, NAME, "", "euler", "meet-03")[0] == ("person", "Gauss-Euler")
    assert name_all(text, "gauss", "", NAME, "meet-03")[0] == ("person", "Gauss-Euler")
    text = "Gauss/PROPN -/PUNCT like/ADJ proofs/NOUN"
    found = name_all(text, NAME, "", "like", "proof")
    assert found[0] == ("person", "Gauss") and found[2] == ("like",)
    found = name_all("non/ADJ -/PUNCT Euler/PROPN proofs/NOUN", "non", "", NAME, "")
    assert found[0] == ("non",) and found[2] == ("person", "Euler")
    text = "Gauss/PROPN met/VERB Euler/PROPN"
    assert name_all(text, NAME, "meet-03", "euler")[2] == ("euler",)


@pytest.mark.parametrize(
    ("text", "labels", "meant"),
    [
        ("the/DET theorem/NOUN holds/VERB", ("", NAME, ""), [("theorem",)]),
        ("theorem/NOUN holds/VERB", (NAME, ""), [("theorem",)]),
        ("The/DET Theorem/NOUN holds/VERB", ("", "theorem", ""), [("theorem",)]),
        ("Gauss/PROPN theorem/NOUN holds/VERB", (NAME, NAME, ""),
         [("person", "Gauss", "theorem")]),
        ("theorem/NOUN Gauss/PROPN proved/VERB", (NAME, NAME, ""),
         [("person", "theorem", "Gauss")]),
        ("Gauss/PROPN 's/PART theorem/NOUN holds/VERB", (NAME, "", NAME, ""),
         [("person", "Gauss"), ("theorem",)]),
        ("theorem/NOUN of/ADP Gauss/PROPN holds/VERB", (NAME, "", NAME, ""),
         [("theorem",), ("person", "Gauss")]),
        ("theorem/NOUN holds/VERB", ("state-01", ""), [("state-01",)]),
    ],
)  # fmt: skip
def test_a_kind_of_statement_is_part_of_a_name_beside_one_alone(text, labels, meant):
    assert [*name_all(text, *labels).values()] == meant


@pytest.mark.parametrize(
    ("text", "labels", "noun"),
    [
        ("Euler/PROPN formula/NOUN", (NAME, "formula"), 1),
        ("Euler/PROPN 's/PART formula/NOUN", (NAME, "", "formula"), 2),
        ("Euler/PROPN very/ADV old/ADJ formula/NOUN",
         (NAME, "very", "old", "formula"), 0),
        ("Euler/PROPN proves/VERB", (NAME, "prove-01"), 0),
        ("Euler/PROPN formula/NOUN", (NAME, ""), 0),
    ],
)  # fmt: skip
def test_a_name_goes_to_the_noun_right_behind_it(text, labels, noun):
    found = name_all(text, *labels)
    assert [i for i, (_, *name) in found.items() if name] == [noun]


def test_ordinals_have_their_number_and_negations_their_concept():
    text = "21st/ADJ umpteenth/ADJ never/ADV ends/VERB"
    found = name_all(text, ORDINAL, ORDINAL, f"{NEGATIVE}+ever", "end-01")
    assert found == {
        0: ("ordinal-entity", "21"), 1: ("ordinal-entity", "1"), 2: ("ever",),
        3: ("end-01",),
    }  # fmt: skip
