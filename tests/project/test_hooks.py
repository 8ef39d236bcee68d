"""What happens before and after the nodes of a run."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import click
import pytest
from kedro.io import DataCatalog
from kedro.pipeline import Pipeline, node

from mathamr_kedro.base.errors import ConfigurationError, LockedError, MissingInputError
from mathamr_kedro.base.files import FolderLock
from mathamr_kedro.base.writers import TOKEN
from mathamr_kedro.project.catalog import LastRun, configure_kedro, read_environment
from mathamr_kedro.project.hooks import ProjectHooks
from tests.conftest import PROJECT

EMPTY = Pipeline([])


def prepare(root, **params: Any) -> ProjectHooks:
    """Hooks of a session whose data are below a folder."""
    config = {"globals": {"data_root": str(root)}, "parameters": params}
    hooks = ProjectHooks()
    hooks.after_context_created(
        SimpleNamespace(config_loader=config, params=params, project_path=root)
    )
    return hooks


def begin(hooks: ProjectHooks, **run_params: Any) -> None:
    hooks.before_pipeline_run(run_params, EMPTY, DataCatalog())


def end(hooks: ProjectHooks, **runtime_params: Any) -> None:
    params = {"env": "demo", "runtime_params": runtime_params}
    hooks.after_pipeline_run(params, EMPTY, DataCatalog())


def fail(hooks: ProjectHooks) -> None:
    hooks.on_pipeline_error(ValueError("of a library"))


@pytest.mark.parametrize("finish", [end, fail])
def test_a_run_locks_its_roots_until_it_ends(tmp_path, finish):
    data, cells = tmp_path / "data", tmp_path / "cells"
    hooks = prepare(data, output_root=str(cells))
    FolderLock(data, "").close()  # a context by itself locks nothing
    begin(hooks, env="demo")
    for root in (data, cells):
        with pytest.raises(LockedError):
            FolderLock(root, "")
    finish(hooks)
    for root in (data, cells):
        FolderLock(root, "").close()


def test_another_run_is_told_who_writes(tmp_path, monkeypatch):
    hooks = prepare(tmp_path)
    begin(hooks, env="own", pipeline_names=["ingestion", "training"])
    monkeypatch.delenv(TOKEN)  # the other one is no child of this process
    with pytest.raises(LockedError, match="kedro run --env own --pipelines ingestion,"):
        begin(prepare(tmp_path))


def test_a_run_after_an_interrupted_one_is_free(tmp_path):
    hooks = prepare(tmp_path)
    begin(hooks)
    begin(hooks)
    with pytest.raises(LockedError):
        FolderLock(tmp_path, "")
    end(hooks)
    FolderLock(tmp_path, "").close()


def test_a_root_that_is_taken_leaves_the_other_free(tmp_path):
    data, cells = tmp_path / "data", tmp_path / "cells"
    hooks = prepare(data, output_root=str(cells))
    with FolderLock(cells, ""), pytest.raises(LockedError):
        begin(hooks)
    FolderLock(data, "").close()


def test_without_a_context_nothing_is_locked():
    begin(ProjectHooks())


def test_bad_parameters_are_refused_before_anything_runs(tmp_path):
    with pytest.raises(ConfigurationError, match="did you mean 'parser'"):
        prepare(tmp_path, amr_parsing={"parsr": "builtin"})


def test_a_clock_that_is_behind_is_refused(tmp_path):
    entry = {"type": "kedro_datasets.json.JSONDataset", "versioned": True,
             "filepath": str(tmp_path / "encoder.json")}  # fmt: skip
    made = Pipeline([node(lambda: {}, None, "encoder")])

    def open_catalog(year: int) -> DataCatalog:
        version = f"{year}-11-16T10.00.00.999Z"
        return DataCatalog.from_config({"encoder": entry}, save_version=version)

    hooks = prepare(tmp_path)
    hooks.before_pipeline_run({}, made, open_catalog(2026))
    open_catalog(2026).save("encoder", {"folder": "old"})
    with pytest.raises(ConfigurationError, match=r"encoder\.json.* set the clock"):
        hooks.before_pipeline_run({}, made, open_catalog(2025))
    later = open_catalog(2027)
    hooks.before_pipeline_run({}, made, later)
    later.save("encoder", {"folder": "new"})
    assert later.load("encoder") == {"folder": "new"}


def test_a_run_that_indexes_notes_its_environment(tmp_path):
    entry = {"type": "kedro_datasets.json.JSONDataset",
             "filepath": str(tmp_path / "mathamr_plus.index.json")}  # fmt: skip
    catalog = DataCatalog.from_config({"mathamr_plus.index": entry})
    made = Pipeline([node(lambda: {}, None, "mathamr_plus.index")])
    assert read_environment(catalog) == {}
    for given, noted in (({}, "demo"), ({"output_root": "cell"}, "demo")):
        env = "demo+cell" if given else "demo"
        params = {"env": env, "runtime_params": given}
        ProjectHooks().after_pipeline_run(params, made, catalog)
        assert read_environment(catalog) == {"env": noted}


def test_the_log_counts_the_nodes(tmp_path, caplog):
    caplog.set_level(logging.INFO, "mathamr_kedro.project.hooks")
    pipeline = Pipeline([node(len, str(n), f"{n}s", name=f"n{n}") for n in range(2)])
    hooks = prepare(tmp_path)
    hooks.before_pipeline_run({}, pipeline, DataCatalog())
    for one in pipeline.nodes:
        hooks.before_node_run(one)
    assert caplog.messages == ["1 of 2: n0", "2 of 2: n1"]


def test_an_error_of_a_command_is_one_line():
    with click.Context(click.Command("run")), pytest.raises(click.ClickException):
        ProjectHooks().on_pipeline_error(MissingInputError("gone"))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"pipelines": ["trainign"]}, "got 'trainign'.*did you mean 'training'"),
        ({"pipelines": ["training"], "node_names": ["train_encodr"]}, "No node"),
        ({"pipelines": ["training"], "node_names": ["training.report_training"]}, None),
        ({}, None),
    ],
)
def test_a_wrong_name_is_told_before_the_run(given, told):
    context = SimpleNamespace(config_loader={"parameters": {}})
    configure_kedro(PROJECT)
    with click.Context(click.Command("run"), info_name="run") as command:
        command.params = given
        if told is None:
            ProjectHooks().after_context_created(context)
            return
        with pytest.raises(click.ClickException, match=told):
            ProjectHooks().after_context_created(context)


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project where nothing was run."""
    (tmp_path / "pyproject.toml").write_text((PROJECT / "pyproject.toml").read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KEDRO_ENV", raising=False)
    return tmp_path


def test_kedro_run_is_recorded_and_summarised(project, capsys):
    with click.Context(click.Command("run"), info_name="kedro"):
        end(ProjectHooks(), data_root="elsewhere")
    assert LastRun.find() == ("demo", str(project / "elsewhere"))
    assert capsys.readouterr().out.startswith("Done in ")


def test_programs_and_cells_of_experiments_are_not(project):
    end(ProjectHooks())
    for name, given in (("mathamr", {}), ("kedro", {"output_root": "cell"})):
        with click.Context(click.Command("run"), info_name=name):
            end(ProjectHooks(), **given)
    with pytest.raises(MissingInputError):
        LastRun.find()
