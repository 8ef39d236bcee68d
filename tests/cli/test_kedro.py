"""Kedro's own commands in this project, and options that complete."""

from __future__ import annotations

import pytest
from click.testing import CliRunner, Result
from kedro.framework.cli.cli import KedroCLI

from mathamr_kedro import pipelines
from tests.conftest import PROJECT


@pytest.fixture(autouse=True)
def in_project(monkeypatch):
    monkeypatch.chdir(PROJECT)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(KedroCLI(PROJECT), arguments)


def test_a_wrong_environment_is_one_line_with_the_nearest():
    result = run("run", "--env", "demmo")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ") and result.stderr.count("\n") == 1
    assert "did you mean 'demo'?" in result.stderr


def test_a_wrong_parameter_is_one_line():
    result = run("run", "--env", "test", "--params", "training.batch_sise=3")
    assert result.stderr.startswith("Error: ") and result.stderr.count("\n") == 1
    assert "did you mean 'batch_size'?" in result.stderr


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            ["--env", "test", "--from-nodes", "significance.write_tables"],
            ["significance_outcome", "--from-nodes significance.compare_results"],
        ),
        (["--env", "test", "--params", "data_root=/dev/null/x"], ["'/dev/null/x'"]),
        (
            ["--env", "own", "--params", "raw_root=/tmp/nowhere"],
            ["The folder '/tmp/nowhere' is missing"],
        ),
        (
            ["--env", "benchmark", "--pipelines", "training"],
            ["collection is missing", "MATHAMR_ARQMATH", "https://", "--env demo"],
        ),
        (
            ["--env", "test", "--pipelines", "training"],
            ["mathamr_plus.prepared is missing", "--pipelines preprocessing"],
        ),
    ],
)
def test_what_a_run_lacks_is_one_line_before_it_begins(options, told, tmp_path):
    if not any("data_root" in option for option in options):
        given = options.pop() if "--params" in options else ""
        options = [o for o in options if o != "--params"]
        options += ["--params", f"data_root={tmp_path}{given and ','}{given}"]
    result = run("run", *options)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ") and result.stderr.count("\n") == 1
    for words in told:
        assert words in result.stderr
    assert not list(tmp_path.glob("0*"))


NODE = """
from kedro.pipeline import Pipeline, node

def count(width: int) -> str:
    return "x" * width

def create_pipeline(**kwargs):
    return Pipeline([node(count, "params:mine.width", "mine_text")])
"""


def test_a_pipeline_of_ones_own_runs_by_name_with_parameters_of_its_own(
    tmp_path, monkeypatch
):
    """As after ``kedro pipeline create mine``."""
    package = tmp_path / "pipelines/mine"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(NODE)
    places = [*pipelines.__path__, str(package.parent)]
    monkeypatch.setattr(pipelines, "__path__", places)
    (tmp_path / "conf").mkdir()
    for place in (PROJECT / "conf").iterdir():
        (tmp_path / "conf" / place.name).symlink_to(place)
    text = tmp_path / "text.txt"
    (tmp_path / "conf/local").unlink(missing_ok=True)
    local = tmp_path / "conf/local"
    local.mkdir()
    (local / "parameters_mine.yml").write_text("mine: {width: 3}")
    entry = f"mine_text: {{type: text.TextDataset, filepath: {text}}}"
    (local / "catalog.yml").write_text(entry)
    result = run(
        "run", "--pipelines", "mine", "--conf-source", str(tmp_path / "conf"),
        "--params", f"data_root={tmp_path / 'data'}",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert text.read_text() == "xxx"
