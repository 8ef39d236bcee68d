"""What the project does before and after the nodes of a run."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import click
import pytest
from kedro.io import DataCatalog, MemoryDataset
from kedro.pipeline import Pipeline, node
from kedro.runner import SequentialRunner

from mathamr_kedro import hooks
from mathamr_kedro.base.errors import ConfigurationError, LockedError, MissingInputError
from mathamr_kedro.base.files import FolderLock
from mathamr_kedro.base.parameters import merge_parameters
from mathamr_kedro.base.shards import EndOfShards
from mathamr_kedro.hooks import (
    ErrorHooks,
    ParameterHooks,
    TimingHooks,
    WriterHooks,
)
from mathamr_kedro.project import open_catalog
from mathamr_kedro.runner import StageRunner
from tests.conftest import PROJECT


@pytest.fixture
def parameters(monkeypatch) -> dict[str, Any]:
    monkeypatch.chdir(PROJECT)
    return open_catalog("demo").load("parameters")


@contextmanager
def command(name: str = "kedro", **params: Any):
    context = click.Context(click.Command("run"), info_name=name)
    context.params = params
    with context:
        yield


def context_of(root, **params: Any) -> Any:
    return SimpleNamespace(
        config_loader={"globals": {"data_root": str(root)}},
        params=params,
        project_path=root,
    )


def make_stage(name: str, *functions: Any) -> Pipeline:
    nodes = [node(f, None, f"{name}_{f.__name__}", name=f.__name__) for f in functions]
    return Pipeline(nodes, namespace=name)


def work() -> int:
    return 1


def stream():
    yield 1


class TestWriterHooks:
    def test_a_run_locks_its_roots_until_it_ends(self, tmp_path):
        data, cells = tmp_path / "data", tmp_path / "cells"
        for end in ("after_pipeline_run", "on_pipeline_error"):
            writer = WriterHooks()
            writer.after_context_created(context_of(data, output_root=str(cells)))
            FolderLock(data, "").close()  # a context alone locks nothing
            writer.before_pipeline_run({"env": "demo"})
            for root in (data, cells):
                with pytest.raises(LockedError):
                    FolderLock(root, "")
            getattr(writer, end)()
            for root in (data, cells):
                FolderLock(root, "").close()

    def test_a_run_after_an_interrupted_one_is_free(self, tmp_path):
        writer = WriterHooks()
        writer.after_context_created(context_of(tmp_path))
        writer.before_pipeline_run({})
        writer.before_pipeline_run({})
        with pytest.raises(LockedError):
            FolderLock(tmp_path, "")
        writer.after_pipeline_run()
        FolderLock(tmp_path, "").close()

    def test_a_root_that_is_taken_leaves_the_other_free(self, tmp_path):
        data, cells = tmp_path / "data", tmp_path / "cells"
        writer = WriterHooks()
        writer.after_context_created(context_of(data, output_root=str(cells)))
        with FolderLock(cells, ""), pytest.raises(LockedError):
            writer.before_pipeline_run({})
        FolderLock(data, "").close()

    def test_without_a_context_nothing_is_locked(self):
        WriterHooks().before_pipeline_run({})


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({}, "kedro run"),
        ({"env": None, "pipeline_names": None}, "kedro run"),
        (
            {"env": "own", "pipeline_names": ["ingestion", "training"]},
            "kedro run --env own --pipelines ingestion,training",
        ),
    ],
)
def test_command_of_a_run_is_written_as_one_types_it(params, expected):
    assert hooks._name_command(params) == expected


class TestErrors:
    error = MissingInputError("run `kedro run`")

    def test_programs_get_the_error_itself(self):
        ErrorHooks().on_pipeline_error(self.error)
        with pytest.raises(MissingInputError), hooks._plain_errors():
            raise self.error

    def test_errors_of_others_stay_what_they_are(self):
        with command():
            ErrorHooks().on_pipeline_error(ValueError("of a library"))
            with pytest.raises(KeyError), hooks._plain_errors():
                raise KeyError

    @pytest.mark.parametrize(
        ("given", "options"),
        [
            ({}, ""),
            ({"params": "data_root=/y"}, ""),  # not read yet
            ({"params": {"data_root": "/y"}}, " --params data_root=/y"),
            ({"data_root": "/x", "params": None}, " --params data_root=/x"),
        ],
    )
    def test_command_of_the_remedy_has_the_options_of_the_run(self, given, options):
        with command(**given), pytest.raises(click.ClickException) as caught:
            with hooks._plain_errors():
                raise self.error
        assert caught.value.message == f"run `kedro run{options}`"


class TestParameterHooks:
    pairs = "training_pairs"

    def prepare(self, parameters, number: int, *stages: str) -> ParameterHooks:
        made = ParameterHooks()
        made.after_context_created(SimpleNamespace(params=parameters))
        table = SimpleNamespace(counts={"written": number})
        catalog = DataCatalog({self.pairs: MemoryDataset(table, copy_mode="assign")})
        parts = [make_stage(stage, work) for stage in stages]
        made.before_pipeline_run(sum(parts, start=Pipeline([])), catalog)
        return made

    def test_bad_parameters_are_refused_before_anything_runs(self, parameters):
        bad = merge_parameters(parameters, {"ingestion": {"records_per_shard": 0}})
        with pytest.raises(ConfigurationError, match="records_per_shard"):
            ParameterHooks().after_context_created(SimpleNamespace(params=bad))

    @pytest.mark.parametrize("number", [0, 1, 2])
    def test_a_training_without_pairs_stops_at_the_ingestion(
        self, parameters, number, caplog
    ):
        parameters = merge_parameters(parameters, {"training": {"num_epochs": 1}})
        made = self.prepare(parameters, number, "ingestion", "training")
        made.after_dataset_saved(self.pairs, "a shard")
        made.after_dataset_saved("posts", EndOfShards(""))
        if number >= 2:
            made.after_dataset_saved(self.pairs, EndOfShards(""))
            return
        with pytest.raises(ConfigurationError, match=f"pairs .*got {number}"):
            made.after_dataset_saved(self.pairs, EndOfShards(""))
        alone = self.prepare(parameters, number, "ingestion")
        alone.after_dataset_saved(self.pairs, EndOfShards(""))
        assert f"(got {number})" in caplog.text  # no training follows: a warning

    def test_pairs_of_an_earlier_run_are_counted_before_the_training(self, parameters):
        parameters = merge_parameters(parameters, {"training": {"num_epochs": 1}})
        reader = node(len, self.pairs, "number", name="count")
        training = Pipeline([reader], namespace="training", inputs=self.pairs)
        made = ParameterHooks()
        made.after_context_created(SimpleNamespace(params=parameters))
        made.before_pipeline_run(training, DataCatalog())  # it will tell that itself
        table = SimpleNamespace(counts={})
        catalog = DataCatalog({self.pairs: MemoryDataset(table, copy_mode="assign")})
        with pytest.raises(ConfigurationError, match="got 0"):
            made.before_pipeline_run(training, catalog)

    def test_a_project_of_two_stages_is_enough(self, parameters):
        stages = ("ingestion", "training")
        changed = merge_parameters(parameters, {"training": {"num_epochs": 1}})
        two = {stage: changed[stage] for stage in stages}
        made = self.prepare(two, 0, *stages)
        with pytest.raises(ConfigurationError, match="got 0"):
            made.after_dataset_saved(self.pairs, EndOfShards(""))
        for stage in stages:
            one = self.prepare({stage: changed[stage]}, 0, stage)
            one.after_dataset_saved(self.pairs, EndOfShards(""))

    def test_without_a_run_nothing_is_counted(self, parameters):
        made = ParameterHooks()
        made.after_context_created(SimpleNamespace(params=parameters))
        made.after_dataset_saved(self.pairs, EndOfShards(""))


class TestTimingHooks:
    def run(self, monkeypatch, caplog, runner, *times: float) -> list[tuple[int, str]]:
        clock = iter(times)
        monkeypatch.setattr(hooks.time, "perf_counter", lambda: next(clock))
        caplog.set_level(logging.DEBUG, "mathamr_kedro.hooks")
        stages = make_stage("training", work, stream) + make_stage("ingestion", work)
        made = TimingHooks()
        made.before_pipeline_run({"runner": str(runner)}, stages)
        for one in sorted(stages.nodes, key=lambda n: n.name):
            made.before_node_run(one)
            made.after_node_run(one)
        return [(record.levelno, record.getMessage()) for record in caplog.records]

    def test_stages_are_numbered_and_long_nodes_told(self, monkeypatch, caplog):
        lines = self.run(monkeypatch, caplog, StageRunner(), 0, 10, 20, 90, 100, 109)
        assert lines == [
            (logging.INFO, "stage 1 of 2: ingestion"),
            (logging.INFO, "ingestion.work took 10 s"),
            (logging.INFO, "stage 2 of 2: training"),  # its stream tells of itself
            (logging.DEBUG, "training.work took 9 s"),
        ]

    def test_where_stages_mix_none_is_told(self, monkeypatch, caplog):
        lines = self.run(monkeypatch, caplog, SequentialRunner(), *[0.0] * 6)
        assert not any("stage" in line for _, line in lines)
