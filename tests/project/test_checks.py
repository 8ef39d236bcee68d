"""Parameters of all stages are checked before the first one runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.base.parameters import merge_parameters
from mathamr_kedro.project.catalog import open_catalog
from mathamr_kedro.project.checks import STAGES, check_stage_parameters

PROJECT = Path(__file__).parents[2]
HNSW = {"retrieval": "maxsim", "search": "hnsw"}


@pytest.fixture(scope="module")
def parameters() -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(PROJECT)
        return open_catalog("demo").load("parameters")


def check(parameters, running=(), **changes):
    return check_stage_parameters(merge_parameters(parameters, changes), running)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ingestion": {"records_per_shard": 0}}, "ingestion: .*records_per_shard"),
        ({"training": {"compute": {"device": "gpu"}}}, "training.compute: .*'gpu'"),
        ({"indexing": {"encoding": {"posts_per_shard": 0}}}, "posts_per_shard"),
        (
            {"indexing": {"strategy": {"post_types": ["anwser"]}}},
            "indexing.strategy: .*'anwser'.*did you mean 'answer'",
        ),
        (
            {"indexing": {"strategy": HNSW}},
            r"indexing.strategy: .*indexing\.engine\.hnsw\.all_m 16",
        ),
        (
            {"indexing": {"engine": {"engine": "exact"}},
             "evaluation": {"strategies": [HNSW | {"name": "walk"}]}},
            r"evaluation\.strategies.*'edge' or 'server'",
        ),
        (
            {"preprocessing": {"graph": {"structure": "none"}},
             "evaluation": {"strategies": [{"name": "a", "with_document": 0.2}]}},
            r"preprocessing\.graph\.structure 'none'",
        ),
        ({"evaluation": {"measures": ["nDGC'"]}}, "Unknown measure"),
        (
            {"evaluation": {"fusions": [{"name": "x", "of": ["bm25", "bm52"]}]}},
            "no system is named 'bm52'; did you mean 'bm25'",
        ),
        (
            {"evaluation": {"baselines": ["bm25_graph", "bm25_slt"], "fusions": [
                {"name": "x", "of": ["bm25_graph", "bm25_slt"]}]}},
            "no task has all of",
        ),
        (
            {"evaluation": {"fusions": [{"name": "bm25", "of": ["bm25"]}]}},
            "different names",
        ),
        (
            {"evaluation": {"fusions": [
                {"name": "x", "method": "rrf", "of": ["bm25"], "weights": [1, 2]}]}},
            "Expected 1 weights",
        ),
        (
            {"evaluation": {"strategies": [{"name": "a"}, {"name": "a"}]}},
            "strategies of different names",
        ),
        ({"evaluation": {"optional_baselines": ["text"]}}, r"evaluation\.text_model"),
        ({"significance": {"tests": {"alpha": 5.0}}}, "significance.tests: .*alpha"),
        ({"significance": {"tests": {"num_samples": 0}}}, "num_samples of at least 1"),
        ({"systems": {"ssemd": None}}, "No system is named 'ssemd'.*mean 'ssemb'"),
        ({"systems": {"ssemb": {"dept": 3}}}, r"'systems\.ssemb\.dept'"),
    ],
)  # fmt: skip
def test_what_a_later_stage_cannot_do_is_refused_at_once(parameters, changes, message):
    with pytest.raises(ConfigurationError, match=message) as refusal:
        check(parameters, STAGES, **changes)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("stage", "changes", "message"),
    [
        ("training", {"training": {"start_from": "nobody"}}, "released encoder"),
        (
            "training",
            {"training": {"compute": {"device": "cuda:99"}}},
            "'cuda:99' to be on this machine",
        ),
        (
            "training",
            {"training": {"text_model": "no/such", "start_from": None,
                          "distillation": {"document_weight": 1.0}}},
            r"training\.text_model: ",
        ),
        (
            "preprocessing",
            {"preprocessing": {"graph": {"sentence_roots": "chunks"}}},
            "was trained on",
        ),
        (
            "training",
            {"preprocessing": {"vocabulary": {"source": None}}},
            r"preprocessing\.vocabulary\.source 'mathamr_plus'",
        ),
        (
            "evaluation",
            {"evaluation": {"baselines": ["bm25", "text"], "text_model": "no/such"}},
            r"evaluation\.baselines: 'text' cannot be used.*optional_baselines",
        ),
        (
            "indexing",
            {"indexing": {"search": {"fusion": {"of": ["bm25", "text"]}}},
             "evaluation": {"text_model": "no/such"}},
            r"indexing\.search: 'text' cannot be asked: ",
        ),
    ],
)  # fmt: skip
def test_a_run_needs_what_its_stages_need(parameters, stage, changes, message):
    with pytest.raises((ConfigurationError, MissingInputError), match=message):
        check(parameters, [stage], **changes)
    check(parameters, ["ingestion"], **changes)  # a stage that is not concerned


def test_stages_that_do_not_run_contradict_nobody(parameters):
    check(parameters, ["ingestion"], indexing={"strategy": HNSW})


def test_optional_baselines_stop_no_run(parameters):
    optional = {"optional_baselines": ["text"], "text_model": "no/such"}
    check(parameters, STAGES, evaluation=optional)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"measures": ["MAP"]}, r"experiment\.measures among evaluation\.measures"),
        ({"strategies": ["walk"]}, r"experiment\.strategies among"),
    ],
)
def test_an_experiment_shows_what_is_evaluated(parameters, changes, message):
    experiment = {"name": "x", "conditions": {"a": {}}, "baseline": "a"}
    check(parameters, experiment=experiment)
    with pytest.raises(ConfigurationError, match=message):
        check(parameters, experiment=experiment | changes)


@pytest.mark.parametrize(
    "env",
    ["base", "test", "own", "pool", "pool+scratch", "pool+finetune", "arqmath+judged"],
)
def test_environments_fit_together(env, monkeypatch):
    monkeypatch.chdir(PROJECT)
    for name in ("MATHAMR_COLLECTION", "MATHAMR_ARQMATH"):
        monkeypatch.setenv(name, "data/01_raw/sample")
    check_stage_parameters(open_catalog(env).load("parameters"))


def test_a_system_without_parameters_has_its_own(parameters):
    """As ``ssemb:`` by itself in a line of YAML."""
    assert {*check(parameters, systems={"ssemb": None})} == {*STAGES}


def test_an_unknown_group_gets_the_nearest_name(parameters):
    with pytest.raises(ConfigurationError, match=r"'trainig'; did you mean 'training'"):
        check(parameters, trainig={})


def test_a_pipeline_of_ones_own_may_have_parameters_of_any_name(parameters):
    assert {*check(parameters, mine={"width": 3}, width=3)} == {*STAGES}


def test_graphs_without_documents_are_searched_by_their_nodes(parameters):
    graphs = {"graph": {"structure": "none"}}
    plain = {"strategies": [{"name": "a", "retrieval": "maxsim"}]}
    documents = {"strategies": [{"name": "a", "retrieval": "single"}]}
    check(parameters, ["evaluation"], preprocessing=graphs, evaluation=plain)
    with pytest.raises(
        ConfigurationError, match=r"evaluation\.strategies, \w+: .*'maxsim'"
    ):
        check(parameters, ["evaluation"], preprocessing=graphs, evaluation=documents)
    check(parameters, ["evaluation"], evaluation=documents)


def test_what_one_group_says_is_checked_without_the_others(parameters):
    """``kedro run`` of one stage may have only its parameters."""
    for stage in ("preprocessing", "evaluation", "training"):
        assert [*check({stage: parameters[stage]}, [stage])] == [stage]


def test_an_experiment_with_another_system_names_parts_of_its_own(parameters):
    experiment = {"name": "x", "conditions": {"a": {}}, "baseline": "a",
                  "system": "ssemb", "strategies": ["mixed"]}  # fmt: skip
    check(parameters, experiment=experiment)
