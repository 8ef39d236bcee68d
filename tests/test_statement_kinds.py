"""A search for kinds of statements looks deeper until enough are found."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.statement_search import StatementSearch

POSTS = [f"p{n}" for n in range(200)]
"""From the best to the worst; every fiftieth is a lemma, the third an axiom, all others
text."""


class Ranking:
    """A search that returns no more than it was told to go down to."""

    system, systems = "plus", {"plus": "a strategy"}
    store = SimpleNamespace(places=dict.fromkeys(POSTS))

    def __init__(self):
        self.depth, self.asked = 10, []

    def deepen(self, depth):
        self.depth = max(self.depth, depth)

    def __call__(self, query, top, types, system):
        self.asked.append((top, types, system))
        return Hits.rank(POSTS, range(200, 0, -1)).top(min(top, self.depth))

    def explain(self, *asked):
        return asked


class Tables(dict):
    def __getitem__(self, name):
        return SimpleNamespace(exists=lambda: name in self)

    def load(self, name):
        return SimpleNamespace(tables=lambda columns: [self.get(name)])


@pytest.fixture
def search():
    kinds = ["lemma" if n % 50 == 49 else "text" for n in range(200)]
    kinds[2] = "axiom"
    statements = pa.table({"kind": kinds, "post_id": POSTS})
    return StatementSearch(Tables(statements=statements), Ranking())


@pytest.mark.parametrize("top", [1, 2, 4, 5, 90])
def test_kinds_are_found_however_far_down_they_stand(search, top):
    found = search("query", top, ["lemma"])
    assert found.ids == ["p49", "p99", "p149", "p199"][:top]
    fetched = [fetch for fetch, _, _ in search._search.asked]
    expected = {1: [4, 32, 200], 2: [8, 64, 200], 4: [16, 128, 200], 5: [20, 160, 200]}
    assert fetched == expected.get(top, [4 * top])  # eight times as many, up to all
    assert all(types is None for _, types, _ in search._search.asked)


def test_types_of_posts_are_left_to_the_search(search):
    assert len(search("query", 3, ["answer"], "bm25")) == 3
    search("query", 3, ["answer", "lemma"], "bm25")
    assert [types for _, types, _ in search._search.asked[:2]] == [["answer"]] * 2
    assert {system for _, _, system in search._search.asked} == {"bm25"}
    assert search.explain("query", "p1", ["answer", "lemma"]) == (
        "query", "p1", ["answer"], None,
    )  # fmt: skip
    assert search.explain("query", "p1", ["lemma"])[2] is None


def test_unknown_kind_gets_the_nearest_name(search):
    with pytest.raises(
        ConfigurationError, match=r"'lema'.*did you mean 'lemma'.*Known"
    ):
        search("query", 3, ["lema"])
    none = StatementSearch(Tables(), Ranking())
    with pytest.raises(ConfigurationError, match="Known: question, answer"):
        none("query", 3, ["lemma"])
    assert none.describe(["p1"]) == {}


def test_a_search_goes_no_deeper_once_enough_are_found(search):
    assert search("query", 1, ["axiom"]).ids == ["p2"]
    assert [fetch for fetch, _, _ in search._search.asked] == [4]


def test_it_names_the_systems_of_the_search_and_finds_its_graphs(search):
    search._search.find_graph = {"p1": "graph"}.get
    assert (search.system, search.systems) == ("plus", {"plus": "a strategy"})
    assert search.find_graph("p1") == "graph"


class Statements(dict):
    """Rows by id."""

    def find_all(self, column, ids):
        assert column == "post_id"
        return {key: self[key] for key in ids if key in self}


@pytest.mark.parametrize(("links", "used"), [(True, [2, 0]), (False, [0, 0])])
def test_a_statement_is_described_with_how_many_use_it(links, used):
    """Environments of an earlier version have no links."""
    row = SimpleNamespace(kind="lemma", number="1.1", name="Euclid", section="Divisors")
    parts = [pa.table({"premise_id": ids}) for ids in (["p1"], ["p3", "p1"])]
    tables = {"statements": Statements(p1=row, p2=row)}
    if links:
        tables["statement_links"] = SimpleNamespace(tables=lambda columns: parts)
    catalog = Tables(tables)
    catalog.load = tables.__getitem__
    found = StatementSearch(catalog, Ranking()).describe(["p1", "p2", "p9"])
    assert list(found) == ["p1", "p2"]
    assert [found[key].pop("used_by") for key in found] == used
    assert found["p2"] == row.__dict__
