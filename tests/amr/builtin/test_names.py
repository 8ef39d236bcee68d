import numpy as np
import pytest

from mathamr_kedro.amr.builtin.concepts import NAME, NEGATIVE, ORDINAL
from mathamr_kedro.amr.builtin.fragments import (
    Fragment,
    describe_name,
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


def test_a_name_of_two_letters_is_no_variable():
    found = name_all("R/PROPN S/PROPN exist/VERB", NAME, NAME, "exist-01")
    assert found[0] == ("person", "R", "S")


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


def test_words_between_names_part_them():
    text = "Gauss/PROPN and/CCONJ Euler/PROPN wrote/VERB"
    found = name_all(text, NAME, "and", NAME, "write-01")
    assert found[0] == ("person", "Gauss") and found[2] == ("person", "Euler")


def test_a_name_may_end_a_sentence_and_a_dash_begin_it():
    text = "-/PUNCT Gauss/PROPN met/VERB Euler/PROPN"
    found = name_all(text, "", NAME, "meet-03", NAME)
    assert found[1] == ("person", "Gauss") and found[3] == ("person", "Euler")


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


def test_hyphens_at_the_end_of_a_sentence_join_what_stands_on_both_sides():
    text = "met/VERB Gauss/PROPN -/PUNCT Euler/PROPN"
    for labels in ((NAME, "", NAME), (NAME, "", "euler")):
        found = name_all(text, "meet-03", *labels)
        assert [*found.values()] == [("meet-03",), ("person", "Gauss-Euler")]
    found = name_all("met/VERB Gauss/PROPN -/PUNCT", "meet-03", NAME, "")
    assert found[1] == ("person", "Gauss")


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


def test_a_subject_is_not_the_name_of_its_noun():
    skeleton = say("Euler/PROPN winner/NOUN", label="nsubj")
    found = make_named_fragments(skeleton, [NAME, "winner"], TYPES)
    assert found[0].concepts == ("person", "name")


def test_ordinals_have_their_number_and_negations_their_concept():
    text = "21st/ADJ umpteenth/ADJ never/ADV ends/VERB"
    found = name_all(text, ORDINAL, ORDINAL, f"{NEGATIVE}+ever", "end-01")
    assert found == {
        0: ("ordinal-entity", "21"), 1: ("ordinal-entity", "1"), 2: ("ever",),
        3: ("end-01",),
    }  # fmt: skip


def test_a_name_hangs_below_its_head_with_its_parts_in_order():
    skeleton = say("Carl/PROPN Gauss/PROPN 1st/ADJ wrote/VERB")
    found = make_named_fragments(skeleton, [NAME, NAME, ORDINAL, "write-01"], TYPES)
    assert found[0] == Fragment(
        ("person", "name"),
        ((0, "name", 1),),
        ((1, "op1", '"Carl"'), (1, "op2", '"Gauss"')),
    )
    assert found[2] == Fragment(("ordinal-entity",), values=((0, "value", "1"),))


def test_a_name_is_described_by_its_words_and_what_it_hangs_on():
    skeleton = say("Carl/PROPN Gauss/PROPN theorems/NOUN")
    assert describe_name(skeleton, (0, 1)) == [
        "wcarl", "wgauss", "euss", "n2", "b", "dcompound", "ptheorems",
        "ptheorems|compound",
    ]  # fmt: skip
    tokens = [*skeleton.tokens[:2], skeleton.tokens[2]._replace(head=3, dep="dobj")]
    tokens.append(Token("shown", "show", "VERB", "VERB", "ROOT", -1))
    assert describe_name(Skeleton(tokens), (0, 1))[-1] == "gshow"
    assert describe_name(skeleton, (2,))[-1] == "dROOT"


def test_the_first_word_of_a_sentence_describes_a_name_too():
    tokens = [Token("Show", "show", "VERB", "VERB", "ROOT", -1)]
    tokens.append(Token("theorems", "theorem", "NOUN", "NOUN", "dobj", 0))
    tokens.append(Token("Gauss", "Gauss", "PROPN", "PROPN", "appos", 1))
    skeleton = Skeleton(tokens)
    assert describe_name(skeleton, (1,))[-2:] == ["pshow", "pshow|dobj"]
    assert describe_name(skeleton, (2,))[-1] == "gshow"
