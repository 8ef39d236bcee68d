"""Experiments that would compare a released encoder with itself."""

from __future__ import annotations

from functools import cache

import pytest
from click.testing import CliRunner

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.cli import group
from mathamr_kedro.experiments.grid import SYSTEM, Cell, refuse_shared_trainings
from mathamr_kedro.project.cells import GridRun, list_experiments
from tests.pipelines.graph_world import PROJECT

pytestmark = pytest.mark.slow

EXPERIMENTS = list_experiments(PROJECT)


@cache
def open_grid(name: str, env: str | None) -> GridRun:
    return GridRun(PROJECT, name, env)


@cache
def list_cells(name: str, env: str | None) -> list[Cell]:
    return open_grid(name, env).list_cells()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_on_one_released_encoder_is_refused(name):
    cells = list_cells(name, "pool")
    system = open_grid(name, "pool").experiment.system
    if system != SYSTEM:  # of another paper, trained all the same
        refuse_shared_trainings(cells, "")
        return
    with pytest.raises(ConfigurationError, match="'mathamr_plus' as it is") as refused:
        refuse_shared_trainings(cells, "the command")
    assert "`the command`" in str(refused.value)


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("env", [None, "pool+scratch", "pool+distil"])
def test_an_experiment_that_trains_is_run(name, env):
    refuse_shared_trainings(list_cells(name, env), "")


def test_the_command_line_names_the_command_that_trains(tmp_path, monkeypatch):
    monkeypatch.chdir(PROJECT)
    options = ["--env", "pool", "--data-root", str(tmp_path)]
    result = CliRunner().invoke(
        group, ["experiments", "run", "formula_modes", *options]
    )
    assert result.exit_code != 0
    text = f"{result.output} {result.exception}"
    assert "`mathamr experiments run formula_modes --env pool+scratch`" in text
    assert "preprocessing.graph.formula_mode" in text
    assert not (tmp_path / "02_intermediate").exists()


def test_strategies_of_the_released_encoder_are_compared_with_one_seed():
    grid = open_grid("retrieval_strategies", "pool")
    refuse_shared_trainings(grid.list_cells([42]), "")
    with pytest.raises(ConfigurationError, match="--seeds 42 searches"):
        refuse_shared_trainings(grid.list_cells([42, 43]), "")


def test_fine_tuning_has_the_shape_of_its_start():
    refuse_shared_trainings(list_cells("auxiliary_loss", "demo"), "")
    with pytest.raises(ConfigurationError, match=r"training\.model\.virtual_init"):
        refuse_shared_trainings(list_cells("vn_initialisation", "demo"), "")


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_headers_give_commands_that_run(name):
    text = (PROJECT / "conf" / "experiments" / f"{name}.yml").read_text()
    head = [line for line in text.splitlines() if line.startswith("#   mathamr")]
    commands = [line.strip("# ").partition("  #")[0].split() for line in head]
    assert commands
    for words in commands:
        assert words[:4] == ["mathamr", "experiments", "run", name]
        env = words[5] if words[4:5] == ["--env"] else None
        refuse_shared_trainings(list_cells(name, env), "")
