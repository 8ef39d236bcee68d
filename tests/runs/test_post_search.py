"""One question by any system gives the list that evaluation's run has."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.records import (
    CleanText,
    FormulaInstance,
    FormulaMention,
    Post,
    Topic,
)
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.runs import (
    FormulaSearch,
    NamedFusion,
    NamedStrategy,
    PostSearch,
    PostSources,
    add_fusions,
    build_formula_ranker,
    build_post_ranker,
    fuse_runs,
    search_posts,
)
from mathamr_kedro.search import EncodedQuery, find_formulas
from mathamr_kedro.trec import Run
from mathamr_kedro.vectors import PostEntry
from mathamr_kedro.vectors.exact import ExactIndex
from tests.vectors.conftest import draw_query

ENTRY = draw_query(0)
TEXT = CleanText("prime sum root", ())
GRAPH = GraphRecord(ENTRY.key, "(p / prime :mod (r / root))", "topic")
QUERY = EncodedQuery(ENTRY, {}, clean=TEXT, graph=GRAPH)
WORDS = ("prime", "sum", "root", "even", "odd")
STRATEGIES = {
    "plain": NamedStrategy(name="plain"),
    "with_question": NamedStrategy(
        name="with_question", with_question=0.5, with_document=0.2, sentence_weight=0.3
    ),
}
FUSIONS = (
    NamedFusion("mean", name="both", of=("with_question", "bm25")),
    NamedFusion("rrf", name="three", of=("both", "bm25_graph", "plain")),
)


@pytest.fixture
def texts(store):
    return [
        Post(
            p.key, p.post_type, p.key, None, None, None, None, (), "",
            f"{WORDS[int(p.key) % 5]} {WORDS[int(p.key) % 3]}", (),
        )
        for p in store.read(list(store.keys())).entries()
    ]  # fmt: skip


@pytest.fixture
def question_of(texts):
    questions = [p.post_id for p in texts if p.post_type == "question"]
    answers = [p.post_id for p in texts if p.post_type == "answer"]
    return {a: questions[i % 7] for i, a in enumerate(answers)}


@pytest.fixture
def sources(texts):
    graphs = [
        GraphRecord(p.post_id, f"(x / {p.text.split()[0]})", p.post_type) for p in texts
    ]
    return PostSources(lambda: texts, lambda: graphs, lambda: [GRAPH])


@pytest.fixture
def open_search(store, sources, question_of):
    def open_by(system: str, read=lambda found: found) -> PostSearch:
        return PostSearch(
            ExactIndex(store), store, STRATEGIES, FUSIONS, sources, lambda key: GRAPH,
            lambda: read(question_of), system,
        )  # fmt: skip

    return open_by


@pytest.fixture
def runs(store, sources, question_of):
    """What evaluation would write."""
    topic = Topic(
        ENTRY.key, "task1", 2020, "", (), TEXT.text, (), None, None, None, None, None
    )
    found = {
        name: search_posts(
            ExactIndex(store), store, strategy, question_of, [ENTRY], strategy.depth
        )[0]
        for name, strategy in STRATEGIES.items()
    }
    for name in ("bm25", "bm25_graph"):
        found[name] = build_post_ranker(name, sources)([topic], 1000)[0]
    alone = [Run(name, {ENTRY.key: hits}, task=1) for name, hits in found.items()]
    fused = add_fusions(alone, FUSIONS)
    return {run.name: run.lists[ENTRY.key] for run in fused}


@pytest.mark.parametrize(
    "system", ["plain", "with_question", "bm25", "bm25_graph", "both", "three"]
)
@pytest.mark.parametrize("top", [3, 40])
def test_ranking_is_that_of_the_run(open_search, runs, system, top):
    hits = open_search(system)(QUERY, top)
    expected = runs[system].top(top)
    assert hits.ids == expected.ids
    assert hits.scores.tolist() == pytest.approx(expected.scores.tolist())


def test_a_strategy_asks_by_its_part_of_the_query(open_search, runs):
    search = open_search("plain")
    search.strategies = {"plain": replace(STRATEGIES["plain"], query_parts="words")}
    other = draw_query(77)
    search.encode_part = lambda query, part: {(QUERY.clean, "words"): other}[
        query.clean, part
    ]
    (expected,) = search_posts(
        search.index, search.store, STRATEGIES["plain"], {}, [other], 5
    )
    hits = search(QUERY, 5)
    assert hits.ids == expected.ids != runs["plain"].top(5).ids


def test_graph_of_a_stored_query_is_looked_up(open_search, runs):
    stored = QUERY._replace(graph=None)
    assert open_search("bm25_graph")(stored, 10).ids == runs["bm25_graph"].top(10).ids


@pytest.mark.parametrize("system", ["plain", "with_question", "bm25", "both"])
def test_other_types_of_post_can_be_asked_for(open_search, texts, system):
    questions = {p.post_id for p in texts if p.post_type == "question"}
    hits = open_search(system)(QUERY, 10, ("question",))
    assert hits.ids
    assert {*hits.ids} <= questions


def test_posts_without_vectors_are_not_returned(open_search, texts):
    lost = texts[0]._replace(post_id="lost", post_type="answer", text=TEXT.text)
    texts.append(lost)
    assert "lost" not in open_search("bm25")(QUERY, 1000).ids


def test_questions_are_read_only_where_they_count(open_search):
    def refuse(found):
        raise AssertionError("read")

    assert open_search("plain", refuse)(QUERY, 3).ids
    with pytest.raises(AssertionError, match="read"):
        open_search("with_question", refuse)(QUERY, 3)


@pytest.mark.parametrize("system", ["plain", "with_question", "bm25", "both", "three"])
def test_parts_of_a_score_add_up_to_it(open_search, system):
    search = open_search(system)
    hits = search(QUERY, 12)
    for key, score in hits:
        parts = search.explain(QUERY, key)
        assert sum(part.share for part in parts) == pytest.approx(score, abs=1e-6)
        for part in parts:
            if part.terms and not math.isnan(part.score):
                total = sum(t.weight * t.similarity for t in part.terms)
                assert total == pytest.approx(part.score, abs=1e-6)
    names = [part.system for part in parts]
    fused = {"both": ["with_question", "bm25"], "three": list(FUSIONS[1].of)}
    assert names == fused.get(system, [system])


def test_what_a_system_did_not_find_has_no_share(open_search, texts):
    lost = next(p for p in texts if p.post_type == "question")  # none is returned
    (part,) = open_search("bm25").explain(QUERY, lost.post_id)
    assert (part.share, math.isnan(part.score), part.terms) == (0.0, True, ())
    first, second = open_search("both").explain(QUERY, lost.post_id)
    assert second.share == 0.0
    assert math.isnan(second.score)
    assert first.terms


def test_parts_are_found_whatever_was_asked_before(open_search):
    search = open_search("both")
    first = search(QUERY, 3).ids[0]
    expected = search.explain(QUERY, first)
    search(QUERY._replace(entry=draw_query(5)), 3)
    assert search.explain(QUERY, first) == expected


def test_formulas_rank_as_in_the_run(store):
    posts = list(store.read(list(store.keys())).entries())
    formulas = [
        FormulaInstance(formula, visual, p.key, f"x_{{{visual}}} + {int(visual) % 7}")
        for p in posts
        for formula, visual, ok in zip(
            p.formula_ids, p.visual_ids, p.returnable, strict=True
        )
        if ok
    ]
    asked = formulas[3]
    entry = next(p for p in posts if p.key == asked.post_id)
    vector = entry.formula(asked.formula_id)
    mention = FormulaMention(
        "FORMULA_0", asked.formula_id, asked.visual_id, asked.latex, 0, 9
    )
    text = CleanText("FORMULA_0", (mention,))
    alone = PostEntry(
        "B.1", "topic", vector[None], [0], [0], [asked.formula_id], [asked.visual_id]
    )
    query = EncodedQuery(alone, {}, clean=text)
    fusion = NamedFusion("weighted", (1.0, 4.0), name="f", of=("ours", "bm25"))
    index = ExactIndex(store)

    def open_by(system):
        return FormulaSearch(
            index, store, "ours", [*FUSIONS, fusion], lambda: formulas,
            lambda ids: {}, lambda formula: None, system,
        )  # fmt: skip

    topic = Topic(
        "B.1", "task2", 0, "", (), *text, asked.formula_id, asked.latex, None, None,
        None,
    )  # fmt: skip
    lists = {
        "ours": find_formulas(index, [vector])[0],
        "bm25": build_formula_ranker("bm25", formulas, lambda _: None)([topic], 99)[0],
    }
    runs = [Run(name, {"B.1": hits}, task=2) for name, hits in lists.items()]
    lists["f"] = fuse_runs(runs, fusion, "f").lists["B.1"]
    for system, expected in lists.items():
        search = open_by(system)
        hits = search(query, 1000)
        assert hits.post_ids == list(dict.fromkeys(expected.post_ids))
        assert hits.visual_ids[0] == expected.visual_ids[0] == asked.visual_id
        for visual, score in zip(hits.visual_ids[:9], hits.scores, strict=False):
            shares = [part.share for part in search.explain(query, visual)]
            assert sum(shares) == pytest.approx(score, abs=1e-9)
        assert open_by("bm25")(query, 9, system).ids == hits.top(9).ids
    with pytest.raises(ConfigurationError, match=r"No system for formulas.* 'plain'"):
        open_by("plain")
    with pytest.raises(ConfigurationError, match=r"`kedro run --env demo\+marf` does"):
        open_by("marf/context")


@pytest.mark.parametrize("system", ["plain", "bm25", "both", "three"])
def test_any_system_can_be_asked_for_one_query(open_search, runs, system):
    """Beside the usual one, whatever was asked before."""
    search, usual = open_search("with_question"), runs["with_question"].top(5)
    assert search(QUERY, 5).ids == usual.ids
    hits = search(QUERY, 5, system=system)
    assert hits.ids == runs[system].top(5).ids
    for key, score in hits:
        parts = search.explain(QUERY, key, system=system)
        assert sum(part.share for part in parts) == pytest.approx(score, abs=1e-6)
    assert search(QUERY, 5).ids == usual.ids
    (part,) = search.explain(QUERY, usual.ids[0])
    assert part.system == "with_question"
    with pytest.raises(ConfigurationError, match="did you mean 'bm25'"):
        search(QUERY, 5, system="bm26")


def test_systems_are_listed_with_what_they_are(open_search):
    systems = open_search("plain").systems
    assert [systems[n] for n in ("plain", "bm25", "both")] == [
        "strategy", "baseline", "fusion",
    ]  # fmt: skip


def test_unknown_systems_are_refused_with_the_nearest_name(open_search):
    with pytest.raises(ConfigurationError, match="did you mean 'with_question'"):
        open_search("with_questions")


class Paper:
    """A system of another paper: the first posts of the store, as many as asked for."""

    def __init__(self, store):
        self.ids, self.asked = list(store.keys()), []

    def __call__(self, topics, depth):
        self.asked.append(([topic.topic_id for topic in topics], depth))
        ids = ["lost", *self.ids][:depth]
        return [Hits(ids, np.arange(len(ids), 0, -1.0))]


@pytest.fixture
def papers(store, sources):
    """A search by the system of a paper, ten posts deep."""
    paper = Paper(store)
    return PostSearch(
        ExactIndex(store), store, STRATEGIES, (), sources, lambda key: None, dict,
        "paper", 10, papers={"paper": paper},
    )  # fmt: skip


def test_a_system_of_a_paper_is_asked_as_deep_as_baselines(papers, store):
    paper = papers.papers["paper"]
    assert papers.systems["paper"] == "system"
    assert papers(QUERY, 3).ids == paper.ids[:3]  # what has no vectors is left out
    assert paper.asked == [([ENTRY.key], 10)]
    papers.deepen(20)
    assert len(papers(QUERY, 30)) == 19
    papers.deepen(5)
    assert len(papers(QUERY, 30)) == 19  # never less deep
    depths = {strategy.depth for strategy in papers.strategies.values()}
    assert depths == {NamedStrategy().depth}


def test_strategies_go_as_deep_as_is_asked_for(open_search):
    search = open_search("plain")
    deep = STRATEGIES["plain"].depth + 7
    search.deepen(deep)
    assert [s.depth for s in search.strategies.values()] == [deep, deep]
    assert search.depth == deep


def test_what_was_just_found_is_explained_without_asking_again(papers):
    paper = papers.papers["paper"]
    papers(QUERY, 3)
    (part,) = papers.explain(QUERY, paper.ids[0])
    assert (part.system, part.share, part.score) == ("paper", 9.0, 9.0)
    assert len(paper.asked) == 1
    papers.explain(QUERY, paper.ids[0], ["question"])  # of other posts
    assert len(paper.asked) == 2
    papers(QUERY, 3, system="bm25")
    papers.explain(QUERY, paper.ids[0])
    assert len(paper.asked) == 3


def test_a_query_without_a_graph_finds_no_graphs(papers):
    assert papers(QUERY._replace(graph=None), 3, system="bm25_graph").ids == []


def test_baselines_read_the_collection_once_for_each_choice_of_types(store, texts):
    read = []

    def read_posts():
        read.append("posts")
        return texts

    search = PostSearch(
        ExactIndex(store), store, STRATEGIES, (), PostSources(read_posts),
        lambda key: None, dict, "bm25",
    )  # fmt: skip
    for types in (None, ("question",), None, ("question",)):
        search(QUERY, 3, types)
    assert read == ["posts"] * 2
