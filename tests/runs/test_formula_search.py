"""What a search for formulas reads beforehand, and how it waits for its turn."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from mathamr_kedro.base.hits import FormulaHits
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.formula import PatternMatch
from mathamr_kedro.runs import FormulaSearch, NamedFusion, formula_search
from tests.conftest import PATIENCE

LONG = int(PATIENCE) * 100  # looks, a hundredth of a second each
FUSIONS = (
    NamedFusion("mean", name="trees", of=("ours", "bm25_slt")),
    NamedFusion("mean", name="words", of=("ours", "bm25", "paper")),
)
FORMULAS = [FormulaInstance(f"f{n}", f"v{n}", f"p{n}", "x") for n in range(3)]


@pytest.fixture
def built(monkeypatch):
    """The baselines that were built, each with the formulas that it read."""
    found = {}

    def build(system, formulas, trees_of, text_model):
        found[system] = [f.formula_id for f in formulas]
        return system

    monkeypatch.setattr(formula_search, "build_formula_ranker", build)
    return found


def open_search(system="ours", places=(), trees_of=None, find=None):
    store = SimpleNamespace(places=dict.fromkeys(places))
    return FormulaSearch(
        None, store, "ours", FUSIONS, lambda: FORMULAS, find, trees_of, system,
        papers={"paper": None},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("system", "read"),
    [("trees", "bm25_slt"), ("words", "bm25"), ("bm25_opt", "bm25_opt"), ("ours", "")],
)
def test_what_the_usual_system_needs_is_read_beforehand(built, system, read):
    search = open_search(system)
    search.prepare(lambda seconds: True)
    assert built == ({read: ["f0", "f1", "f2"]} if read else {})
    if read:
        assert search._open_ranker(read) == read


def test_a_baseline_is_built_once(built):
    search = open_search()
    assert search._open_ranker("bm25") == "bm25"
    built.clear()
    assert search._open_ranker("bm25") == "bm25"
    search._open_ranker("bm25", lambda seconds: True)
    assert built == {}


def test_each_formula_is_read_in_an_idle_moment(built):
    answers = [False, False, True, True, False, True]
    search = open_search("bm25")
    search.prepare(lambda seconds: answers.pop(0))
    assert answers == []
    assert built["bm25"] == ["f0", "f1", "f2"]


def test_what_somebody_waits_for_is_read_at_once(built):
    search = open_search("bm25")
    search._awaited.set()
    search.prepare(lambda seconds: pytest.fail("waited"))
    assert built["bm25"] == ["f0", "f1", "f2"]


def test_who_needs_what_is_being_read_makes_it_hurry(built):
    search, looked, looks = open_search("bm25"), threading.Event(), []

    def is_idle(seconds):
        looked.set()
        looks.append(seconds)
        time.sleep(0.01)
        return len(looks) > LONG  # searches go on and on

    reading = threading.Thread(target=search.prepare, args=[is_idle], daemon=True)
    reading.start()
    assert looked.wait(PATIENCE)
    assert search._open_ranker("bm25") == "bm25"
    reading.join(PATIENCE)
    assert len(looks) < LONG


def test_who_waited_leaves_no_haste_behind(built):
    search = open_search("bm25")
    search._open_ranker("bm25")
    assert not search._awaited.is_set()
    asked = []
    search._open_ranker("bm25_slt", lambda seconds: asked.append(seconds) or True)
    assert asked == [0.05] * 3


def test_each_post_is_shown_once_if_it_is_in_the_store(monkeypatch):
    search = open_search(places=["p1", "p2", "p3"])
    posts = ["p9", "p1", "p2", "p1", "p3"]
    names = [f"f{n}" for n in range(5)]
    hits = FormulaHits(names, np.arange(5, 0, -1.0), names, posts)
    runs = {"ours": SimpleNamespace(lists={"q": hits})}
    monkeypatch.setattr(search, "_search", lambda *asked, system: runs)
    query = SimpleNamespace(entry=SimpleNamespace(key="q"), pattern=None)
    assert search(query, 2).ids == ["f1", "f2"]
    assert search(query, 9).ids == ["f1", "f2", "f4"]


def test_instances_of_a_pattern_come_first_then_what_holds_one(monkeypatch):
    matches = {
        "part": PatternMatch({}, is_whole=False),
        "whole": PatternMatch({}, is_whole=True),
    }
    kinds = {"f0": "none", "f1": "part", "f2": "whole", "f3": "no tree"}
    pattern = SimpleNamespace(match=matches.get)
    search = open_search(
        places=["p"],
        find=lambda ids: {i: i for i in ids if i in kinds},
        trees_of=lambda f: None if f == "f3" else SimpleNamespace(opt=kinds[f]),
    )
    names = ["f9", "f3", "f0", "f1", "f2"]
    hits = FormulaHits(names, np.arange(5, 0, -1.0), names, names)
    query = SimpleNamespace(pattern=pattern)
    assert search._put_first(query, hits).ids == ["f2", "f1", "f9", "f3", "f0"]
    assert search.match(SimpleNamespace(pattern=None), "f2") is None
