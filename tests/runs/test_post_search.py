"""One question by any system gives the list that evaluation's run has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.records import CleanText, Post, Topic
from mathamr_kedro.runs import (
    NamedFusion,
    NamedStrategy,
    PostSearch,
    PostSources,
    add_fusions,
    build_post_ranker,
    search_posts,
)
from mathamr_kedro.search import EncodedQuery
from mathamr_kedro.search.engines.exact import ExactIndex
from mathamr_kedro.trec import Run
from tests.search.conftest import draw_query

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


def test_unknown_systems_are_refused_with_the_nearest_name(open_search):
    with pytest.raises(ConfigurationError, match="did you mean 'with_question'"):
        open_search("with_questions")
