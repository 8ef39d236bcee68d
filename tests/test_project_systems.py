"""Which systems a search may ask, and when those of other papers are opened."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from mathamr_kedro import project_systems
from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.records import FormulaInstance, Topic
from mathamr_kedro.pipelines.indexing.parameters import IndexingConfig
from mathamr_kedro.project import open_catalog
from mathamr_kedro.project_systems import ProjectSystems, explain_formula
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
    catalog = open_catalog("demo")
    return {
        "params:evaluation": catalog.load("params:evaluation"),
        "params:indexing": catalog.load("params:indexing"),
        "posts": Rows(),
        "formula_trees": {},
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
    config = IndexingConfig.read(tables["params:indexing"])
    return ProjectSystems(catalog, config, finds, system, fuse_with)


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


@pytest.fixture
def store(tmp_path):
    return SimpleNamespace(folder=tmp_path, places={})


def test_systems_of_papers_are_asked_for_what_they_find(tables, store):
    encoder = SimpleNamespace(encode_part=None)
    systems = open_systems(tables)
    posts = systems.open_posts(None, store, encoder).systems
    formulas = systems.open_formulas(None, store).systems
    assert (posts["marf"], formulas["ssemb/mixed"]) == ("system", "system")
    assert "ssemb/mixed" not in posts and "marf" not in formulas


def test_a_search_has_the_systems_of_the_evaluation(tables, store):
    encoder = SimpleNamespace(encode_part=None)
    tables["params:evaluation"] |= {"depth": 77, "strategies": [{"name": "mine"}]}
    systems = open_systems(tables, "formulas", "bm25_slt")
    posts = systems.open_posts(None, store, encoder)
    assert {"mine", "mathamr_plus", "bm25"} <= {*posts.systems}
    formulas = systems.open_formulas(None, store)
    assert (posts.depth, formulas.depth) == (77, 77)
    default = tables["params:indexing"]["search"]["system"]
    assert (posts.system, formulas.system) == (default, "bm25_slt")


def test_a_search_for_formulas_reads_those_of_the_table(tables, store):
    known = FormulaInstance("a", "v", "7", "x")
    tables["returnable_formulas"] = SimpleNamespace(records=lambda: [known])
    formulas = open_systems(tables).open_formulas(None, store)
    assert list(formulas.read_formulas()) == [known]


class Matching:
    """A system that compares parts of formulas."""

    def explain(self, topic, found):
        return [(topic, found)]


@pytest.fixture
def explained(tables, monkeypatch):
    """Explain by the systems of the tables."""
    known = Topic("B.1", "task2", 2021, "", (), "", (), "q", "x", None, None, None)
    tables["indexed_systems"]["rgcn"] = {"rankers": {"2": ["rgcn/slg"]}}
    tables["trained_systems"]["rgcn"] = {"folder": "r/3"}
    tables["topics"] = SimpleNamespace(
        find=lambda column, key: known if (column, key) == ("topic_id", "B.1") else None
    )
    rankers = {2: {"rgcn/slg": Matching(), "ssemb/mixed": object()}}
    tables["systems"] = SimpleNamespace(
        open=lambda folder: SimpleNamespace(open=lambda sources: rankers)
    )
    catalog = SimpleNamespace(load=tables.__getitem__)
    monkeypatch.setattr(project_systems, "open_catalog", lambda *place: catalog)
    return lambda text, system: explain_formula(text, "f7", system, "own")


def test_a_topic_or_a_formula_is_explained(explained):
    ((topic, found),) = explained("B.1", "rgcn/slg")
    assert (topic.topic_id, topic.latex, found) == ("B.1", "x", "f7")
    ((topic, _),) = explained("y^2", "rgcn/slg")
    assert (topic.task, topic.latex, topic.formula_id) == ("task2", "y^2", "q")


def test_only_systems_that_compare_parts_of_formulas_explain(explained):
    with pytest.raises(ConfigurationError, match=r"'ssemb/mixed', which compares them"):
        explained("x", "ssemb/mixed")
    with pytest.raises(ConfigurationError, match="'rgcn/slt'; did you mean 'rgcn/slg'"):
        explained("x", "rgcn/slt")
    with pytest.raises(ConfigurationError, match="indexed: ssemb/mixed, rgcn/slg "):
        explained("x", "marf")  # it finds posts
