"""The suite as a file."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.environments import complete_environment
from mathamr_kedro.experiments.benchmark import Benchmark
from tests.conftest import PROJECT

SUITE = PROJECT / "conf" / "benchmarks.yml"
ENTRY = """
mine:
  title: Mine
  environment: demo
  topic_sets: [own]
  protocol: "1"
  measures: ["nDCG'"]
  reference: bm25
"""


def read(tmp_path, text: str) -> dict[str, Benchmark]:
    file = tmp_path / "suite.yml"
    file.write_text(text)
    return Benchmark.read_all(file)


@pytest.mark.parametrize("benchmark", Benchmark.read_all(SUITE).values(), ids=str)
def test_every_benchmark_of_the_project_can_be_scored(benchmark):
    """Its environment, protocol and measures are there, and it says what it needs."""
    known = complete_environment(PROJECT / "conf", "")
    assert benchmark.environment in ["", *known]
    assert len(benchmark.headline) == 2
    assert benchmark.queries > 0
    assert benchmark.variable or benchmark.environment == "demo"


def test_entry_is_read_with_its_name(tmp_path):
    found = read(tmp_path, ENTRY)["mine"]
    assert (found.name, found.task, found.depth) == ("mine", 1, 1000)
    assert found.headline == ("nDCG'",)
    assert found.make_protocol().average == "judged"


@pytest.mark.parametrize(
    ("protocol", "task", "ranked"),
    [("trec", 1, "trec"), ("trec", 2, "2"), ("2", 2, "2"), ("1", 1, "1")],
)
def test_formulas_are_ranked_by_what_they_look_like(tmp_path, protocol, task, ranked):
    text = ENTRY.replace('protocol: "1"', f'protocol: "{protocol}"')
    text = text.replace("nDCG'", "nDCG@10" if protocol == "trec" else "nDCG'")
    found = read(tmp_path, f"{text}  task: {task}\n")["mine"]
    assert found.make_protocol().task == ranked


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title", "titel", r"benchmarks.mine.titel'; did you mean 'title'.*suite.yml"),
        ("environment: demo", "task: 1", "either an environment or qrels"),
        ("topic_sets: [own]", "task: 1", "at least one topic set"),
        ('["nDCG\'"]', "[]", "at least one measure"),
        ("environment: demo", "qrels: q.tsv", "a variable that names the folder"),
        ("mine:", "- mine:", "YAML in|benchmarks by name"),
    ],
)
def test_wrong_entry_is_refused(tmp_path, old, new, message):
    with pytest.raises(ConfigurationError, match=message):
        read(tmp_path, ENTRY.replace(old, new))


def test_missing_suite_is_named(tmp_path):
    with pytest.raises(MissingInputError, match=r"conf/benchmarks\.yml"):
        Benchmark.read_all(tmp_path / "none.yml")


def test_benchmarks_are_chosen_by_name(tmp_path):
    suite = read(tmp_path, ENTRY + ENTRY.replace("mine", "other"))
    assert [b.name for b in Benchmark.choose(suite, [])] == ["mine", "other"]
    assert [b.name for b in Benchmark.choose(suite, ["other"])] == ["other"]
    with pytest.raises(ConfigurationError, match="did you mean 'other'"):
        Benchmark.choose(suite, ["othr"])


def test_reference_is_the_best_of_its_pattern(tmp_path):
    text = ENTRY.replace("reference: bm25", "reference: bm25*")
    benchmark = read(tmp_path, text)["mine"]
    means = {"ours": 0.9, "bm25": 0.5, "bm25_graph": 0.6}
    assert benchmark.choose_reference(means) == "bm25_graph"
    assert benchmark.choose_reference({"ours": 0.9}) is None
