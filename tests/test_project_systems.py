"""Which systems a search may ask, and when those of other papers are opened."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mathamr_kedro.project import open_catalog
from mathamr_kedro.project_systems import ProjectSystems
from tests.conftest import PROJECT
from tests.fake_tables import Rows


class Systems:
    """Trained systems that note when they are opened."""

    def __init__(self):
        self.opened = []

    def open(self, folder):
        def open_one(sources):
            self.opened.append((folder, sources))
            rank = lambda topics, depth: [(topics, depth)]  # noqa: E731
            return {2: {"ssemb/mixed": rank}, 1: {"marf": rank}}

        return SimpleNamespace(open=open_one)


@pytest.fixture
def tables(monkeypatch):
    monkeypatch.chdir(PROJECT)
    return {
        "params:evaluation": open_catalog("demo").load("params:evaluation"),
        "systems": Systems(),
        "system_sources": "sources",
        "trained_systems": {"ssemb": {"folder": "ssemb/1"}, "marf": {"folder": "m/2"}},
        "indexed_systems": {
            "ssemb": {"rankers": {"2": ["ssemb/mixed"]}},
            "marf": {"rankers": {"1": ["marf"]}},
        },
        "returnable_formulas": Rows(SimpleNamespace(formula_id=n) for n in "abc"),
        "math_graphs": Rows([SimpleNamespace(graph_id="7")]),
        "topic_math_graphs": Rows([SimpleNamespace(graph_id="A.1")]),
    }


def open_systems(tables, finds="posts", system=None, fuse_with=()):
    catalog = SimpleNamespace(load=tables.__getitem__)
    return ProjectSystems(catalog, None, finds, system, fuse_with)


def test_the_system_of_the_search_is_asked_where_it_is_meant(tables):
    systems = open_systems(tables, "posts", "bm25")
    assert systems._choose("posts", "default", ["f"]) == ("bm25", ["f"])
    assert systems._choose("formulas", "default", ["f"]) == ("default", ["f"])
    assert open_systems(tables)._choose("posts", "default", []) == ("default", [])


def test_systems_to_fuse_with_make_one_fusion_more(tables):
    systems = open_systems(tables, "posts", None, ("bm25", "marf"))
    name, fusions = systems._choose("posts", "default", ["f"])
    assert name == "default+bm25+marf"
    (fused,) = fusions[1:]
    assert (fused.name, fused.of) == (name, ("default", "bm25", "marf"))


def test_systems_of_papers_are_opened_when_first_asked_and_once(tables):
    systems = open_systems(tables)
    found = systems._open_papers(2)
    assert [*found] == ["ssemb/mixed"] and [*systems._open_papers(1)] == ["marf"]
    assert tables["systems"].opened == []
    for depth in (3, 4):
        assert found["ssemb/mixed"](["topic"], depth) == [(["topic"], depth)]
    assert tables["systems"].opened == [("ssemb/1", "sources")]


def test_instances_and_graphs_are_looked_up(tables):
    systems = open_systems(tables)
    assert [*systems._find_instances(["a", "c", "z"])] == ["a", "c"]
    assert systems._find_graph("7") is tables["math_graphs"][0]
    assert systems._find_graph("A.1") is tables["topic_math_graphs"][0]
    assert systems._find_graph("8") is None
