"""Kinds of statements: found however far down, and described with their uses."""

from __future__ import annotations

from types import SimpleNamespace

import pyarrow as pa
import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.search import Lookups, Searcher, Statements
from mathamr_kedro.search.statements import StatementNote
from mathamr_kedro.systems import Query
from mathamr_kedro.systems.found import Found

POSTS = [f"p{n}" for n in range(200)]
"""From the best to the worst; every fiftieth is a lemma, all others text."""


def make_table(**columns):
    return SimpleNamespace(tables=lambda names: [pa.table(columns).select(names)])


STATEMENTS = Statements(
    make_table(
        kind=["lemma" if n % 50 == 49 else "text" for n in range(200)], post_id=POSTS
    )
)


class Systems:
    """Systems that return no more than they were told to go down to."""

    def __init__(self):
        self.asked = []

    def find(self, query, top, system, types, depth):
        self.asked.append((top, types, depth))
        hits = Hits.rank(POSTS, range(200, 0, -1)).top(max(10, depth))
        return Found("all", query, hits)


@pytest.fixture
def searcher():
    index = SimpleNamespace(posts=dict.fromkeys(POSTS))
    vectors = SimpleNamespace(index=index)
    encoder = SimpleNamespace(read_text=lambda text: Query("query", text))
    lookups = Lookups(lambda ids: {}, statements=STATEMENTS)
    return Searcher(Systems(), vectors, encoder, lookups)


@pytest.mark.parametrize("top", [1, 2, 4, 5, 90])
def test_kinds_are_found_however_far_down_they_stand(searcher, top):
    hits, _ = searcher.rank("x", top, ["lemma"])
    assert hits.ids == ["p49", "p99", "p149", "p199"][:top]
    fetched = [fetch for fetch, _, _ in searcher.systems.asked]
    expected = {1: [4, 32, 200], 2: [8, 64, 200], 4: [16, 128, 200], 5: [20, 160, 200]}
    assert fetched == expected.get(top, [4 * top])  # eight times as many, up to all


@pytest.mark.parametrize(
    ("names", "types"),
    [
        (["lemma", "answer"], ("answer",)),
        (["lemma"], None),
        (["answer"], ("answer",)),
        (None, None),
        ([], ()),
    ],
)
def test_kinds_are_no_types_for_a_system(searcher, names, types):
    searcher.rank("x", 1, names)
    assert {asked[1] for asked in searcher.systems.asked} == {types}


def test_unknown_kind_gets_the_nearest_name(searcher):
    with pytest.raises(
        ConfigurationError, match=r"'lema'.*did you mean 'lemma'.*Known"
    ):
        searcher.rank("x", 3, ["lema"])
    with pytest.raises(ConfigurationError, match="Known: question, answer"):
        Statements().find_posts(["lemma"])
    assert Statements().describe(["p1"]) == {}


@pytest.mark.parametrize(("links", "used"), [(True, [2, 0]), (False, [0, 0])])
def test_a_statement_is_described_with_how_many_use_it(links, used):
    """Environments of an earlier version have no links."""
    about = {"kind": "lemma", "number": "1.1", "name": "Euclid", "section": "Divisors",
             "source": "a.tex", "place": "line 3", "url": ""}  # fmt: skip
    rows = {key: SimpleNamespace(post_id=key, **about) for key in ("p1", "p2")}
    table = SimpleNamespace(find_all=lambda column, ids: rows)
    users = ["q1", "q2", "q3"]
    uses = make_table(premise_id=["p1", "p3", "p1"], post_id=users) if links else None
    found = Statements(table, uses).describe(["p1", "p2", "p9"])
    assert [note.used_by for note in found.values()] == used
    assert found["p2"] == StatementNote(**about, used_by=0)
    assert found["p2"].title == "Lemma 1.1 (Euclid)"
