"""What is written of a formula and its sentence, in the five forms of the paper."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr_kedro.amr import split_chunks
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.corpus.placeholders import FormulaMarks
from mathamr_kedro.formula.graphs import linearise
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.systems import Collection, Query
from mathamr_kedro.systems.mathamr import Representation
from mathamr_kedro.systems.mathamr.contexts import Contexts
from mathamr_kedro.systems.mathamr.system import ModelConfig
from tests.systems.mathamr.world import draw_graph, find_trees, make_post, make_topic

SOURCES = Collection(trees_of=find_trees)
TEXT = "Note this. Find FORMULA_0 for FORMULA_1. Then FORMULA_2 holds."
POST = make_post("7", TEXT, "x^2", "n", "y")


def write(representation, post=POST):
    contexts = Contexts(representation, SOURCES)
    if representation.startswith("amr"):
        return contexts.read_graph(draw_graph(post))
    return contexts.read_text(post)


@pytest.mark.parametrize(
    ("representation", "expected"),
    [
        ("text_latex", "Find $x^2$ for $n$."),
        ("text_opt", "Find SUP x 2 for n."),
    ],
)
def test_words_keep_their_place(representation, expected):
    texts = write(representation)
    assert texts["70"] == texts["71"] == expected
    assert "Note" not in texts["72"]


def test_meanings_carry_the_trees_or_the_latex():
    with_trees, with_latex = write("amr_opt"), write("amr_latex")
    assert "SUP x 2" in with_trees["70"]
    assert "x^2" in with_latex["70"].split()
    for texts in (with_trees, with_latex):
        assert "find-01" in texts["70"].split()
        assert texts["70"] == texts["71"] != texts["72"]


def test_a_formula_alone_is_its_tree():
    contexts = Contexts("opt", SOURCES)
    assert contexts.write_alone(FormulaInstance("1", "v", "7", "x^2")) == "SUP x 2"
    assert list(contexts.of_posts()) == []
    topic = make_topic("B.1", "Find FORMULA_0.", "x^2")
    assert contexts.write_query(Query.of_topic(topic)) == "SUP x 2"


def test_a_query_stands_in_its_sentence_or_alone():
    topic = make_topic("B.1", "Note this. Find FORMULA_0.", "x^2")
    sources = replace(SOURCES, topic_graphs=lambda: [draw_graph(topic)])
    contexts = Contexts("amr_opt", sources)
    assert (
        contexts.write_query(Query.of_topic(topic)) == "find-01 you SUP x 2 imperative"
    )
    typed = topic._replace(topic_id="query")
    assert contexts.write_query(Query.of_topic(typed)) == "SUP x 2"
    texts = Contexts("text_latex", sources)
    assert texts.write_query(Query.of_topic(typed)) == "Find $x^2$."


def test_a_formula_without_tree_is_its_latex():
    contexts = Contexts("text_opt", Collection())
    assert contexts.read_text(POST)["70"] == "Find $x^2$ for $n$."
    assert contexts.write_alone(FormulaInstance("1", "v", "7", "x^2")) == "x^2"


def test_a_graph_that_is_none_leaves_formulas_alone(caplog):
    record = GraphRecord("9", "(broken", "answer", POST.formula_map)
    assert Contexts("amr_opt", SOURCES).read_graph(record) == {}
    assert "formulas of 9 have no context" in caplog.text


WORDS = st.lists(
    st.sampled_from(["Find", "the", "prime", "of", "number", "it", "is"]), min_size=1
).map(" ".join)


@settings(max_examples=40)
@given(st.lists(st.tuples(WORDS, st.booleans()), min_size=1, max_size=4))
def test_every_formula_has_the_text_of_its_sentence(made):
    """No form loses a formula; each text has all formulas of its sentence."""
    sentences, latex = [], []
    for words, has_formula in made:
        formulas = ""
        if has_formula:
            formulas = f" FORMULA_{len(latex)} for FORMULA_{len(latex) + 1}"
            latex += [f"x^{len(latex) + 2}", f"y_{len(latex) + 2}"]
        sentences.append(f"{words}{formulas}.")
    post = make_post("8", " ".join(sentences), *latex)
    names = {m.formula_id: m for m in post.formula_map}
    for representation in get_args(Representation)[:4]:
        texts = write(representation, post)
        assert texts.keys() == names.keys()
        for formula_id, text in texts.items():
            mention = names[formula_id]
            (home,) = (
                s
                for chunk in split_chunks(post.text)
                for s in chunk.sentences
                if mention.placeholder in s.rstrip(".").split()
            )
            assert "FORMULA_" not in text
            for name in re.findall(r"FORMULA_(\d+)", home):
                instance = FormulaInstance("", "", "", latex[int(name)])
                spelt = instance.latex
                if representation.endswith("opt"):
                    tree = linearise(find_trees(instance).opt)
                    spelt = unicodedata.normalize("NFKC", tree)
                assert spelt in text


@settings(max_examples=60)
@given(st.sampled_from([".", "!", "?", ",", ""]), st.sampled_from(["a+b=c", "x_1"]))
def test_punctuation_of_a_formula_ends_the_sentence(mark, latex):
    """``$a+b=c.$`` is ``$a+b=c$.`` before sentences are split (section 3, step 1)."""
    marks = FormulaMarks()
    clean = marks.place(marks.mark_delimited(f"Let ${latex}{mark}$ Find it."), "8")
    (found,) = clean.formula_map
    is_operator = mark == "!"  # a factorial
    assert found.latex == latex + mark * is_operator
    moved = "" if is_operator else mark
    assert clean.text.startswith(f"Let FORMULA_0{moved}")
    post = POST._replace(text=clean.text, formula_map=clean.formula_map)
    if moved in (".", "?"):
        texts = write("text_latex", post)
        assert texts[found.formula_id] == f"Let ${latex}${moved}"


def test_configuration_says_what_is_wrong():
    with pytest.raises(Exception, match="folds of at least 2"):
        replace(ModelConfig(), folds=1)
    with pytest.raises(Exception, match="batch_size of at least 2"):
        replace(ModelConfig(), batch_size=1)
