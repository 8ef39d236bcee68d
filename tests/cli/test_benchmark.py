"""``mathamr benchmark`` on a tiny collection."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner, Result

from mathamr_kedro.base.errors import ConfigurationError, MissingInputError
from mathamr_kedro.cli import _benchmarks, group
from mathamr_kedro.experiments.benchmark import BenchmarkStore
from mathamr_kedro.project import open_catalog
from tests.conftest import PROJECT
from tests.experiments.world import SIZES, write_world
from tests.pipelines.graph_world import run_stage

pytestmark = pytest.mark.slow

ENTRY = """
{name}:
  title: {name}
  environment: {env}
  task: {task}
  topic_sets: [ARQMath-1, own]
  protocol: "{task}"
  measures: ["nDCG'", "MAP'"]
  reference: bm25*
  queries: 3
"""
FILES = """
files:
  title: Published
  variable: TINY_FILES
  protocol: "1"
  measures: ["nDCG'", "MAP'"]
  reference: theirs
  queries: 1
  qrels: qrels.tsv
  runs: ["runs/*.trec"]
"""
SUITE = (
    ENTRY.format(name="answers", env="test", task=1)
    + ENTRY.format(name="formulas", env="test", task=2)
    + ENTRY.format(name="absent", env="pool", task=1)
    + FILES
)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data root in which all stages of the environment ``test`` have run."""
    folder = tmp_path_factory.mktemp("world")
    write_world(folder)
    for stage in ("preprocessing", "training", "indexing", "evaluation"):
        run_stage(folder, stage, **SIZES)
    return folder


@pytest.fixture
def run(data, tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    monkeypatch.setenv("MATHAMR_COLLECTION", str(tmp_path / "nowhere"))
    monkeypatch.delenv("TINY_FILES", raising=False)
    suite = tmp_path / "suite.yml"
    suite.write_text(SUITE)

    def invoke(*arguments: str, fails: bool = False) -> Result:
        own = ["--suite", str(suite), "--output", str(tmp_path / "out")]
        own += ["--data-root", f"test={data}"]
        result = CliRunner().invoke(
            group, ["benchmark", *own, *arguments], catch_exceptions=False
        )
        assert (result.exit_code != 0) == fails, result.output
        return result

    return invoke


@pytest.fixture
def store(tmp_path) -> BenchmarkStore:
    return BenchmarkStore(tmp_path / "out")


def _ask(tmp_path: Path, *arguments: str) -> str:
    own = [*arguments, "--output", str(tmp_path / "out")]
    result = CliRunner().invoke(group, ["benchmark", *own], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_outputs_that_are_there_become_one_table(run, store, data):
    output = run("--reuse").output
    (version,) = store.list_versions()
    found = store.read(version)["benchmarks"]
    assert list(found) == ["answers", "formulas"]
    metrics = open_catalog("test", str(data)).load("metrics")
    for name, task in (("answers", 1), ("formulas", 2)):
        scored = {
            (c["row"], c["measure"]): c["mean"]
            for c in found[name]["cells"]
            if c["kind"] == "system"
        }
        expected: dict[tuple[str, str], float] = {}
        for m in metrics:
            if m["task"] == task and m["measure"] in ("nDCG'", "MAP'"):
                key = m["system"], m["measure"]
                share = m["mean"] * m["topics"] / 3
                expected[key] = expected.get(key, 0.0) + share
        assert scored == pytest.approx(expected)
        times = [c["milliseconds"] for c in found[name]["cells"] if "machine" in c]
        assert times and min(times) > 0
    assert "| mathamr_plus" in output and "| *floor" in output
    assert "bm25_tuples†" in output or "bm25†" in output


def test_absent_data_are_named_and_left_out(run, store):
    output = run("--reuse").output
    assert "absent is left out: its outputs are not there" in output
    assert "files is left out: set the variable TINY_FILES to the folder" in output
    assert set(store.read()["left_out"]) == {"absent", "files"}


def test_list_says_what_is_needed(run):
    output = " ".join(run("--list").output.split())
    assert "answers" in output and "nothing" in output
    assert "TINY_FILES (not set)" in output
    assert "none yet" in output
    assert "nowhere" in output  # the folder that pool would read


def test_benchmarks_and_systems_are_chosen(run, store):
    run("--reuse", "--benchmarks", "answers", "--systems", "mathamr*")
    cells = store.read()["benchmarks"]["answers"]["cells"]
    rows = {c["row"] for c in cells if c["kind"] == "system"}
    assert rows == {"mathamr_plus", "bm25"}  # the reference stays
    run("--reuse", "--env", "test", "--systems", "bm25")
    assert list(store.read()["benchmarks"]) == ["answers", "formulas"]
    with pytest.raises(ConfigurationError, match="did you mean 'answers'"):
        run("--benchmarks", "answer")
    with pytest.raises(ConfigurationError, match="did you mean 'test'"):
        run("--env", "tests")


def test_nothing_to_score_is_refused(run):
    with pytest.raises(MissingInputError, match="mathamr benchmark --list"):
        run("--reuse", "--benchmarks", "absent", "--data-root", "pool=/nowhere")


@pytest.mark.parametrize("text", ["pol=/x", "test=", "/x"])
def test_data_root_needs_a_known_environment(run, text):
    with pytest.raises(ConfigurationError, match="ENV one of test, pool"):
        run("--reuse", "--data-root", text)


def test_paths_are_no_parameters(run):
    with pytest.raises(ConfigurationError, match="--data-root ENV=FOLDER"):
        run("--params", "raw_root=x")


def test_parameters_need_a_run(run):
    assert "leave out --reuse" in run("--reuse", "--params", "a.b=1", fails=True).output


def test_json_is_what_the_version_holds(run, store):
    result = CliRunner().invoke(group, ["benchmark", "--help"])
    assert "--from-runs" in result.output
    printed = json.loads(run("--reuse", "--benchmarks", "answers", "--json").stdout)
    assert printed == store.read()


def test_runs_of_others_become_rows(run, store, data, tmp_path):
    judged = sorted({j.topic_id for j in _judgments(data) if j.task == "task1"})
    folder = tmp_path / "theirs"
    (folder / "formulas").mkdir(parents=True)
    best = [f"{t} Q0 {2 * n + 1} 1 9.5 x\n" for n, t in enumerate(judged)]
    (folder / "perfect.trec").write_text("".join(best))
    (folder / "bm25.trec").write_text("".join(best))
    (folder / "formulas" / "odd.trec").write_text("B.1 Q0 1 1 0.5 x\n")
    (folder / "README.md").write_text("not a run")
    run("--reuse", "--from-runs", str(folder))
    found = store.read()["benchmarks"]
    scores = {
        (name, c["row"]): c["mean"]
        for name in found
        for c in found[name]["cells"]
        if c["measure"] == "nDCG'"
    }
    assert scores["answers", "perfect"] == scores["answers", "bm25 (file)"] == 1
    assert ("formulas", "odd") in scores
    assert ("answers", "odd") not in scores
    assert ("formulas", "perfect") not in scores
    with pytest.raises(MissingInputError, match="Expected run files"):
        run("--reuse", "--from-runs", str(tmp_path / "none"))


def _judgments(data: Path) -> list:
    return list(open_catalog("test", str(data)).load("judgments").records())


def test_qrels_and_run_files_alone_are_a_benchmark(run, store, tmp_path, monkeypatch):
    (tmp_path / "runs").mkdir()
    (tmp_path / "qrels.tsv").write_text("A.1\t0\t7\t3\nA.1\t0\t8\t0\n")
    for name, order in (("theirs", (7, 8)), ("others", (8, 7))):
        lines = [f"A.1 Q0 {d} {r} {9 - r} x\n" for r, d in enumerate(order, 1)]
        (tmp_path / "runs" / f"{name}.trec").write_text("".join(lines))
    monkeypatch.setenv("TINY_FILES", str(tmp_path))
    run("--benchmarks", "files")
    cells = store.read()["benchmarks"]["files"]["cells"]
    means = {c["row"]: c["mean"] for c in cells if c["measure"] == "MAP'"}
    assert means == {"theirs": 1, "others": 0.5, "floor": 0.75, "ceiling": 1}


class _Runs:
    """Stands for ``kedro run``; notes what was asked for."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict]] = []
        self.ends: dict[str, object] = {}
        self.after = lambda: None

    def __call__(self, root, env, parameters, folder, *rest):
        self.calls.append((env, dict(parameters)))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "log.txt").write_text("reading\nNo room on the disk\n\n")
        self._env = env
        return self

    def wait(self) -> int:
        self.after()
        end = self.ends.get(self._env, 0)
        if isinstance(end, BaseException):
            raise end
        return end  # type: ignore[return-value]

    @property
    def environments(self) -> list[str]:
        return [env for env, _ in self.calls]


@pytest.fixture
def runs(monkeypatch, data) -> _Runs:
    found = _Runs()
    monkeypatch.setattr(_benchmarks, "start_run", found)
    yield found
    shutil.rmtree(data / "08_reporting" / "benchmark_run", ignore_errors=True)


def test_environment_is_run_when_something_changed(run, runs, data):
    run("--env", "test")
    (call,) = runs.calls
    assert call == ("test", {"data_root": str(data), "output_root": str(data)})
    run("--env", "test")
    assert len(runs.calls) == 1
    assert "up to date" in run("--list").output
    state = data / "08_reporting" / "benchmark_run" / "state.json"
    state.write_text("{")  # not ours: run again
    run("--env", "test", "--params", "indexing.strategy.depth=5")
    assert runs.calls[-1][1]["indexing"] == {"strategy": {"depth": 5}}
    assert len(runs.calls) == 2


def test_what_was_just_run_is_scored(run, runs, store, data):
    """The catalog has looked at the outputs before, and must not score the old ones."""
    folder = data / "07_model_output" / "runs"
    newest = max(folder.iterdir())
    copy = newest.with_name("9999-01-01T00.00.00.000Z")
    runs.after = lambda: shutil.copytree(newest, copy)
    try:
        run("--env", "test")
        assert store.read()["benchmarks"]["answers"]["runs"] == copy.name
    finally:
        shutil.rmtree(copy)


def test_outputs_are_looked_at_anew_after_a_run(tmp_path, monkeypatch):
    """A catalog keeps the version that it has looked at."""
    report = SimpleNamespace(_describe=lambda: {"filepath": tmp_path / "a/b/report.md"})
    opened = []

    def open_catalog(*place):
        opened.append({"evaluation_report": report, "number": len(opened)})
        return opened[-1]

    def describe(source):
        return {"number": source.catalog["number"]}

    monkeypatch.setattr(_benchmarks, "open_catalog", open_catalog)
    monkeypatch.setattr(_benchmarks, "start_run", _Runs())
    monkeypatch.setattr(_benchmarks.BenchmarkSource, "_describe_state", describe)
    source = _benchmarks.BenchmarkSource(PROJECT, "test")
    assert source.catalog["number"] == 0
    source.run()
    assert source.catalog["number"] == 1
    state = tmp_path / "a" / "b" / "benchmark_run" / "state.json"
    assert json.loads(state.read_text()) == {"number": 1}


def test_newer_outputs_of_others_are_not_taken_for_ours(run, runs, data):
    run("--env", "test")
    newest = max((data / "07_model_output" / "runs").iterdir())
    copy = newest.with_name("9999-01-01T00.00.00.000Z")
    shutil.copytree(newest, copy)
    try:
        run("--env", "test")
    finally:
        shutil.rmtree(copy)
    assert len(runs.calls) == 2


def test_failed_run_is_left_out_and_reported(run, runs, store):
    runs.ends["test"] = 3
    with pytest.raises(MissingInputError, match="No benchmark could be scored"):
        run("--env", "test")
    assert store.list_versions() == []


@pytest.fixture
def two(run, data, tmp_path):
    """Two environments, each with outputs of its own."""
    (tmp_path / "suite.yml").write_text(
        ENTRY.format(name="answers", env="test", task=1)
        + ENTRY.format(name="sample", env="demo", task=1)
    )
    other = tmp_path / "other"
    shutil.copytree(data, other)
    return lambda **more: run("--data-root", f"demo={other}", **more)


def test_others_are_scored_where_one_run_failed(two, runs, store):
    runs.ends["demo"] = 1
    output = two(fails=True).output
    assert "sample is left out: `kedro run --env demo` failed" in output
    assert "(No room on the disk)" in output
    assert list(store.read()["benchmarks"]) == ["answers"]


def test_killed_command_goes_on_where_it_stopped(two, runs):
    runs.ends["demo"] = KeyboardInterrupt()
    with pytest.raises((KeyboardInterrupt, SystemExit, AssertionError)):
        two()
    assert runs.environments == ["test", "demo"]
    runs.ends.clear()
    two()
    assert runs.environments == ["test", "demo", "demo"]


def test_versions_are_shown_and_compared(run, store, tmp_path):
    run("--reuse", "--benchmarks", "answers", "--systems", "bm25")
    run("--reuse", "--benchmarks", "answers")
    new, old = store.list_versions()
    table = _ask(tmp_path, "compare", old)
    assert f"{old} and {new}" in table
    assert "0 of 2 cells changed" in table
    assert "Only in the new version: answers (mathamr_plus)" in table
    assert _ask(tmp_path, "show", old).startswith("# Benchmark")
    assert json.loads(_ask(tmp_path, "show", "--json"))["version"] == new
    header = _ask(tmp_path, "compare", old, new, "--form", "csv")
    assert header.startswith("Benchmark,System,Measure")


def test_setting_is_chosen_by_the_benchmarks(run, tmp_path):
    run("--reuse")
    table = _ask(tmp_path, "choose", "*")
    assert "2 settings on 2 sets" in table
    assert "*chosen on the other sets*" in table
