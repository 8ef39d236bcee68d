"""``mathamr experiments benchmark`` on a tiny collection."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.cli import group
from mathamr_kedro.experiments.versions import ResultVersions
from mathamr_kedro.project import cells as cell_runs
from mathamr_kedro.project.catalog import open_catalog
from tests.conftest import PROJECT
from tests.experiments.world import SIZES, write_world
from tests.pipelines.graph_world import run_stage

pytestmark = pytest.mark.slow

ENTRY = """
{name}:
  title: {name}
  environment: {env}
  task: {task}
  topic_set: ARQMath-1
  measures: ["nDCG'", "MAP'"]
  reference: bm25*
  queries: 2
"""
SUITE = (
    ENTRY.format(name="answers", env="test", task=1)
    + ENTRY.format(name="formulas", env="test", task=2)
    + ENTRY.format(name="absent", env="pool", task=1)
    + "  variable: TINY_FILES\n"
    + "  papers: formula_rgcn+ssemb\n"
)
STAGES = ("preprocessing", "training", "indexing", "evaluation")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root in which all stages of the environment ``test`` have run."""
    folder = tmp_path_factory.mktemp("world")
    write_world(folder)
    for stage in STAGES:
        run_stage(folder, stage, **SIZES)
    return folder


@pytest.fixture
def data(made, tmp_path) -> Path:
    shutil.copytree(made, tmp_path / "data")
    return tmp_path / "data"


def as_params(values: dict, place: str = "") -> str:
    """Return parameters in the form of ``--params``."""
    return ",".join(
        as_params(value, f"{place}{key}.")
        if isinstance(value, dict)
        else f"{place}{key}={value}"
        for key, value in values.items()
    )


PARAMS = as_params(SIZES)


@pytest.fixture
def run(data, tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    monkeypatch.setenv("MATHAMR_COLLECTION", str(tmp_path / "nowhere"))
    monkeypatch.delenv("TINY_FILES", raising=False)
    suite = tmp_path / "suite.yml"
    suite.write_text(SUITE)
    place = ["--env", "test", "--data-root", str(data)]

    def invoke(*arguments: str, where=place, fails: bool = False) -> Result:
        own = ["--suite", str(suite), "--params", PARAMS, *where, *arguments]
        result = CliRunner().invoke(
            group, ["experiments", "benchmark", *own], catch_exceptions=False
        )
        assert (result.exit_code != 0) == fails, result.output
        return result

    return invoke


@pytest.fixture
def ask(data):
    def invoke(*arguments: str) -> str:
        own = ["experiments", *arguments, "--env", "test", "--data-root", str(data)]
        result = CliRunner().invoke(group, own, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.output

    return invoke


@pytest.fixture
def versions(data) -> ResultVersions:
    return ResultVersions(data / "08_reporting/significance/benchmark/result.json")


def test_recorded_evaluations_become_one_table(run, versions, data):
    output = run("--reuse").output
    found = versions.read()["collections"]
    assert list(found) == ["answers", "formulas"]
    metrics = open_catalog("test", str(data)).load("metrics")
    for name, task in (("answers", 1), ("formulas", 2)):
        scored = {
            (row, measure): mean
            for row, (seed,) in found[name]["rows"].items()
            for measure, mean in seed["means"].items()
        }
        expected = {
            (m["system"], m["measure"]): m["mean"]
            for m in metrics
            if (m["task"], m["topic_set"]) == (task, "ARQMath-1")
            and m["measure"] in ("nDCG'", "MAP'")
        }
        assert scored == pytest.approx(expected)
        times = [cost["milliseconds"] for cost in found[name]["costs"].values()]
        assert times and min(times) > 0
    assert "| mathamr_plus" in output and "| *floor" in output
    assert "bm25_tuples†" in output or "bm25†" in output


def test_tables_and_figures_are_beside_the_versions(run, versions):
    run("--reuse")
    names = {p.name for p in versions.folder.parent.iterdir()}
    assert names >= {"tables.md", "csv", "figure.png", "cost_dark.png", "result.json"}
    assert (versions.folder.parent / "tables.md").read_text().startswith("# Benchmark")


def test_list_says_what_is_needed(run):
    output = " ".join(run("--list", where=()).output.split())
    assert "answers" in output and "nothing" in output
    assert "TINY_FILES (not set)" in output
    assert "set the variable TINY_FILES" in output


def test_papers_add_their_overlays(run):
    output = run("--list", "--papers", where=()).output
    assert "pool+formula_rgcn+ssemb" in "".join(output.split())
    assert "pool+" not in run("--list", where=()).output


def test_environments_and_folders_are_checked(run):
    with pytest.raises(ConfigurationError, match="did you mean 'test'"):
        run("--reuse", where=("--env", "tests"))
    with pytest.raises(ConfigurationError, match="--env and --data-root"):
        run("--params", "raw_root=x")
    output = run("--data-root", "/nowhere", where=(), fails=True).output
    assert "give --env too" in output


def test_nothing_to_score_is_refused(run, tmp_path):
    where = ("--env", "test", "--data-root", str(tmp_path / "empty"))
    with pytest.raises(MissingInputError, match="benchmark --list"):
        run("--reuse", where=where)


class _Runs:
    """Stands for ``kedro run``; notes what was asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict]] = []
        self.end: object = 0

    def __call__(self, root, env, parameters, folder, *rest):
        self.calls.append((env, dict(parameters)))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "log.txt").write_text("reading\nNo room on the disk\n\n")
        self._data = Path(parameters["data_root"])
        return self

    def wait(self) -> int:
        if isinstance(self.end, BaseException):
            raise self.end
        if self.end == 0:
            run_stage(self._data, "evaluation", **SIZES)
        return self.end  # type: ignore[return-value]


@pytest.fixture
def runs(monkeypatch) -> _Runs:
    found = _Runs()
    monkeypatch.setattr(cell_runs, "start_run", found)
    return found


def test_recorded_evaluation_is_not_run_again(run, runs):
    run()
    assert runs.calls == []
    assert "recorded" in run("--list").output


def test_environment_is_run_if_its_code_changed(run, runs, data, versions):
    (record,) = data.glob("07_model_output/experiment_cells/*/record.json")
    values = json.loads(record.read_text())
    record.write_text(json.dumps({**values, "code": "of yesterday"}))
    assert "to run" in run("--list").output
    run()
    ((env, parameters),) = runs.calls
    assert env == "test"
    assert parameters["data_root"] == parameters["output_root"] == str(data)
    assert len(versions.list()) == 1
    run()
    assert len(runs.calls) == 1


def test_failed_run_is_reported_and_leaves_no_version(run, runs, data, versions):
    shutil.rmtree(data / "07_model_output" / "experiment_cells")
    runs.end = 3
    with pytest.raises(MissingInputError, match="No collection could be scored"):
        run()
    assert versions.list() == []


def test_killed_command_resumes(run, runs, data, versions):
    shutil.rmtree(data / "07_model_output" / "experiment_cells")
    runs.end = KeyboardInterrupt()
    with pytest.raises((KeyboardInterrupt, SystemExit, AssertionError)):
        run()
    assert versions.list() == []
    runs.end = 0
    run()
    assert len(versions.list()) == 1


def test_versions_are_shown_listed_and_compared(run, ask, versions):
    run("--reuse")
    run("--reuse")
    _, old = versions.list()
    table = ask("compare", "benchmark", old)
    assert "**answers: two versions**" in table
    assert "4 of 4 values are the same in both." in table
    assert "| mathamr_plus" in ask("show", "benchmark", "--version", old)
    assert "nothing: the same settings" in ask("list")
    assert json.loads(ask("show", "benchmark", "--output", "json"))["collections"]
