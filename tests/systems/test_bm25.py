"""BM25 over words, LaTeX, trees and graphs: indexed, saved, opened and asked."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.records import FormulaInstance, FormulaMention, Post, Statement
from mathamr_kedro.formula import FormulaTree, FormulaTrees, trees_from_latex
from mathamr_kedro.graph import FusedRecord, read_math_graph
from mathamr_kedro.systems import Collection, Query, make_baseline
from mathamr_kedro.systems.changes import Changes


def post(key, text, latex=None, post_type="answer", parent=None):
    place = text.find("FORMULA_0")
    mentions = ()
    if latex is not None:
        mentions = (
            FormulaMention("FORMULA_0", f"f{key}", f"v{key}", latex, place, place + 9),
        )
    return Post(
        post_id=key, post_type=post_type, thread_id=key, parent_id=parent,
        accepted_answer_id=None, creation_date=None, score=None, tags=(), title="",
        text=text, formula_map=mentions,
    )  # fmt: skip


def ask(text, latex=None, **given):
    made = post("9", text, latex)
    return Query("A.1", made.text, made.formula_map, **given)


def ask_formula(latex):
    formula = FormulaInstance("f9", "", "B.1", latex)
    return Query("B.1", formula=formula, trees=trees_from_latex(latex))


def read_trees(formula):
    return trees_from_latex(formula.latex)


@pytest.fixture
def rank(tmp_path):
    """Index a collection by a system, open what was written, and ask it."""

    def rank(name, data, query, depth=1000, types=None):
        system, folder = make_baseline(name), tmp_path / name
        if not folder.exists():
            folder.mkdir()
            counts = system.index(data, folder, folder)
            assert {*counts} == {*system.finds, "bytes"}
        index = system.open(data, folder, folder)
        assert index.list_rankings(query.target) == [name]
        (hits,) = index.rank(index.prepare([query]), depth, types=types)
        return hits

    return rank


POSTS = [
    post("1", "Infinitely many primes exist"),
    post("2", "By FORMULA_0 the root is irrational", r"\sqrt{2}"),
    post("3", "Why is FORMULA_0 irrational?", r"\sqrt{2}", "question"),
    post("4", "The sum of FORMULA_0 converges", r"\frac{1}{n^2}"),
]
FORMULAS = [
    FormulaInstance("20", "v1", "2", r"\sqrt{2}"),
    FormulaInstance("3", "v1", "9", r"\sqrt{2}"),
    FormulaInstance("21", "v2", "4", r"\frac{1}{n^2}"),
    FormulaInstance("22", "v3", "5", r"\sqrt{x}+1"),
    FormulaInstance("23", "v4", "5", r"a \to b"),
]
DATA = Collection(posts=lambda: POSTS, formulas=lambda: FORMULAS, trees_of=read_trees)


def test_words_and_latex_are_found_in_answers_only(rank):
    query = ask("Is FORMULA_0 irrational", r"\sqrt{2}")
    assert rank("bm25", DATA, query).ids[0] == "2"
    assert "3" not in rank("bm25", DATA, query).ids
    assert rank("bm25", DATA, query, depth=1).ids == ["2"]
    assert rank("bm25", DATA, ask("sums")).ids == ["4"]
    assert rank("bm25", DATA, ask("nowhere")).ids == []


def test_other_types_of_post_can_be_asked_for(rank):
    assert rank("bm25", DATA, ask("irrational"), types=("question",)).ids == ["3"]


QUESTIONS = [
    post("q", "Why is it irrational?", post_type="question"),
    post("a", "Because it is", parent="q"),
    post("b", "Primes and sums"),
    post("c", "Sums of primes", post_type="document"),
]


@pytest.mark.parametrize("system", ["bm25", "bm25_question", "bm25_fields"])
def test_changed_posts_are_found_as_if_they_had_been_indexed(system, tmp_path):
    """Slow twin: an index of the posts as they are now, with the old statistics."""
    added = {
        "q": post("q", "Why is it rational?", post_type="question"),
        "b": post("b", "Squares"),
        "n": post("n", "Primes by Tychonoff", post_type="document"),
        "m": post("m", "It is not", parent="q"),
    }
    made = make_baseline(system)
    opened = []
    for name, posts in (("old", QUESTIONS), ("new", [*added.values(), QUESTIONS[1]])):
        data, folder = Collection(posts=lambda posts=posts: posts), tmp_path / name
        folder.mkdir()
        made.index(data, folder, folder)
        opened.append(made.open(data, folder, folder))
    index, twin = opened

    def find(asked, text, types=None):
        (hits,) = asked.rank([ask(text)], 9, types=types)
        return hits.ids

    before = find(index, "sums")
    for changes in (Changes(deleted=frozenset("abq")), Changes(added), Changes()):
        index.update(changes)
        assert (find(index, "sums") == before) == (not changes)
    index.update(Changes(added, frozenset({"c"})))
    for text in ("Tychonoff", "rational", "irrational", "squares", "it", "sums"):
        assert find(index, text) == find(twin, text)
        assert find(index, text, ("question",)) == find(twin, text, ("question",))
        assert find(index, text, ("document",)) == find(twin, text, ("document",))
    assert find(index, "Tychonoff") == ["n"]
    assert find(index, "sums") == []  # replaced, deleted
    assert find(index, "rational", ("question",)) == ["q"]
    assert find(index, "rational") == ([] if system == "bm25" else ["a", "m"])


def test_the_question_of_an_answer_may_be_read_with_it(rank):
    posts = [
        post("q", "Why is it irrational?", post_type="question"),
        post("a", "Because it is", parent="q"),
        post("b", "Primes"),
        post("c", "Sums"),
    ]
    data, query = Collection(posts=lambda: posts), ask("irrational")
    assert rank("bm25", data, query).ids == []
    assert rank("bm25_question", data, query).ids == ["a"]


def test_a_statement_is_found_by_its_section_and_the_words_of_those_who_cite_it(rank):
    def state(key, section, contexts):
        return Statement(
            key, "lemma", None, None, None, section, "", "a.tex", "line 1", False, "",
            contexts,
        )  # fmt: skip

    posts = [post(key, "Let it be proper", post_type="document") for key in "abc"]
    titled = post("d", "Chow groups. These are other groups", post_type="document")
    posts.append(titled._replace(title="Chow groups"))
    known = [state("a", "Blowing up", ""), state("b", "", "by Chow's lemma, see Lemma")]
    data = Collection(posts=lambda: posts, statements=lambda: known)
    assert rank("bm25", data, ask("Chow's lemma")).ids == []
    assert rank("bm25_fields", data, ask("Chow's lemma")).ids == ["b"]
    assert rank("bm25_fields", data, ask("blow up")).ids == ["a"]
    (plain,) = rank("bm25", data, ask("groups")).scores
    (named,) = rank("bm25_fields", data, ask("groups")).scores
    assert named > plain  # a name counts more than other words


def test_graphs_are_compared_by_nodes_and_edges(rank):
    texts = {"1": "(p / prime :mod (r / root))", "2": "(s / sum)", "3": "(r / root)"}
    graphs = {key: read_math_graph(text) for key, text in texts.items()}
    records = [FusedRecord(key, graph, "answer") for key, graph in graphs.items()]
    data = Collection(graphs=lambda: records)
    graph = graphs["1"]
    hits = rank("bm25_graph", data, ask("", read_graph=lambda: graph))
    assert hits.ids == ["1", "3"]
    assert rank("bm25_graph", data, ask("a query without a graph")).ids == []


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
def test_formulas_come_once_per_visual_id_with_their_first_instance(
    rank, system, second
):
    hits = rank(system, DATA, ask_formula(r"\sqrt{2}"))
    assert (hits.ids[0], hits.post_ids[0]) == ("3", "9")
    assert len(set(hits.visual_ids)) == len(hits.visual_ids)
    assert hits.visual_ids[:2] == ["v1", second]
    assert "v4" not in hits.visual_ids


@pytest.mark.parametrize("system", ["bm25_tuples", "bm25_slt", "bm25_opt"])
def test_formulas_without_trees_are_never_found(rank, system):
    data = Collection(formulas=lambda: FORMULAS)
    assert rank(system, data, ask_formula(r"\sqrt{2}")).ids == []


@pytest.mark.parametrize(("system", "window"), [("bm25_slt", 3), ("bm25_opt", 2)])
def test_nodes_are_paired_as_far_apart_as_their_tree_asks_for(rank, system, window):
    """Each pair of nodes is a formula of its own; those that are near are found."""
    chain = FormulaTree.from_string("[O!a,0[O!b,0[O!c,0[O!d]]]]")
    ends = {"3": "[O!a,0[X!,0[X!,0[O!d]]]]", "2": "[O!a,0[X!,0[O!c]]]"}
    trees = {key: FormulaTree.from_string(text) for key, text in ends.items()}
    formulas = [FormulaInstance(f"f{key}", f"v{key}", "p", "") for key in ends]
    found = {f"f{key}": FormulaTrees(tree, tree, {}) for key, tree in trees.items()}
    data = Collection(formulas=lambda: formulas, trees_of=lambda f: found[f.formula_id])
    asked = FormulaInstance("q", "", "B.1", "")
    query = Query("B.1", formula=asked, trees=FormulaTrees(chain, chain, {}))
    scores = dict(rank(system, data, query))
    alone = {"f3": "[O!a]", "f2": "[O!a]"}
    assert scores.keys() == alone.keys()
    assert (scores["f2"] > scores["f3"]) or window == 3


def test_a_collection_of_nothing_can_be_asked(rank):
    assert rank("bm25", Collection(), ask("primes")).ids == []


def test_a_query_for_posts_has_no_formula_to_search_for():
    with pytest.raises(ConfigurationError, match=r"'A\.1' \(got none\)"):
        _ = ask("primes").asked_formula


def test_unknown_baselines_get_the_nearest_name():
    with pytest.raises(ConfigurationError, match="'bm26'; did you mean 'bm25'"):
        make_baseline("bm26")
