"""``mathamr experiments run``: the cells of an experiment, then its tables."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import cycle, islice

import click

from mathamr_kedro.cli._options import in_environment
from mathamr_kedro.cli.experiments._results import PARAMS, read_settings
from mathamr_kedro.experiments import Cell
from mathamr_kedro.experiments.grid import CELL_STAGES, refuse_shared_trainings
from mathamr_kedro.project.catalog import find_project
from mathamr_kedro.project.cells import Ending, GridRun, Work, list_devices
from mathamr_kedro.project.checks import check_stage_parameters
from mathamr_kedro.project.loader import stack_environments


@click.command("run")
@click.argument("name")
@in_environment
@PARAMS
@click.option("--seeds", help="Some of the seeds, e.g. 42,43 (default: all).")
@click.option(
    "--workers", type=click.IntRange(min=0),
    help="Cells at a time (default: one per device); 0: in this process.",
)  # fmt: skip
@click.option(
    "--devices", help="E.g. cuda:0,cuda:1 or cpu (default: all GPUs, else the CPU)."
)
def command(
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
    resumes where it stopped. A failing cell is reported and the others continue.
    """
    grid = GridRun(find_project(), name, env, read_settings(params, data_root))
    grid.check_name()
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
    """Run unfinished cells; return all tasks, and those that failed."""
    env = stack_environments(grid.data_env, "scratch")
    refuse_shared_trainings(cells, f"mathamr experiments run {grid.name} --env {env}")
    for cell in cells:
        whole = {**grid.context.params, **cell.parameters}
        check_stage_parameters(whole, CELL_STAGES)
    collection = grid.ensure_collection()
    works = grid.plan(cells, collection)
    names = {cell.name for cell in cells}
    todo = sum(work.name in names for work in works)
    done = len(cells) - todo
    click.echo(f"{grid.name}: {len(cells)} cells, {done} finished, {todo} to do")
    failed = []
    for number, ending in enumerate(grid.run(works, slots), start=1):
        click.echo(f"[{number}/{len(works)}] {_describe(ending)}")
        if ending.state != "finished":
            failed.append(ending)
    return works, failed


def _assign_slots(devices: str | None, workers: int | None) -> list[str]:
    """Return the devices of cells that run at once; none: cells run in this process."""
    if workers == 0:
        return []
    names = list_devices(devices)
    return list(islice(cycle(names), workers or len(names)))


def _describe(ending: Ending) -> str:
    if ending.state == "skipped":
        return f"{ending.work}: skipped, what it needs has failed"
    return f"{ending.work}: {ending.state} after {ending.seconds:.0f} s"


def _report_failures(failed: Sequence[Ending], works: Sequence[Work]) -> None:
    logs = {work.name: work.log for work in works}
    for ending in failed:
        if ending.state == "failed":
            log = logs[ending.work]
            lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
            click.echo(f"\n{ending.work} failed; {log} ends with:", err=True)
            click.echo("\n".join(lines[-8:]), err=True)
