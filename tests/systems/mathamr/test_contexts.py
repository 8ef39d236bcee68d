"""Math graphs as strings, and formulas in their contexts."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mathamr_kedro.amr import split_chunks
from mathamr_kedro.base.records import FormulaInstance, FormulaMention
from mathamr_kedro.corpus.placeholders import FormulaMarks
from mathamr_kedro.formula import FormulaTree, trees_from_latex
from mathamr_kedro.formula.graphs import linearise
from mathamr_kedro.graph import FusedRecord, GraphRecord, StoredTrees, read_math_graph
from mathamr_kedro.systems import Collection, Query
from mathamr_kedro.systems.mathamr.config import ModelConfig, Representation
from mathamr_kedro.systems.mathamr.contexts import Contexts, LinearGraph
from tests.systems.mathamr.world import draw_graph, find_trees, make_post, make_topic

FORMULAS = ("x^n+y^n", "\\frac{a}{b}", "2x-3", "\\sum_{i=1}^ni", "f(x,y,z)")
SOURCES = Collection(trees_of=find_trees)
TEXT = "Note this. Find FORMULA_0 for FORMULA_1. Then FORMULA_2 holds."
POST = make_post("7", TEXT, "x^2", "n", "y")


def fuse(amr: str, *latex: str):
    mentions = tuple(
        FormulaMention(f"FORMULA_{n}", f"f{n}", "", formula, 0, 9)
        for n, formula in enumerate(latex)
    )
    record = GraphRecord("1", amr, "answer", mentions)
    return FusedRecord.read(record, StoredTrees(None)).graph


def opt(latex: str) -> str:
    tree = trees_from_latex(latex).opt
    assert isinstance(tree, FormulaTree)
    return linearise(tree)


def write_slowly(graph, trees: dict[int, str]) -> list[str]:
    """Depth first: roles by name, equal ones last first, each node once."""
    children: dict[int, list[tuple[str, int]]] = {}
    formulas = {part.node: part for part in graph.formulas}
    for holder, role, target in graph.lines:
        children.setdefault(holder, []).append((role, target))
    words: list[str] = []
    seen: set[int] = set()

    def visit(node: int) -> None:
        if node in seen:
            return
        seen.add(node)
        links = list(reversed(children.get(node, [])))
        if node in formulas:
            tree = trees.get(formulas[node].number)
            links = [x for x in links if x[0] not in ("opt", "slt", "math")]
            links += [("math", -1)] if tree else []
        else:
            words.append(graph.atoms[node].lower())
        for _, target in sorted(links, key=lambda link: link[0].lower()):
            if target < 0:
                words.extend(tree.split())
            else:
                visit(target)

    visit(0)
    return words


@st.composite
def amr_graphs(draw):
    """A rooted AMR with re-entrancies; some nodes are formulas."""
    count = draw(st.integers(1, 9))
    roles = st.sampled_from(["ARG0", "ARG1", "arg1", "mod", "ARG1-of", "op1", "zoo"])
    formulas = iter(range(9))
    parents = {n: draw(st.integers(0, n - 1)) for n in range(1, count)}
    concepts = {}
    for n in range(count):
        is_formula = draw(st.booleans())
        concepts[n] = f"FORMULA_{next(formulas)}" if is_formula else f"c{n % 3}-01"

    def write(node: int) -> str:
        lines = [f":{draw(roles)} {write(n)}" for n, p in parents.items() if p == node]
        if draw(st.booleans()):
            lines.append(":polarity -")
        if draw(st.booleans()):
            lines.append(f":{draw(roles)} v{draw(st.integers(0, node))}")
        return f"(v{node} / {concepts[node]} {' '.join(lines)})"

    return write(0), sum(c.startswith("FORMULA") for c in concepts.values())


@settings(max_examples=50)
@given(amr_graphs(), st.data())
def test_a_whole_graph_is_written_depth_first(made, data):
    text, count = made
    latex = [data.draw(st.sampled_from(FORMULAS)) for _ in range(count)]
    graph = fuse(text, *latex)
    trees = {n: opt(formula) for n, formula in enumerate(latex)}
    assert LinearGraph(graph).write().split() == write_slowly(graph, trees)


@settings(max_examples=50)
@given(amr_graphs(), st.data())
def test_nothing_is_lost_and_nothing_is_written_twice(made, data):
    text, count = made
    latex = [data.draw(st.sampled_from(FORMULAS)) for _ in range(count)]
    graph = fuse(text, *latex)
    words = LinearGraph(graph).write().split()
    concepts = [a for a in graph.without_formulas().atoms if "FORMULA" not in a]
    expected = concepts + [w for formula in latex for w in opt(formula).split()]
    assert sorted(words) == sorted(expected)
    with_latex = LinearGraph(graph, dict(enumerate(latex))).write()
    assert sorted(with_latex.split()) == sorted(concepts + latex)


def test_the_example_of_the_paper():
    amr = """(f / find-01 :mode imperative :ARG0 (y / you)
      :ARG1 (t / thing :ARG2-of (s / solve-01) :ARG1-of (g / general-02)
        :mod (e / equal-01 :ARG2 (x / FORMULA_0))))"""
    words = LinearGraph(fuse(amr, "x^n+y^n+z^n")).write()
    assert words == (
        "find-01 you thing general-02 solve-01 equal-01 plus SUP 𝑧 𝑛 SUP 𝑦 𝑛 SUP 𝑥 𝑛 "
        "imperative"
    )


TWO_SENTENCES = """(m / multi-sentence
  :snt1 (s / show-01 :ARG1 (f / FORMULA_0 :mod (n / new)))
  :snt2 (h / hold-01 :ARG1 f :ARG0 (g / FORMULA_1)))"""


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, "show-01 𝑥 new"),
        # of the formula that the first sentence defines, only the formula
        (1, "hold-01 𝑦 𝑥"),
        # lost by the AMR: in the sentence of the formula before it, by :math
        (2, "hold-01 𝑦 𝑥 𝑧"),
    ],
)
def test_a_formula_stands_in_its_sentence(number, expected):
    formulas = ("x", "y", "z")[: max(number + 1, 2)]
    texts = LinearGraph(fuse(TWO_SENTENCES, *formulas)).write_sentences()
    assert texts[number] == expected


def test_formulas_of_a_sentence_share_its_text():
    texts = LinearGraph(fuse(TWO_SENTENCES, "x", "y", "z")).write_sentences()
    assert texts[1] == texts[2] != texts[0]


def test_names_keep_their_quotes_and_escapes_are_undone():
    graph = read_math_graph('(n / name :op1 "Taylor" :op2 (q / a%2Fb))')
    assert LinearGraph(graph).write() == 'name "taylor" a/b'


def test_a_sentence_that_shares_a_node_keeps_its_formulas():
    """The second sentence is in the brackets of the first, upside down."""
    amr = """(m / multi-sentence
      :snt1 (f / find-01 :ARG1 (p / person :mod-of (g / FORMULA_0 :domain (t / true))))
      :snt2 t)"""
    texts = LinearGraph(fuse(amr, "x")).write_sentences()
    assert texts == {0: "true 𝑥 person"}


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
