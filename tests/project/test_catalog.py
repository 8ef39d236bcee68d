"""The project from outside: its catalog, and which run was the last."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, get_type_hints

import pytest
from kedro.framework.project import pipelines
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.project.catalog import (
    LastRun,
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
    command = "kedro run --pipelines ingestion,graph_fusion --env demo"
    with pytest.raises(MissingInputError, match=command):
        LastRun.find().open("math_graphs", "posts")


def test_datasets_that_are_there_are_opened(project):
    LastRun("demo", str(project / "data")).write()
    assert "params:indexing" in LastRun.find().open("params:indexing")


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
    """Two entries of one folder would hide who writes it."""
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
            for folder in list_folders({*node.outputs}):
                written[folder] = place, node
    for place, nodes in enumerate(pipeline.grouped_nodes):
        for node in nodes:
            for folder in list_folders(node.inputs) & {*written}:
                before, writer = written[folder]
                assert before < place or writer == node, (node.name, folder)
                checked += 1
    assert checked > 100
