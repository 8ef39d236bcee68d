"""The search of a project: what it says before there is an index, and how it ranks."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.project import search as project_search
from mathamr_kedro.project.catalog import open_catalog
from mathamr_kedro.project.checks import STAGES
from mathamr_kedro.project.search import open_search, open_updatable_index
from mathamr_kedro.search.closeness import FAR
from mathamr_kedro.systems.mathamr_plus import Encoder


@pytest.fixture
def searcher(demo, monkeypatch):
    """Open the search of the finished demo; it is closed at the end."""
    monkeypatch.chdir(demo)
    opened = []

    def open_one(**options):
        opened.append(open_search("demo", **options))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


def test_missing_index_names_a_command_with_a_stage_that_exists(monkeypatch):
    catalog = {"mathamr_plus.index": SimpleNamespace(exists=lambda: False)}
    monkeypatch.setattr(project_search, "open_catalog", lambda *_: catalog)
    with pytest.raises(MissingInputError, match="kedro run --env own") as caught:
        open_search("own")
    (stage,) = re.findall(r"--pipelines ([\w.]+)", str(caught.value))
    assert stage in STAGES


def test_an_index_of_another_encoder_is_refused(demo, monkeypatch):
    monkeypatch.chdir(demo)
    monkeypatch.setattr(Encoder, "checksum", "new")
    with pytest.raises(ConfigurationError, match=r"'new' \(got one of ") as caught:
        open_updatable_index("demo")
    assert "kedro run --pipelines indexing --env demo" in str(caught.value)


def test_an_index_that_another_environment_made_is_refused(demo, monkeypatch):
    """``demo`` and ``demo+scratch`` share a data root: the last run is searched."""
    monkeypatch.chdir(demo)
    with pytest.raises(ConfigurationError, match=r"made by --env demo,.*") as caught:
        open_updatable_index("demo+scratch")
    assert "run `kedro run --env demo+scratch`" in str(caught.value)
    for env in (None, "demo", "demo+ray"):  # without a name, or with the same encoder
        open_updatable_index(env)


@pytest.mark.parametrize("system", ["mathamr_plus", "bm25_tuples", "mathamr_plus+bm25"])
def test_search_for_a_formula_ranks_as_the_run_of_the_evaluation(searcher, system):
    """Visual ids are what the run names; of each post the first is shown."""
    search = searcher(system=system, finds="formulas")
    catalog = open_catalog("demo")
    records = {t.topic_id: t for t in catalog.load("topics").records()}
    (run,) = [r for e, r in catalog.load("runs") if (e.task, e.system) == (2, system)]
    for topic in list(run.lists)[:3]:
        query = search.lookups.topic(topic)
        record = records[topic]
        latex = {m.formula_id: m.latex for m in record.formula_map}
        latex[record.formula_id] = record.latex
        assert {m.formula_id: m.latex for m in query.formula_map} == latex
        found = search.systems.find(query).hits
        assert found.visual_ids == run.lists[topic].ids
        shown = [r.post_id for r in search.search_like(topic, top=20).results]
        assert shown == list(dict.fromkeys(found.post_ids))[:20]


@pytest.mark.parametrize("system", ["mathamr_plus", "bm25", "mathamr_plus+bm25"])
def test_search_for_a_topic_ranks_as_the_run_of_the_evaluation(searcher, system):
    search = searcher(system=system)
    folder = open_catalog("demo").load("runs")
    (run,) = [r for e, r in folder if (e.task, e.system) == (1, system)]
    for topic in ("A.1001", "A.1010", "A.1024"):
        found = search.search_like(topic, top=30).results
        assert [r.post_id for r in found] == run.lists[topic].ids[:30]


def test_the_system_is_asked_for_what_it_is_meant(searcher):
    search = searcher(system="bm25", fuse_with=["mathamr_plus"])
    assert search.systems.choose("posts") == "bm25+mathamr_plus"
    assert search.systems.choose("formulas") == "with_patterns"
    assert {"bm25", "with_question", "mathamr_plus+bm25", "words+vectors"} <= {
        *search.systems.list_systems("posts")
    }
    with pytest.raises(ConfigurationError, match="did you mean 'bm25'"):
        searcher(system="bm26")


def test_named_queries_find_what_they_name(searcher):
    search = searcher()
    for name in ("Cauchy-Schwarz", "Nesbitt", "Sherman–Morrison", "Cantor's theorem"):
        first = search.search(name, top=1)
        (best,) = first.found.hits.ids
        words = f"{first} {search.lookups.texts([best])[best].text}"
        assert all(part in words for part in name.replace("–", "-").split("-"))
        assert not first.response.nothing_close


@pytest.mark.parametrize(
    "text", ["best pizza in Naples", "how do I renew my passport online"]
)
def test_nothing_close_is_said_to_be_close(searcher, text):
    found = searcher().search(text)
    assert found.response.nothing_close and found.results
    assert "\nnothing close was found; nearest:\n1. " in str(found)
    assert all(r.closeness < FAR and r.close == "far" for r in found.results)


def test_a_dollar_that_nothing_closes_is_named(searcher):
    found = searcher().search("prove that $a+b is even", top=1)
    assert any("nothing closes a '$'" in warning for warning in found.response.warnings)


def test_formulas_are_read_as_keyboards_have_them(searcher):
    found = searcher().search("is sqrt(p) <= pi as n → ∞", top=1)
    formulas = [m.latex.split() for m in found.found.query.formula_map]
    assert formulas == [[r"\sqrt{p}", r"\le", r"\pi"], ["n", r"\to", r"\infty"]]


def test_a_title_finds_the_same(searcher):
    title = "Prove that $\\sqrt p$ is irrational for every prime $p$"
    found = searcher().search(title).response
    assert found.results[0].close == "the same"
    assert not found.nothing_close and not found.warnings
    assert found.did_you_mean is None


def test_topics_without_vectors_are_named_with_those_that_have_some(searcher):
    find = searcher().lookups.topic
    assert find("a question") is None
    with pytest.raises(MissingInputError, match=r"\(got 'A\.1999'\).* has 48 topics"):
        find("A.1999")
