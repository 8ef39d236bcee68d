"""``mathamr experiments``: run conditions with seeds, and look at what came out."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import click
from kedro.io import CatalogProtocol
from omegaconf import OmegaConf

from mathamr_kedro.base.errors import MissingInputError, suggest
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.cli._grids import (
    GridRun,
    Work,
)
from mathamr_kedro.cli._options import DATA_ROOT, ENV
from mathamr_kedro.cli._versions import VersionList
from mathamr_kedro.environments import stack_environments
from mathamr_kedro.evaluation.stats import TestConfig
from mathamr_kedro.experiments import Cell, Ending
from mathamr_kedro.experiments.grid import CELL_STAGES
from mathamr_kedro.experiments.outcomes import SYSTEMS
from mathamr_kedro.experiments.results import GridResults
from mathamr_kedro.experiments.tracking import log_cells
from mathamr_kedro.experiments.versions import compare_versions
from mathamr_kedro.project import find_project, list_versions, open_catalog
from mathamr_kedro.stages import check_stage_parameters

_PARAMS = click.option(
    "--params", "params", default="", metavar="A.B=1,C=2",
    help="Parameters over those of the environments, as for kedro run.",
)  # fmt: skip


@click.group(name="experiments")
def command() -> None:
    """Run the experiments of the thesis and compare their results.

    An experiment is a file conf/experiments/NAME.yml. `--env` names the data it runs
    on; the experiment is read over it (`kedro run --env pool+formula_modes`).
    """


@command.command("run")
@click.argument("name")
@ENV
@DATA_ROOT
@_PARAMS
@click.option("--seeds", help="Some of the seeds, e.g. 42,43 (default: all).")
@click.option(
    "--workers", type=click.IntRange(min=0),
    help="Cells at a time (default: one per device); 0: in this process.",
)  # fmt: skip
@click.option(
    "--devices", help="E.g. cuda:0,cuda:1 or cpu (default: all GPUs, else the CPU)."
)
def _run(
    name: str,
    env: str | None,
    data_root: str | None,
    params: str,
    seeds: str | None,
    workers: int | None,
    devices: str | None,
) -> None:
    """Run all unfinished cells of the experiment NAME, then write its tables.

    A cell is a condition with a seed. Finished cells are never run again; a killed run
    continues where it stopped. A failing cell is reported and the others continue.
    """
    grid = _open(name, env, data_root, params)
    cells = grid.list_cells(_read_seeds(seeds, grid.experiment.seeds))
    slots = _assign_slots(devices, workers)
    with grid.lock():
        works, failed = _run_cells(grid, cells, slots)
    _report_failures(failed, works)
    if grid.has_results():
        grid.run_stages(["significance"])
        click.echo(grid.context.catalog.load("significance_report"))
    if failed:
        click.echo(
            f"{len(failed)} not finished; the tables hold the others. The same "
            "command runs them again.",
            err=True,
        )
        sys.exit(1)


@command.command("list")
@ENV
@DATA_ROOT
def _list(env: str | None, data_root: str | None) -> None:
    """List the versions of all results, and what each changed.

    What is the same in all of them is said once, above the table.
    """
    catalog = open_catalog(env, data_root)
    place = Path(str(catalog["experiment_result"]._describe()["filepath"]))
    table, unused = VersionList(), []
    for name in [*GridRun.list_experiments(find_project()), SYSTEMS]:
        file = place.parents[1] / name / place.name
        files = {f.parent.name: f for f in sorted(file.glob(f"*/{file.name}"))}
        table.add(
            name,
            {v: json.loads(f.read_text(encoding="utf-8")) for v, f in files.items()},
        )
        unused += [] if files or name == SYSTEMS else [name]
    table.print()
    if unused:
        names = ", ".join(unused)
        click.echo(f"Not run yet: {names} (mathamr experiments run NAME)")


@command.command("show")
@click.argument("name")
@click.option("--version", help="Of the result (default: the newest).")
@click.option(
    "--output", type=click.Choice(["tables", "json"]), default="tables",
    show_default=True, help="The tables, or all that the version holds.",
)  # fmt: skip
@ENV
@DATA_ROOT
def _show(
    name: str, version: str | None, output: str, env: str | None, data_root: str | None
) -> None:
    """Show a version of the experiment NAME, or of "systems" (no experiment)."""
    result = _read_result(name, version, env, data_root)
    if output == "json":
        click.echo(json.dumps(result, indent=1, ensure_ascii=False))
        return
    collection, conditions, seeds, cells = VersionList.summarise(result)
    click.echo(f"{name}: {collection}; {conditions}; seeds {seeds}; {cells} cells\n")
    click.echo("\n".join(result["tables"].values()))


@command.command("compare")
@click.argument("name")
@click.argument("old")
@click.argument("new", required=False)
@click.option("--measure", help='One measure, e.g. "nDCG\'" (default: all).')
@click.option(
    "--output", type=click.Choice(["markdown", "csv"]), default="markdown",
    show_default=True, help="Form of the table.",
)  # fmt: skip
@ENV
@DATA_ROOT
def _compare(
    name: str,
    old: str,
    new: str | None,
    measure: str | None,
    output: str,
    env: str | None,
    data_root: str | None,
) -> None:
    """Compare two versions of the experiment NAME (the newest where NEW is absent).

    Settings and values that differ are shown, and each difference of a measure is
    tested over the topics (significance.tests). CSV holds the values alone.
    """
    before = _read_result(name, old, env, data_root)
    after = _read_result(name, new, env, data_root)
    parameters = _open_results(name, env, data_root).load("params:significance")
    tests = read_parameters(
        TestConfig, parameters.get("tests", {}), where="significance.tests"
    )
    found = compare_versions(before, after, measure, tests)
    text = found.values.to_csv() if output == "csv" else found.to_markdown()
    click.echo(text, nl=False)


@command.command("track")
@click.argument("name")
@click.option(
    "--uri", default="sqlite:///mlflow.db", show_default=True,
    help="Of MLflow's tracking server or database.",
)  # fmt: skip
@ENV
@DATA_ROOT
@_PARAMS
def _track(
    name: str, uri: str, env: str | None, data_root: str | None, params: str
) -> None:
    """Log the finished cells of the experiment NAME as runs of MLflow."""
    grid = _open(name, env, data_root, params)
    found = GridResults.find(grid.experiment, grid.context.params, grid.store)
    logged = log_cells(name, found.finished, uri)
    click.echo(f"{logged} of {len(found.finished)} cells logged to {uri}")


def _open(name: str, env: str | None, data_root: str | None, params: str) -> GridRun:
    root = find_project()
    GridRun.check_name(root, name)
    given = OmegaConf.from_dotlist([p for p in params.split(",") if p])
    settings: dict[str, Any] = OmegaConf.to_container(given)  # type: ignore[assignment]
    if data_root:
        settings["data_root"] = str(Path(data_root).resolve())
    return GridRun(root, name, env, settings)


def _read_seeds(text: str | None, known: Sequence[int]) -> list[int] | None:
    if text is None:
        return None
    try:
        seeds = [int(part) for part in text.split(",")]
    except ValueError as exc:
        raise click.BadParameter(
            f"expected seeds such as {known[0]} (got {text!r})", param_hint="--seeds"
        ) from exc
    unknown = [seed for seed in seeds if seed not in known]
    if unknown:
        raise click.BadParameter(
            f"expected some of the experiment's seeds {list(known)} (got {unknown}); "
            f"--seeds {known[0]} runs one of them, experiment.seeds states others",
            param_hint="--seeds",
        )
    return list(dict.fromkeys(seeds))


def _run_cells(
    grid: GridRun, cells: Sequence[Cell], slots: Sequence[str]
) -> tuple[list[Work], list[Ending]]:
    """Run what is unfinished; return all tasks, and those that did not end well."""
    # It loads torch, which those who look at results need not wait for.
    from mathamr_kedro.experiments.released_settings import (  # noqa: PLC0415
        refuse_shared_trainings,
    )

    env = stack_environments(grid.data_env, "scratch")
    refuse_shared_trainings(cells, f"mathamr experiments run {grid.name} --env {env}")
    for cell in cells:
        whole = {**grid.context.params, **cell.parameters}
        check_stage_parameters(whole, CELL_STAGES)
    collection = grid.ensure_collection()
    works = grid.plan(cells, collection)
    names = {cell.name for cell in cells}
    todo = sum(work.task.name in names for work in works)
    done = len(cells) - todo
    click.echo(f"{grid.name}: {len(cells)} cells, {done} finished, {todo} to do")
    failed = []
    for number, ending in enumerate(grid.run(works, slots, not slots), start=1):
        click.echo(f"[{number}/{len(works)}] {_describe(ending)}")
        if ending.state != "finished":
            failed.append(ending)
    return works, failed


def _assign_slots(devices: str | None, workers: int | None) -> list[str]:
    """Return the device of each cell that runs at a time; none: in this process."""
    if workers == 0:
        return []
    names = GridRun.list_devices(devices)
    return list(islice(cycle(names), workers or len(names)))


def _describe(ending: Ending) -> str:
    if ending.state == "skipped":
        return f"{ending.task}: skipped, what it needs has failed"
    return f"{ending.task}: {ending.state} after {ending.seconds:.0f} s"


def _report_failures(failed: Sequence[Ending], works: Sequence[Work]) -> None:
    logs = {work.task.name: work.log for work in works}
    for ending in failed:
        if ending.state == "failed":
            log = logs[ending.task]
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            click.echo(f"\n{ending.task} failed; {log} ends with:", err=True)
            click.echo("\n".join(lines[-8:]), err=True)


def _read_result(
    name: str, version: str | None, env: str | None, data_root: str | None
) -> dict[str, Any]:
    catalog = _open_results(name, env, data_root)
    versions = list_versions(catalog, "experiment_result")
    chosen = version or next(iter(versions), None)
    if chosen not in versions:
        raise MissingInputError(
            f"No version {chosen or 'at all'!r} of the experiment {name!r}"
            f"{suggest(chosen or '', versions)}; `mathamr experiments list` shows "
            "those that are there, `mathamr experiments run` makes one"
        )
    result: dict[str, Any] = catalog.load("experiment_result", version=chosen)
    return result


def _open_results(name: str, env: str | None, data_root: str | None) -> CatalogProtocol:
    if name == SYSTEMS:
        return open_catalog(env, data_root)
    GridRun.check_name(find_project(), name)
    return open_catalog(stack_environments(env, name), data_root)
