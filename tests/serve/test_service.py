"""What the service asks of its searcher; the demo is searched in test_api.py."""

from __future__ import annotations

import logging
from concurrent.futures import CancelledError
from types import SimpleNamespace
from typing import Any

import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import CleanText, Failure, Post
from mathamr_kedro.corpus.raw import RawPost
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.search import Answer
from mathamr_kedro.serve import service as module
from mathamr_kedro.serve.service import SearchService, _draw, _make_filter
from mathamr_kedro.serve.settings import ServeConfig


def make_post(post_id: str, parent: str | None = None, **fields: Any) -> Post:
    given = {"post_type": "answer" if parent else "question", "date": None, "tags": ()}
    given |= fields
    return Post(
        post_id, given["post_type"], "1", parent, None, given["date"], 0,
        given["tags"], "", "Text.", (),
    )  # fmt: skip


class Searcher:
    """Notes what it is asked."""

    max_tokens = 500

    def __init__(self, folder: Any) -> None:
        self.store = Store(folder)
        self.calls: list[Any] = []
        self.is_open = True
        self.find_posts = SimpleNamespace(system="ours", systems={"ours": "vectors"})
        self.find_formulas = SimpleNamespace(
            system="trees", systems={"trees": "terms"}, prepare=self.calls.append
        )
        self.texts = {"1": make_post("1"), "2": make_post("2", "1")}

    def find_texts(self, ids: Any) -> dict[str, Post]:
        return {i: self.texts[i] for i in ids if i in self.texts}

    def search(self, *asked: Any) -> Answer:
        self.calls.append(asked)
        return Answer(())

    search_formula = search

    def compare(self, query: Any, post_id: str) -> Any:
        raise AssertionError("no query was read")

    def close(self) -> None:
        self.is_open = False


class Store:
    """Two posts in a folder."""

    def __init__(self, folder: Any) -> None:
        self.folder = folder

    def __len__(self) -> int:
        return 2

    def require(self, ids: Any) -> None:
        if "9" in ids:
            raise MissingInputError("no 9")


@pytest.fixture
def opened(tmp_path, monkeypatch) -> list[Searcher]:
    """All searchers that were opened, the present one last."""
    (tmp_path / "store.json").write_text("{}")
    opened: list[Searcher] = []

    def open_searcher(*place):
        assert place == ("own", "root", "bm25")
        opened.append(Searcher(tmp_path))
        return opened[-1]

    monkeypatch.setattr(module, "open_searcher", open_searcher)
    return opened


@pytest.fixture
def service(opened) -> SearchService:
    return SearchService(ServeConfig("own", "root", "bm25"))


ASKS = {
    "search": (("x", 3, None, "s", None), {"text": "x"}),
    "search_formula": (("x", 3, "s", None), {"latex": "x"}),
}


@pytest.mark.parametrize("name", ASKS)
def test_searches_ask_the_index_as_it_is_now(service, opened, tmp_path, name):
    asked, given = ASKS[name]
    getattr(service, name)(**given, top=3, system="s")
    assert opened[-1].calls == [asked]
    assert len(opened) == 1
    (tmp_path / "store.json").write_text("{'changed': 1}")
    getattr(service, name)(**given, top=3, system="s")
    first, second = opened
    assert (first.is_open, second.is_open) == (False, True)
    assert second.calls == [asked]
    getattr(service, name)(**given, top=3, system="s")
    assert len(opened) == 2


def test_searches_keep_what_was_asked_for(service, opened):
    service.search("x", 3, ["answer"], "t", 2020)
    ((*_, types, system, keep),) = opened[-1].calls
    assert (types, system) == (["answer"], None)
    assert keep(make_post("1", tags=("t",), date="2020-05-01"), None)
    assert not keep(make_post("1", tags=("t",), date="2021-05-01"), None)
    assert not keep(make_post("1", tags=("u",), date="2020-05-01"), None)
    service.search_formula("x", 3, ["answer"], None, None)
    *_, (*_, keep) = opened[-1].calls
    assert keep(make_post("2", "1"), None)
    assert not keep(make_post("1"), None)


def test_answers_have_the_tags_of_their_questions():
    keep = _make_filter((), "t", None)
    assert keep is not None
    question = make_post("1", tags=("t",))
    assert keep(make_post("2", "1"), question)
    assert not keep(make_post("2", "1"), None)
    assert not keep(make_post("2", "1", tags=("u",)), question)
    assert _make_filter((), None, None) is None
    assert _make_filter((), "", 0) is None


def test_a_post_without_a_date_is_of_no_year():
    keep = _make_filter((), None, 2020)
    assert keep is not None
    assert not keep(make_post("1"), None)


def test_posts_come_with_their_question(service, opened):
    assert service.read_post("2")["question_id"] == "1"
    assert service.read_post("1")["question_id"] is None
    with pytest.raises(MissingInputError, match="No post has the id '7'"):
        service.read_post("7")


def test_systems_are_listed_for_posts_and_formulas(service):
    assert service.list_systems() == {
        "posts": 2,
        "default": "ours",
        "systems": [{"name": "ours", "kind": "vectors"}],
        "formula_default": "trees",
        "formula_systems": [{"name": "trees", "kind": "terms"}],
    }


def test_what_formulas_need_is_loaded_beforehand(service, opened, caplog):
    service.warm_up(len)
    assert opened[-1].calls == [len]

    def fail(error):
        def prepare(is_idle):
            raise error

        opened[-1].find_formulas.prepare = prepare
        service.warm_up(len)

    fail(CancelledError())
    assert not caplog.messages
    with caplog.at_level(logging.WARNING):
        fail(MissingInputError("no trees"))
    assert caplog.messages == ["Searches for formulas will fail: no trees"]


def test_the_index_is_let_go_while_posts_are_deleted(service, opened, monkeypatch):
    deleted = []

    def delete(ids):
        assert not opened[-1].is_open
        deleted.append(ids)
        if "8" in ids:
            raise MissingInputError("no 8")

    living = SimpleNamespace(delete=delete)
    monkeypatch.setattr(module, "open_living_index", lambda *place: living)
    assert service.delete(["1"]) == {"deleted": ["1"]}
    assert (len(opened), opened[-1].is_open) == (2, True)
    with pytest.raises(MissingInputError, match="no 8"):
        service.delete(["8"])
    assert (len(opened), opened[-1].is_open) == (3, True)
    with pytest.raises(MissingInputError, match="no 9"):
        service.delete(["9"])
    assert deleted == [["1"], ["8"]]


def test_new_posts_are_cleaned_and_those_that_cannot_be_are_named(service, monkeypatch):
    given = []

    def add(posts):
        given.extend(posts)
        failure = SimpleNamespace(record_id="2", detail="bad")
        return SimpleNamespace(added=("1",), replaced=("3",), failures=[failure])

    living = SimpleNamespace(add=add)
    monkeypatch.setattr(module, "open_living_index", lambda *place: living)

    def raw(post_id, text):
        return RawPost(
            "api", post_id, post_id, "document", None, None, None, None, (), "", text,
            "markdown",
        )  # fmt: skip

    found = service.add([raw("1", "A $x$."), raw("", "B.")])
    assert found == {
        "added": ["1"],
        "replaced": ["3"],
        "failures": [{"id": "2", "problem": "bad"}],
    }
    assert [getattr(p, "text", None) for p in given[:1]] == ["A FORMULA_0."]


def test_what_stops_a_post_is_told_and_what_is_worth_knowing_not(service, monkeypatch):
    problems = [
        Failure("api", "1", "post", "1", "odd", "a formula is odd", kept=True),
        Failure("api", "2", "post", "2", "unreadable_text", "no text"),
    ]
    cleaned = iter([(make_post("1"), problems[:1]), (None, problems[1:])])
    given: list[Any] = []

    def add(posts):
        given.extend(posts)
        return SimpleNamespace(added=("1",), replaced=(), failures=())

    monkeypatch.setattr(module, "PostCleaner", lambda: lambda raw: next(cleaned))
    monkeypatch.setattr(
        module, "open_living_index", lambda *place: SimpleNamespace(add=add)
    )
    service.add(["first", "second"])
    assert given == [make_post("1"), problems[1]]


def test_closing_releases_the_index(service, opened):
    service.close()
    assert not opened[-1].is_open


def test_trees_are_pictures_or_nothing():
    drawn = SearchService.draw_trees("x^2")
    assert drawn["slt"].startswith("<svg") and drawn["opt"].startswith("<svg")
    assert (drawn["latex"], drawn["problems"]) == ("x^2", [])
    broken = SearchService.draw_trees("x^")
    assert broken["problems"] == sorted(broken["problems"]) != []
    large = SearchService.draw_trees("+".join(["x"] * 1500))
    assert (large["slt"], large["opt"]) == (None, None)


def test_graphs_are_drawn_without_a_style_of_their_own():
    text = "(d / document :snt1 (p / prove-01))"
    drawn = _draw(GraphRecord("1", text))
    assert drawn is not None
    assert drawn.startswith("<svg") and "<style>" not in drawn
    assert _draw(None) is None
    assert _draw(GraphRecord("1", text + " " * 150_000)) is None


def test_an_explanation_has_both_texts_and_their_graphs_if_asked(
    service, opened, monkeypatch
):
    asked = []
    query = SimpleNamespace(
        clean=CleanText("A prime.", ()), graph=GraphRecord("q", "(p / prime)")
    )

    def encode(*given):
        asked.append(given)
        return query

    searcher = opened[-1]
    searcher.encode, searcher.find_graph = encode, lambda post_id: None
    searcher.compare = lambda found, post_id: (found is query, post_id)
    view = type(service._view)
    monkeypatch.setattr(view, "show_explanation", lambda self, pair: {"pair": pair})
    shown = service.explain("A prime.", "2")
    assert shown["pair"] == (True, "2")
    assert [s["parts"] for s in shown["query"]] == [[{"text": "A prime."}]]
    assert shown["post"]["post_id"] == "2" and "graphs" not in shown
    graphs = service.explain("p", "2", True, graphs=True)["graphs"]
    assert graphs["query"].startswith("<svg") and graphs["post"] is None
    assert asked == [("A prime.", False), ("p", True)]


def test_what_was_found_is_compared_with_the_query(service, opened, monkeypatch):
    query, searcher = object(), opened[-1]
    found = SimpleNamespace(query=query, keys=["1", "2"])
    searcher.search = lambda *asked: found
    searcher.compare = lambda asked, key: (asked is query, key)
    view = type(service._view)
    monkeypatch.setattr(view, "show", lambda self, answer, pairs: pairs)
    assert service.search("x", 3) == {"1": (True, "1"), "2": (True, "2")}


def test_graphs_are_drawn_up_to_a_size(monkeypatch):
    record = GraphRecord("1", "(p / prime)")
    monkeypatch.setattr(module, "_MAX_DRAWN", len(record.graph))
    assert _draw(record) is not None
    monkeypatch.setattr(module, "_MAX_DRAWN", len(record.graph) - 1)
    assert _draw(record) is None
