"""The command line over made-up results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from kedro.framework.session import KedroSession

from mathamr_kedro.base.errors import ConfigurationError, LockedError, MissingInputError
from mathamr_kedro.base.parameters import merge_parameters
from mathamr_kedro.base.writers import TOKEN, WriterLock
from mathamr_kedro.cli import group
from mathamr_kedro.evaluation.stats import TestConfig
from mathamr_kedro.evaluation.tables.versions import describe_changes
from mathamr_kedro.experiments.cells import CellStore
from mathamr_kedro.experiments.outcomes import summarise_experiment
from mathamr_kedro.experiments.results import GridResults
from mathamr_kedro.project import cells as cell_runs
from mathamr_kedro.project.catalog import configure_kedro, list_versions, open_catalog
from mathamr_kedro.project.cells import GridRun, Work
from tests.experiments.cells import PARAMETERS, fill_store
from tests.experiments.test_outcomes import MEANS, MODES
from tests.experiments.world import open_grid

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    configure_kedro(PROJECT)
    for number, (mean, beta) in enumerate(((0.5, 1.0), (0.6, 0.5))):
        store = CellStore(folder / f"cells{number}")
        parameters = merge_parameters(
            PARAMETERS, {"training": {"loss": {"beta": beta}}}
        )
        fill_store(store, MODES, MEANS | {"both": mean}, parameters)
        grid = GridResults.find(MODES, parameters, store)
        outcome = summarise_experiment(grid, TestConfig(num_samples=100), None)
        with KedroSession.create(
            PROJECT, env="formula_modes", runtime_params={"data_root": str(folder)}
        ) as session:
            session.load_context().catalog.save("experiment_result", outcome.describe())
    return folder


@pytest.fixture
def run(data, monkeypatch):
    monkeypatch.chdir(PROJECT)

    def invoke(*arguments: str) -> str:
        result = CliRunner().invoke(
            group,
            ["experiments", *arguments, "--data-root", str(data)],
            catch_exceptions=False,
        )
        assert result.exit_code == 0, result.output
        return result.output

    return invoke


@pytest.fixture
def versions(data, monkeypatch):
    monkeypatch.chdir(PROJECT)
    catalog = open_catalog("formula_modes", str(data))
    return list_versions(catalog, "experiment_result")


def _row(text: str, label: str) -> list[str]:
    line = next(line for line in text.splitlines() if line.startswith(f"| {label}"))
    return [cell.strip() for cell in line.split("|")[2:-1]]


def test_list_shows_versions_and_what_each_changed(run, versions):
    output = run("list")
    assert len(versions) == 2
    assert all(version in output for version in versions)
    assert "training.loss.beta 1 → 0.5" in output
    *_, unused = output.splitlines()
    assert unused.startswith("Not run yet: auxiliary_loss, ")
    assert "formula_modes" not in unused


def test_list_says_once_what_all_versions_share(run):
    output = run("list")
    for line in (
        "collection: own (data, 100 posts)",
        "conditions: both, opt, slt, none",
        "seeds: 1, 2, 3",
        "cells: 12 of 12",
    ):
        assert line in output.splitlines() and output.count(line.split(": ")[1]) == 1


def test_show_gives_the_tables(run, versions):
    newest = run("show", "formula_modes")
    older = run("show", "formula_modes", "--version", versions[1])
    assert newest.count("| Both (OPT+SLT) |") == 3  # Tables 4.6, 4.7 and 4.8
    assert "0.6" in _row(newest, "Both")[0] and "*" in _row(newest, "Both")[0]
    assert "0.5" in _row(older, "Both")[0]
    result = json.loads(run("show", "formula_modes", "--output", "json"))
    assert len(result["cells"]) == 12


def test_compare_shows_what_changed(run, versions):
    text = run("compare", "formula_modes", versions[1], "--measure", "nDCG'")
    measure, *_, change, low, high, p, corrected, _ = _row(text, "both")
    assert measure == "nDCG'"
    assert float(change.rstrip("*")) == pytest.approx(0.1, abs=0.005)
    assert float(low) < 0.1 < float(high)
    assert float(p) <= float(corrected) < 0.05 and change.endswith("*")
    assert _row(text, "training.loss.beta") == ["1", "0.5"]
    table = run("compare", "formula_modes", *versions, "--output", "csv")
    header, *rows = table.splitlines()
    assert "baseline" not in header  # of the systems of a run
    assert rows and all(row.startswith("both,") for row in rows)


def test_compare_refuses_a_measure_that_no_version_has(run, versions):
    with pytest.raises(ConfigurationError, match=r"did you mean \"nDCG'\""):
        run("compare", "formula_modes", versions[1], "--measure", "nDGC'")


def test_unknown_version_is_refused(run):
    with pytest.raises(MissingInputError, match="mathamr experiments list"):
        run("show", "formula_modes", "--version", "never")
    with pytest.raises(MissingInputError, match="at all"):
        run("show", "systems")


def test_unknown_experiment_is_refused(run):
    with pytest.raises(ConfigurationError, match="did you mean 'formula_modes'"):
        run("run", "formula_mode")


def test_two_grids_never_run_on_the_same_data(run, data):
    with (
        WriterLock(data, "kedro run --env pool"),
        pytest.MonkeyPatch.context() as other,
        pytest.raises(LockedError, match=r"kedro run --env pool.* wait for it to end"),
    ):
        other.delenv(TOKEN)  # this process plays both parts
        run("run", "formula_modes", "--devices", "cpu")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seeds", "1"], "Invalid value for --seeds: .*--seeds 42 runs one of them"),
        (["--seeds", "x"], "Invalid value for --seeds: expected seeds such as 42"),
        (["--devices", "gpu"], "Expected 'cpu' or 'cuda:<n>' for a device"),
        (["--params", "evaluation.measures=[nosuch]"], "Unknown measure"),
        (
            ["--params", "significance.tests.alpha=5"],
            "Expected alpha of at least 0",
        ),
    ],
)
def test_arguments_are_checked_before_anything_runs(
    tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(PROJECT)
    place = ["--data-root", str(tmp_path)]
    result = CliRunner().invoke(
        group, ["experiments", "run", "formula_modes", *arguments, *place]
    )
    assert result.exit_code != 0
    text = " ".join(f"{result.output} {result.exception}".split())
    assert re.search(message, text)
    assert not list(tmp_path.iterdir())  # not even a lock


def test_a_collection_without_pairs_stops_an_experiment_that_trains(monkeypatch):
    monkeypatch.chdir(PROJECT)
    parameters = open_catalog("formula_modes").load("parameters")
    pairs = SimpleNamespace(counts={"written": 0})
    grid = GridRun(PROJECT, "formula_modes")
    vars(grid)["context"] = SimpleNamespace(
        params=parameters, catalog=SimpleNamespace(load=lambda name: pairs)
    )
    monkeypatch.setattr(cell_runs, "checksum_collection", lambda *_: "data")
    with pytest.raises(ConfigurationError, match=r"--params ingestion\.pairs=all"):
        grid.ensure_collection()
    pairs.counts["written"] = 2
    assert grid.ensure_collection() == "data"


def test_pairs_are_looked_for_before_texts_are_parsed(monkeypatch):
    done: list[Any] = []

    def fingerprint(catalog):
        if not done:
            raise MissingInputError("nothing is there")
        return "data"

    # The stages themselves would take minutes.
    monkeypatch.setattr(cell_runs, "_checksum", fingerprint)
    # The same.
    monkeypatch.setattr(GridRun, "_check_pairs", lambda grid: done.append("pairs"))
    monkeypatch.setattr(GridRun, "run_stages", lambda grid, s: done.extend(s))
    assert GridRun(PROJECT, "formula_modes").ensure_collection() == "data"
    assert done[:3] == ["ingestion", "pairs", "amr_parsing"]


def test_cells_whose_graphs_failed_are_skipped_and_the_others_run(
    tmp_path, monkeypatch
):
    def run_stages(self, stages, **changes):
        if changes.get("fails"):
            raise ConfigurationError("no graphs")

    monkeypatch.setattr(GridRun, "run_stages", run_stages)
    works = [
        Work("graphs", ("preprocessing",), {"fails": True}, tmp_path / "graphs"),
        Work("cell", ("training",), {}, tmp_path / "cell", needs="graphs"),
        Work("other", ("training",), {}, tmp_path / "other"),
    ]
    endings = list(open_grid("edges", tmp_path).run(works, []))
    assert [(e.work, e.state) for e in endings] == [
        ("graphs", "failed"),
        ("cell", "skipped"),
        ("other", "finished"),
    ]
    assert endings[1].seconds == 0.0
    assert "no graphs" in works[0].log.read_text()


SETTINGS = {"shared": {"seed": 1}, "conditions": {"a": {}}}


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (None, {}, "the first"),
        ({}, {"topic_set": "b"}, "topic set a → b"),
        ({}, {}, "nothing: the same settings"),
    ],
)
def test_a_version_says_what_it_changed(before, after, told):
    same = {"topic_set": "a", "collection": "c", "rows": {}, "settings": SETTINGS}
    old = None if before is None else same | before
    assert describe_changes(old, same | after) == told
    whole = None if old is None else {"collections": {"one": old, "gone": old}}
    assert describe_changes(whole, {"collections": {"one": same | after}}) == told
