"""A stage ends before the next begins."""

from __future__ import annotations

import logging

import pytest
from kedro.io import DataCatalog, MemoryDataset
from kedro.pipeline import Pipeline, node

from mathamr_kedro.cli._kedro import COMMANDS
from mathamr_kedro.hooks import TimingHooks
from mathamr_kedro.runner import StageRunner, _Stages
from mathamr_kedro.stages import STAGES


def make_pipeline(ran: list[str], fail: str = "") -> Pipeline:
    def run(name):
        def function(*values):
            if name == fail:
                raise ValueError(name)
            ran.append(name)
            return name

        return function

    def stage(name, *steps):
        nodes = [
            node(run(step), inputs, output, name=step) for step, inputs, output in steps
        ]
        return Pipeline(nodes, namespace=name, prefix_datasets_with_namespace=False)

    return stage("ingestion", ("read", "raw", "posts"), ("pair", "posts", "pairs"),
                 ("tell", "pairs", "statistics")) + stage(
        "amr_parsing", ("parse", "posts", "graphs")) + stage(
        "training", ("train", ["graphs", "pairs"], "encoder"))  # fmt: skip


def run(pipeline: Pipeline) -> dict:
    catalog = DataCatalog({"raw": MemoryDataset("raw")})
    return StageRunner().run(pipeline, catalog)


def test_a_stage_ends_before_the_next_begins():
    ran: list[str] = []
    outputs = run(make_pipeline(ran))
    assert ran == ["read", "pair", "tell", "parse", "train"]
    assert outputs["encoder"].load() == "train"


def test_the_log_names_each_stage_once(caplog):
    caplog.set_level(logging.INFO, "mathamr_kedro.hooks")
    pipeline, hooks = make_pipeline([]), TimingHooks()
    hooks.before_pipeline_run({"runner": str(StageRunner())}, pipeline)
    for name in ("ingestion.read", "ingestion.pair", "training.train"):
        hooks.before_node_run(pipeline.filter(node_names=[name]).nodes[0])
    assert caplog.messages == ["stage 1 of 3: ingestion", "stage 3 of 3: training"]


def test_a_stop_says_that_nothing_is_lost(caplog):
    with pytest.raises(ValueError, match="parse"):
        run(make_pipeline([], fail="parse"))
    assert "what is finished is kept" in caplog.messages[-1]


def test_kedro_run_takes_it():
    (option,) = [p for p in COMMANDS["run"].params if p.name == "runner"]
    assert option.default.endswith(".StageRunner")


def test_stages_are_in_order_where_all_of_them_run_and_no_other_pipeline_does():
    def make(names):
        parts = [
            Pipeline([node(lambda: 1, None, name, name="make")], namespace=name)
            for name in names
        ]
        return _Stages(sum(parts, start=Pipeline([])).nodes)

    found = [node.namespace for node in make(sorted(STAGES)).nodes]
    assert found == [*STAGES]
    names = ["zz_own", *STAGES]
    assert {node.namespace for node in make(names).nodes} == {*names}
