"""The tutorial's own system: one file, one line of configuration, all stages."""

from __future__ import annotations

import re
import sys

import pytest

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.systems import Query, read_system
from tests.conftest import PROJECT
from tests.pipelines.evaluation.planted_world import evaluate, plant
from tests.pipelines.graph_world import open_catalog, open_session

TUTORIAL = PROJECT / "docs" / "tutorials" / "5_add_a_system.md"
VALUES = {"class": "longest:Longest"}


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The module of the tutorial, where Python finds it."""
    code = re.search(r"```python\n(.*?)```", TUTORIAL.read_text(), re.DOTALL)[1]
    (tmp_path / "longest.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "longest", raising=False)


def test_it_is_indexed_evaluated_and_asked(module, tmp_path):
    data = tmp_path / "data"
    plant(data)
    systems = {"longest": VALUES}
    with open_session(data, systems=systems) as session:
        session.run(pipeline_names=["indexing"], namespaces=["indexing.longest"])
    evaluate(data, systems=systems)
    catalog = open_catalog(data)
    (run,) = catalog.load("longest.runs")
    assert (run.name, run.task) == ("longest", 1)
    assert "longest" in {entry.system for entry in catalog.load("runs").entries}
    index = catalog.load("longest.index")
    (hits,) = index.rank([Query("q", "descent")], depth=2)
    assert hits.ids == ["3", "4"]  # the longer one first


def test_a_class_that_cannot_be_made_is_named(module):
    with pytest.raises(ConfigurationError, match=r"systems\.mine: Longest"):
        read_system("mine", {**VALUES, "size": 3})
    with pytest.raises(ConfigurationError, match=r"'longest:Short'.*mine\.class"):
        read_system("mine", {"class": "longest:Short"})
