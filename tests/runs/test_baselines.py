"""Baselines as systems: posts and topics in, lists out."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.records import FormulaInstance, FormulaMention, Post, Topic
from mathamr_kedro.formula import FormulaTree, FormulaTrees, trees_from_latex
from mathamr_kedro.runs import sentence_index as systems
from mathamr_kedro.runs.baselines import (
    PostSources,
    _restore_title,
    build_formula_ranker,
    build_post_ranker,
)
from mathamr_kedro.systems.term_rankers import _formula_terms


def rank_posts(system, posts, topics, depth=1000, **sources):
    rank = build_post_ranker(system, PostSources(lambda: iter(posts), **sources))
    return {t.topic_id: h for t, h in zip(topics, rank(topics, depth), strict=True)}


def rank_formulas(system, formulas, topics, trees_of, depth=1000, folder=None):
    rank = build_formula_ranker(system, iter(formulas), trees_of, folder)
    return {t.topic_id: h for t, h in zip(topics, rank(topics, depth), strict=True)}


def post(key, text, latex=None, post_type="answer"):
    place = text.find("FORMULA_0")
    mentions = ()
    if latex is not None:
        mentions = (
            FormulaMention("FORMULA_0", f"f{key}", f"v{key}", latex, place, place + 9),
        )
    return Post(key, post_type, key, None, None, None, None, (), "", text, mentions)


def topic(topic_id, text, latex=None, formula_id=None):
    made = post("9", text, latex)
    return Topic(
        topic_id, "task1", 2022, "", (), text, made.formula_map, formula_id, None,
        None, None, None,
    )  # fmt: skip


POSTS = [
    post("1", "Infinitely many primes exist"),
    post("2", "By FORMULA_0 the root is irrational", r"\sqrt{2}"),
    post("3", "Why is FORMULA_0 irrational?", r"\sqrt{2}", "question"),
    post("4", "The sum of FORMULA_0 converges", r"\frac{1}{n^2}"),
]


def test_bm25_finds_words_and_latex_in_answers_only():
    topics = [
        topic("A.1", "Is FORMULA_0 irrational", r"\sqrt{2}"),
        topic("A.2", "sums"),
    ]
    ranked = rank_posts("bm25", POSTS, topics)
    assert ranked["A.1"].ids[0] == "2"
    assert "3" not in ranked["A.1"].ids
    assert ranked["A.2"].ids == ["4"]
    assert rank_posts("bm25", POSTS, topics, depth=1)["A.1"].ids == ["2"]


FORMULAS = [
    FormulaInstance("20", "v1", "2", r"\sqrt{2}"),
    FormulaInstance("3", "v1", "9", r"\sqrt{2}"),
    FormulaInstance("21", "v2", "4", r"\frac{1}{n^2}"),
    FormulaInstance("22", "v3", "5", r"\sqrt{x}+1"),
    FormulaInstance("23", "v4", "5", r"a \to b"),
]
QUERY = topic("B.1", "x FORMULA_0", r"\sqrt{2}", "f9")


def read_trees(formula):
    return trees_from_latex(formula.latex)


@pytest.mark.parametrize(
    ("system", "second"),
    [
        ("bm25", "v3"),
        ("bm25_tuples", "v3"),
        ("bm25_slt", "v2"),  # both have a 2 that ends its line
        ("bm25_opt", "v3"),
        ("bm25_ngrams", "v3"),
    ],
)
def test_formulas_come_once_per_visual_id_with_their_first_instance(system, second):
    hits = rank_formulas(system, FORMULAS, [QUERY], read_trees)["B.1"]
    assert hits.ids[0] == "3"
    assert hits.post_ids[0] == "9"
    assert len(set(hits.visual_ids)) == len(hits.visual_ids)
    assert hits.visual_ids[:2] == ["v1", second]
    assert "v4" not in hits.visual_ids


@pytest.mark.parametrize("system", ["bm25_tuples", "bm25_slt", "bm25_opt"])
def test_formulas_without_trees_are_passed_over(system):
    hits = rank_formulas(system, FORMULAS, [QUERY], lambda f: None)["B.1"]
    assert hits.ids == []


def test_topic_without_formula_is_refused():
    with pytest.raises(ConfigurationError, match=r"'A\.1'"):
        rank_formulas("bm25", FORMULAS, [topic("A.1", "primes")], read_trees)


class _Letters:
    """A sentence encoder for tests: how often each of eight letters occurs."""

    def __init__(self, folder):
        self.folder = folder

    def encode(self, texts):
        rows = np.array([[1e-3 + t.count(c) for c in "aeinqrst"] for t in texts])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def encode_batches(self, texts):
        for row in reversed(range(len(texts))):
            yield np.array([row]), self.encode([texts[row]])


def test_sentence_encoder_ranks_posts_and_formulas(monkeypatch, tmp_path):
    monkeypatch.setattr(systems, "SentenceEncoder", _Letters)
    topics = [topic("A.1", "By FORMULA_0 the root is irrational", r"\sqrt{2}")]
    (tmp_path / "config.json").write_text("{}")
    model = str(tmp_path)
    ranked = rank_posts("text", POSTS, topics, text_model=model)["A.1"]
    assert ranked.ids[0] == "2"
    assert ranked.scores[0] == pytest.approx(1.0)
    hits = rank_formulas("text", FORMULAS, [QUERY], read_trees, 2, model)["B.1"]
    assert hits.ids[0] == "3"
    assert len(hits.ids) == 2
    assert rank_posts("text", [], topics, text_model=model)["A.1"].ids == []


@pytest.mark.parametrize(
    ("system", "near"), [("text_title", "qe"), ("text_question", "qte")]
)
def test_questions_are_added_to_the_vectors_of_answers(
    monkeypatch, tmp_path, system, near
):
    monkeypatch.setattr(systems, "SentenceEncoder", _Letters)
    (tmp_path / "config.json").write_text("{}")
    question = POSTS[0]._replace(post_id="q", post_type="question", title="qqq")
    question = question._replace(text="qqqttt", formula_map=())
    answer = POSTS[0]._replace(post_id="a", parent_id="q", text="e", formula_map=())
    topics = [topic("A.1", "qe"), topic("A.2", "qte")]
    found = rank_posts(system, [question, answer], topics, text_model=str(tmp_path))
    assert found["A.1"].ids == ["a"]
    best = max(found, key=lambda name: found[name].scores[0])
    assert best == {"qe": "A.1", "qte": "A.2"}[near]
    if system == "text_title":
        assert found["A.1"].scores[0] == pytest.approx(1.0, abs=1e-3)


def test_own_model_needs_its_folder():
    with pytest.raises(ConfigurationError, match=r"evaluation\.text_model.*'text'"):
        rank_posts("text", POSTS, [topic("A.1", "x")])


@pytest.mark.parametrize(("system", "window"), [("bm25_slt", 3), ("bm25_opt", 2)])
def test_nodes_are_paired_as_far_apart_as_their_tree_asks_for(system, window):
    chain = FormulaTree.from_string("[O!a,0[O!b,0[O!c,0[O!d]]]]")
    trees = FormulaTrees(chain, chain, {})
    terms = _formula_terms(system, lambda formula: trees)(FORMULAS[0])
    far = [any(t.startswith(f"O!a O!{b} ") for t in terms) for b in "bcd"]
    assert far == [True, True, window == 3]


def test_the_title_of_a_question_ends_where_it_ends():
    """A formula may be its last word, or the first of what follows."""
    mentions = tuple(
        FormulaMention(f"FORMULA_{n}", f"f{n}", f"v{n}", "xy"[n], at, at + 9)
        for n, at in ((0, 3), (1, 14))
    )
    question = POSTS[0]._replace(
        title="On FORMULA_0", text="On FORMULA_0\n\nFORMULA_1", formula_map=mentions
    )
    assert _restore_title(question) == "On $x$"


def test_bm25_may_read_the_question_of_an_answer():
    question = post("q", "Why is it irrational?", post_type="question")
    answer = post("a", "Because it is")._replace(parent_id="q")
    posts = [question, answer, post("b", "Primes"), post("c", "Sums")]
    topics = [topic("A.1", "irrational")]
    assert rank_posts("bm25", posts, topics)["A.1"].ids == []
    assert rank_posts("bm25_question", posts, topics)["A.1"].ids == ["a"]
    assert rank_posts("bm25_question", posts, topics, depth=0)["A.1"].ids == []
