"""The project from outside: its catalog, and which run was the last."""

from __future__ import annotations

import click
import pytest
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project

from mathamr_kedro.errors import ConfigurationError, MissingInputError
from mathamr_kedro.hooks import RunHooks
from mathamr_kedro.project import LastRun, find_project, open_catalog
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
    command = "kedro run --env demo --pipelines ingestion,graph_fusion"
    with pytest.raises(MissingInputError, match=command):
        LastRun.find().open("math_graphs", "posts")


def run_hook(info_name: str, **given) -> None:
    with click.Context(click.Command("run"), info_name=info_name):
        params = {"env": "demo", "runtime_params": given}
        RunHooks().after_pipeline_run(params)


def test_kedro_run_leaves_a_note(project):
    run_hook("kedro", data_root="elsewhere")
    assert LastRun.find() == ("demo", str(project / "elsewhere"))


def test_programs_and_cells_of_experiments_leave_none(project):
    run_hook("mathamr")
    run_hook("kedro", output_root="cell")
    RunHooks().after_pipeline_run({"env": "demo", "runtime_params": {}})
    with pytest.raises(MissingInputError):
        LastRun.find()
