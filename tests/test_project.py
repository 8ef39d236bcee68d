"""The project from outside: its catalog, and which run was the last."""

from __future__ import annotations

import ast
import re
from types import SimpleNamespace
from typing import Any, get_type_hints

import click
import pytest
from kedro.framework.project import pipelines
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project
from kedro.io import DataCatalog
from kedro.pipeline import Pipeline

from mathamr_kedro import hooks
from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.cli import group
from mathamr_kedro.hooks import ErrorHooks, RunHooks
from mathamr_kedro.project import (
    LastRun,
    _anchor,
    find_project,
    find_roots,
    open_catalog,
)
from tests.conftest import PROJECT


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project where nothing was run."""
    (tmp_path / "src").mkdir()
    (tmp_path / "conf").symlink_to(PROJECT / "conf")
    (tmp_path / "pyproject.toml").write_text((PROJECT / "pyproject.toml").read_text())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KEDRO_ENV", raising=False)
    return tmp_path


@pytest.mark.parametrize("env", [None, "demo", "pool", "own", "pool+formula_modes"])
def test_catalog_is_that_of_a_session(monkeypatch, env):
    monkeypatch.chdir(PROJECT)
    bootstrap_project(PROJECT)
    context = KedroSession.create(PROJECT, env=env).load_context()
    expected, found = context.catalog, open_catalog(env)
    names = {n for n in expected.keys() if not n.startswith("params:")}
    assert names <= {*found.keys()}
    assert found.load("parameters") == context.params
    for name in names - {"parameters"}:
        one, other = found[name]._describe(), expected[name]._describe()
        assert one | {"version": 0} == other | {"version": 0}, name
    for stage in ("training", "indexing"):
        assert found.load(f"params:{stage}") == expected.load(f"params:{stage}")


def test_data_root_goes_before_that_of_the_environment(monkeypatch, tmp_path):
    monkeypatch.chdir(PROJECT)
    posts = open_catalog("demo", str(tmp_path))["posts"]
    assert posts._describe()["filepath"] == str(tmp_path / "02_intermediate/posts")


def test_outside_of_a_project_says_so(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigurationError, match="No Kedro project"):
        find_project()


def test_nothing_run_says_what_to_run(project):
    with pytest.raises(MissingInputError, match="run `make demo`, or `kedro run --env"):
        LastRun.find()


@pytest.mark.parametrize(
    ("message", "complete"),
    [
        ("run `kedro run`", "run `kedro run --env own --params data_root=/x`"),
        (
            "`kedro run --env pool --pipelines indexing` with the --env of your run",
            "`kedro run --env pool --pipelines indexing --params data_root=/x`",
        ),
        (
            "`kedro run --params raw_root=notes`",
            "`kedro run --params data_root=/x,raw_root=notes --env own`",
        ),
        ("`mathamr index restore`", "`mathamr index restore --env own --data-root /x`"),
        ("`kedro run --params data_root=FOLDER`",
         "`kedro run --params data_root=FOLDER --env own`"),
        ("`mathamr models` or `make demo`", "`mathamr models` or `make demo`"),
        ("no command: kedro run", "no command: kedro run"),
    ],
)  # fmt: skip
def test_commands_in_messages_get_the_options_that_were_given(message, complete):
    assert LastRun("own", "/x").complete(message) == complete


def test_commands_without_options_stay_as_they_are():
    message = "run `kedro run --pipelines indexing` with the --env of your run: it"
    assert LastRun().complete(message) == "run `kedro run --pipelines indexing`: it"


def test_every_command_that_is_completed_takes_the_options():
    """And none is completed that does not."""
    ctx = click.Context(group)

    def takes(command):
        if isinstance(command, click.Group):
            return all(takes(c) for c in command.commands.values())
        return {"env", "data_root"} <= {p.name for p in command.params}

    never_hinted = {"graphs", "release"}  # named as where a file comes from
    for name in group.list_commands(ctx):
        hint = f"`mathamr {name}`"
        is_completed = LastRun("own", "/x").complete(hint) != hint
        expected = takes(group.get_command(ctx, name)) and name not in never_hinted
        assert is_completed == expected, name


def test_hints_in_the_source_stand_between_backticks():
    """Others would not be completed."""
    bare = re.compile(r"(?<![`\w])(?:kedro run|mathamr (?:index|search|experiments))\b")
    for file in sorted((PROJECT / "src").rglob("*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        raised = [n for n in ast.walk(tree) if isinstance(n, ast.Raise)]
        texts = [
            piece.value
            for node in raised
            for piece in ast.walk(node)
            if isinstance(piece, ast.Constant) and isinstance(piece.value, str)
        ]
        assert not [text for text in texts if bare.search(text)], file


def test_last_run_is_found_again(project):
    LastRun("demo").write()
    LastRun("pool", str(project / "big")).write()
    assert LastRun.find() == ("pool", str(project / "big"))


def test_named_environment_goes_before_the_last_run(project, monkeypatch):
    LastRun("demo").write()
    monkeypatch.setenv("KEDRO_ENV", "pool")
    assert LastRun.find() == ("pool", None)


def test_missing_datasets_name_the_stages_that_make_them(project):
    LastRun("demo").write()
    command = "kedro run --env demo --pipelines ingestion,graph_fusion"
    with pytest.raises(MissingInputError, match=command):
        LastRun.find().open("math_graphs", "posts")


def test_datasets_that_are_there_are_opened(project):
    LastRun("demo", str(project / "data")).write()
    assert "params:indexing" in LastRun.find().open("params:indexing")


def test_only_entries_of_the_catalog_have_paths_to_anchor(tmp_path):
    assert _anchor("a text", tmp_path) == "a text"
    entry = _anchor({"type": "x", "filepath": "data/a", "path": "s3://b"}, tmp_path)
    assert entry == {
        "type": "x",
        "filepath": str(tmp_path / "data/a"),
        "path": "s3://b",
    }


def run_hook(info_name: str, **given) -> None:
    with click.Context(click.Command("run"), info_name=info_name):
        params = {"env": "demo", "runtime_params": given}
        RunHooks().after_pipeline_run(params, Pipeline([]), DataCatalog())


def test_kedro_run_leaves_a_note(project):
    run_hook("kedro", data_root="elsewhere")
    assert LastRun.find() == ("demo", str(project / "elsewhere"))


def test_programs_and_cells_of_experiments_leave_none(project):
    run_hook("mathamr")
    run_hook("kedro", output_root="cell")
    params = {"env": "demo", "runtime_params": {}}
    RunHooks().after_pipeline_run(params, Pipeline([]), DataCatalog())
    with pytest.raises(MissingInputError):
        LastRun.find()


def test_time_of_a_run_begins_with_it(project, monkeypatch, capsys):
    clock = iter([0.0, 100.0, 163.0])
    monkeypatch.setattr(hooks.time, "perf_counter", lambda: next(clock))
    made = RunHooks()
    made.before_pipeline_run()
    with click.Context(click.Command("run"), info_name="kedro"):
        params = {"env": "demo", "runtime_params": None}
        made.after_pipeline_run(params, Pipeline([]), DataCatalog())
    assert "1 min 3 s" in capsys.readouterr().out


def test_errors_of_kedro_run_repeat_its_options():
    command = click.Context(click.Command("run"))
    command.params = {"env": "own", "params": {"data_root": "/x"}}
    with command, pytest.raises(click.ClickException) as caught:
        ErrorHooks().on_pipeline_error(MissingInputError("run `kedro run`"))
    assert caught.value.message == "run `kedro run --env own --params data_root=/x`"


@pytest.mark.parametrize(
    ("output", "found"),
    [(None, ["data"]), ("data/cell", ["data"]), ("cells", ["data", "cells"])],
)
def test_a_run_writes_below_roots_of_which_none_is_below_another(
    tmp_path, output, found
):
    params = {"data_root": "data"} | ({"output_root": output} if output else {})
    context: Any = SimpleNamespace(
        config_loader={"globals": {}}, params=params, project_path=tmp_path
    )
    assert find_roots(context) == [tmp_path.resolve() / name for name in found]


def test_types_of_nodes_are_known_when_kedro_looks_for_them():
    """Else every run begins with a warning."""
    bootstrap_project(PROJECT)
    for node in pipelines["__default__"].nodes:
        assert get_type_hints(node.func)


@pytest.mark.parametrize("env", ["demo", "own", "stacks"])
def test_runners_of_kedro_write_each_folder_before_it_is_read(monkeypatch, env):
    """Two entries of one folder, as ``posts_if_there``, hide who writes it."""
    monkeypatch.chdir(PROJECT)
    bootstrap_project(PROJECT)
    catalog, pipeline = open_catalog(env), pipelines["__default__"]

    def list_folders(names):
        described = [catalog[n]._describe() for n in names if n in catalog]
        folders = [d["folders"].values() for d in described if "folders" in d]
        return {d["filepath"] for d in described if "filepath" in d}.union(*folders)

    written, checked = {}, 0
    for place, nodes in enumerate(pipeline.grouped_nodes):
        for node in nodes:
            for folder in list_folders({*node.outputs} - {"system_sources"}):
                written[folder] = place, node
    for place, nodes in enumerate(pipeline.grouped_nodes):
        for node in nodes:
            for folder in list_folders(node.inputs) & {*written}:
                before, writer = written[folder]
                assert before < place or writer == node, (node.name, folder)
                checked += 1
    assert checked > 100
