"""The suite of the benchmark, and the evaluations that it reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.evaluation.tables.benchmark import Benchmark
from mathamr_kedro.experiments.benchmark import read_collection, read_suite
from mathamr_kedro.experiments.cells import CellStore
from mathamr_kedro.experiments.grid import Experiment, list_cells
from mathamr_kedro.project.loader import EnvironmentLoader
from tests.conftest import PROJECT
from tests.evaluation.tables.collection_scores import ENTRY
from tests.experiments.cells import PARAMETERS, save_cell

SUITE = PROJECT / "conf" / "benchmarks.yml"
TEXT = """
mine:
  title: Mine
  environment: demo
  topic_set: own
  measures: ["nDCG'"]
  reference: bm25
"""


@pytest.mark.parametrize("benchmark", read_suite(SUITE).values(), ids=str)
def test_every_benchmark_of_the_project_can_be_scored(benchmark):
    """Its environment and measures are there, and it says what it needs."""
    for environment in (benchmark.environment, benchmark.with_papers().environment):
        loader = EnvironmentLoader(
            str(PROJECT / "conf"), environment, **EnvironmentLoader.ARGUMENTS
        )
        parameters = loader["parameters"]
        assert {*benchmark.measures} <= {*parameters["evaluation"]["measures"]}
    assert bool(benchmark.papers) == bool(parameters.get("systems"))
    assert len(benchmark.headline) == 2
    assert benchmark.queries > 0
    is_embedded = benchmark.environment in ("demo", "sample_queries")
    assert benchmark.variable or is_embedded


def read(tmp_path, text: str) -> dict[str, Benchmark]:
    file = tmp_path / "suite.yml"
    file.write_text(text)
    return read_suite(file)


def test_entry_is_read_with_its_name(tmp_path):
    found = read(tmp_path, TEXT)["mine"]
    assert (found.name, found.task, found.headline) == ("mine", 1, ("nDCG'",))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title", "titel", r"benchmarks.mine.titel'; did you mean 'title'.*suite.yml"),
        ('["nDCG\'"]', "[]", "at least one measure"),
        ("mine:", "- mine:", "YAML in|benchmarks by name"),
    ],
)
def test_wrong_entry_is_refused(tmp_path, old, new, message):
    with pytest.raises(ConfigurationError, match=message):
        read(tmp_path, TEXT.replace(old, new))


def test_missing_suite_is_named(tmp_path):
    with pytest.raises(MissingInputError, match=r"conf/benchmarks\.yml"):
        read_suite(tmp_path / "none.yml")


@pytest.fixture
def cell(tmp_path):
    """One evaluation of three systems, two of which are strategies of one encoder."""
    (cell,) = list_cells(Experiment("mine", {"a": {}}, "a", seeds=(1,)), PARAMETERS)
    store = CellStore(tmp_path)
    systems = {"mathamr_plus/maxsim": 0.5, "mathamr_plus/single": 0.4, "bm25": 0.3}
    save_cell(store, cell, systems)
    return store.find(cell.key, "data")


def test_scores_are_those_of_the_evaluation(cell):
    entry = replace(ENTRY, rows={"mathamr_plus/maxsim": "mathamr_plus"})
    found = read_collection(entry, cell)
    assert list(found.systems) == ["mathamr_plus", "mathamr_plus/single", "bm25"]
    expected = {
        m["measure"]: m["mean"]
        for m in cell.metrics
        if (m["task"], m["system"]) == (1, "bm25")
    }
    for measure in ENTRY.measures:
        assert found.mean("bm25", measure) == pytest.approx(expected[measure])
    assert (found.num_topics, len(found.scored.topics)) == (20, 20)
    assert (found.scored.floors["MAP'"], found.scored.ceilings["MAP'"]) == (0.05, 0.99)


def test_trained_systems_have_an_index_of_their_own(cell):
    systems = read_collection(ENTRY, cell).systems
    assert systems["bm25"].figures == {"milliseconds": pytest.approx(1000 / 41)}
    size = systems["mathamr_plus/single"].figures["index_megabytes"]
    assert size == pytest.approx(145.6)


def test_two_systems_have_no_row_in_common(cell):
    entry = replace(ENTRY, rows={"mathamr_plus/maxsim": "bm25"})
    with pytest.raises(ConfigurationError, match="one system for the row 'bm25'"):
        read_collection(entry, cell)


def test_topics_that_were_not_evaluated_are_named(cell):
    with pytest.raises(MissingInputError, match="Expected scores of dev"):
        read_collection(replace(ENTRY, topic_set="dev"), cell)
    with pytest.raises(MissingInputError, match="by recall@10 in the evaluation"):
        read_collection(replace(ENTRY, measures=("recall@10",)), cell)
