"""``mathamr experiments``: run cells, and look at what came out."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import click
from kedro.io import CatalogProtocol
from omegaconf import OmegaConf
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MathAMRError,
    MissingInputError,
    suggest,
)
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.cli._grids import (
    CollectionRun,
    GridRun,
    Work,
    list_devices,
    list_experiments,
)
from mathamr_kedro.cli._options import DATA_ROOT, ENV
from mathamr_kedro.environments import stack_environments
from mathamr_kedro.evaluation.stats import TestConfig
from mathamr_kedro.experiments import Cell, Ending, FinishedCell
from mathamr_kedro.experiments.benchmark import (
    BENCHMARK,
    Benchmark,
    BenchmarkReport,
    CollectionScores,
    read_suite,
)
from mathamr_kedro.experiments.grid import CELL_STAGES
from mathamr_kedro.experiments.outcomes import SYSTEMS
from mathamr_kedro.experiments.versions import (
    ResultVersions,
    compare_versions,
    list_changes,
    list_collections,
)
from mathamr_kedro.project import find_project, open_catalog
from mathamr_kedro.stages import SETTINGS, check_stage_parameters

_SUITE = Path("conf") / "benchmarks.yml"
_CHANGES = 4
"""Changes of a version that a row names."""
_PARAMS = click.option(
    "--params", "params", default="", metavar="A.B=1,C=2",
    help="Parameters over those of the environments, as for kedro run.",
)  # fmt: skip


@click.group(name="experiments")
def command() -> None:
    """Run the experiments of the thesis and the benchmark; compare their results.

    An experiment is a file conf/experiments/NAME.yml. `--env` names the data it runs
    on; the experiment overrides it (`kedro run --env pool+formula_modes`).
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
    resumes where it stopped. A failing cell is reported and the others continue.
    """
    grid = GridRun(find_project(), name, env, _read_settings(params, data_root))
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


@command.command("benchmark")
@click.option(
    "--list", "only_list", is_flag=True, help="Name the collections and stop."
)
@ENV
@DATA_ROOT
@_PARAMS
@click.option(
    "--reuse", is_flag=True, help="Take the evaluations that are recorded; run nothing."
)
@click.option(
    "--suite", type=click.Path(path_type=Path), metavar="FILE",
    help=f"Another suite than {_SUITE}.",
)  # fmt: skip
def _benchmark(
    only_list: bool,
    env: str | None,
    data_root: str | None,
    params: str,
    reuse: bool,
    suite: Path | None,
) -> None:
    r"""Compare all systems on all collections in one table.

    The environments of conf/benchmarks.yml (only one with --env) are run unless their
    evaluation is recorded for the present data, parameters and code. Collections whose
    data are not there are skipped and named.

    \b
      mathamr experiments benchmark --list
      mathamr experiments benchmark --env demo --reuse
    """
    if data_root and env is None:
        raise click.UsageError("--data-root belongs to one environment: give --env too")
    root = find_project()
    chosen = _choose_benchmarks(suite or root / _SUITE, env)
    settings = _read_settings(params, data_root)
    for name in settings.keys() & {*SETTINGS} - {"data_root"}:
        raise ConfigurationError(
            f"Expected parameters of stages for --params (got {name!r}); name folders "
            "with --env and --data-root, or by the variable of --list"
        )
    runs = {
        name: CollectionRun(root, name, settings)
        for name in dict.fromkeys(b.environment for b in chosen)
    }
    if only_list:
        _list_benchmarks(chosen, runs)
        return
    cells, skipped, failed = _find_cells(chosen, runs, reuse)
    scored = _score(chosen, cells, skipped)
    for name, reason in skipped.items():
        click.echo(f"{name} is skipped: {reason}", err=True)
    if not scored:
        raise MissingInputError(
            "No collection could be scored; `mathamr experiments benchmark --list` "
            "says what each of them needs"
        )
    tests = runs[scored[0].benchmark.environment].read_tests()
    facts = {"parameters": params} if params else {}
    folder = _find_results(open_catalog(env, data_root), BENCHMARK)
    _write_benchmark(BenchmarkReport(scored, tests, skipped, facts), folder)
    if failed:
        sys.exit(1)


@command.command("list")
@ENV
@DATA_ROOT
def _list(env: str | None, data_root: str | None) -> None:
    """List the versions of all results, and what each changed.

    What is the same in all of them is said once, above the table.
    """
    catalog = open_catalog(env, data_root)
    experiments = list_experiments(find_project())
    rows: list[tuple[str, ...]] = []
    unused = []
    for name in [*experiments, SYSTEMS, BENCHMARK]:
        versions = _find_results(catalog, name)
        before = None
        for version in reversed(versions.list()):
            result = versions.read(version)
            changes = describe_changes(before, result)
            rows.append((name, version, *summarise_version(result), changes))
            before = result
        if before is None and name in experiments:
            unused.append(name)
    _print_versions(rows)
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
    """Show a version of the experiment NAME, of "benchmark", or of "systems".

    "systems" are those of the last evaluation of an environment without an experiment.
    """
    result = _open_results(name, env, data_root).read(version)
    if output == "json":
        click.echo(json.dumps(result, indent=1, ensure_ascii=False))
        return
    collection, conditions, seeds, cells = summarise_version(result)
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
    """Compare two versions of the result NAME (the newest if NEW is absent).

    Settings and values that differ are shown, and each difference of a measure is
    tested over the topics (significance.tests). CSV holds only the values.
    """
    versions = _open_results(name, env, data_root)
    before, after = (list_collections(versions.read(v)) for v in (old, new))
    parameters = open_catalog(env, data_root).load("params:significance")
    tests = read_parameters(
        TestConfig, parameters.get("tests", {}), where="significance.tests"
    )
    for part in dict.fromkeys([*before, *after]):
        if part not in before or part not in after:
            which = "old" if part in before else "new"
            click.echo(f"{part}: only in the {which} version.\n", err=True)
            continue
        found = compare_versions(before[part], after[part], measure, tests)
        text = found.values.to_csv() if output == "csv" else found.to_markdown()
        click.echo(text, nl=False)


def summarise_version(result: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return collection, rows, seeds and cells of a version."""
    parts = list_collections(result).values()
    rows = dict.fromkeys(row for part in parts for row in part["rows"])
    seeds = {s["seed"] for part in parts for row in part["rows"].values() for s in row}
    done = sum(len(part["cells"]) for part in parts)
    missing = sum(len(part["missing"]) for part in parts)
    return (
        "; ".join(_describe_collection(part) for part in parts),
        ", ".join(rows),
        ", ".join(map(str, sorted(seeds))),
        f"{done} of {done + missing}" if done else str(len(parts)),
    )


def describe_changes(
    before: Mapping[str, Any] | None, result: Mapping[str, Any]
) -> str:
    """Say what a version changed, compared with the one before it."""
    if before is None:
        return "the first"
    old, new = list_collections(before), list_collections(result)
    changes = list(
        dict.fromkeys(
            str(change)
            for part in new
            if part in old
            for change in list_changes(old[part], new[part])
        )
    )
    more = len(changes) - _CHANGES
    named = [*changes[:_CHANGES], *([f"{more} more"] if more > 0 else [])]
    return "; ".join(named) or "nothing: the same settings"


def _describe_collection(part: Mapping[str, Any]) -> str:
    posts = part.get("posts")
    size = f", {posts:,} posts" if posts is not None else ""
    return f"{part['topic_set']}{size} ({part['collection'][:6]})"


def _print_versions(rows: Sequence[tuple[str, ...]]) -> None:
    """Print a row for each version; a column of one value is a line above."""
    if not rows:
        return
    titles = "experiment version collection conditions seeds cells changed".split()
    columns = dict(zip(titles, zip(*rows, strict=True), strict=True))
    for title in titles[2:6]:
        if len(rows) > 1 and len(set(columns[title])) == 1:
            click.echo(f"{title}: {columns.pop(title)[0]}")
    table = Table(*columns)
    for cells in zip(*columns.values(), strict=True):
        table.add_row(*map(escape, cells))
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def _find_results(catalog: CatalogProtocol, name: str) -> ResultVersions:
    """Return the versions of a result: each has a folder beside that of the others."""
    file = Path(str(catalog["experiment_result"]._describe()["filepath"]))
    return ResultVersions(file.parents[1] / name / file.name)


def _open_results(name: str, env: str | None, data_root: str | None) -> ResultVersions:
    if name not in (SYSTEMS, BENCHMARK):
        GridRun(find_project(), name).check_name()
    return _find_results(open_catalog(env, data_root), name)


def _read_settings(params: str, data_root: str | None) -> dict[str, Any]:
    given = OmegaConf.from_dotlist([p.strip() for p in params.split(",") if p.strip()])
    settings: dict[str, Any] = OmegaConf.to_container(given)  # type: ignore[assignment]
    if data_root:
        settings["data_root"] = str(Path(data_root).resolve())
    return settings


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
    names = list_devices(devices)
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


def _list_benchmarks(
    chosen: Sequence[Benchmark], runs: Mapping[str, CollectionRun]
) -> None:
    table = Table("benchmark", "title", "queries", "environment", "needs", "state")
    for benchmark in chosen:
        run = runs[benchmark.environment]
        problem = run.find_problem(benchmark.variable)
        state = problem or ("recorded" if run.find() else "to run")
        needs = benchmark.variable or "nothing"
        if benchmark.variable and not os.environ.get(benchmark.variable):
            needs += " (not set)"
        table.add_row(
            benchmark.name, benchmark.title, f"{benchmark.queries:,}",
            benchmark.environment, needs, state,
        )  # fmt: skip
    Console(width=None if sys.stdout.isatty() else 200).print(table)


def _choose_benchmarks(suite: Path, env: str | None) -> list[Benchmark]:
    known = list(read_suite(suite).values())
    chosen = [b for b in known if env in (None, b.environment)]
    if not chosen:
        raise ConfigurationError(
            f"No benchmark of the environment {env!r} in the suite"
            f"{suggest(str(env), [b.environment for b in known])}"
        )
    return chosen


def _score(
    chosen: Sequence[Benchmark],
    cells: Mapping[str, FinishedCell],
    skipped: dict[str, str],
) -> list[CollectionScores]:
    """Read the scores of each benchmark; add those that have none to ``skipped``."""
    scored = []
    for benchmark in chosen:
        if benchmark.environment in cells:
            try:
                cell = cells[benchmark.environment]
                scored.append(CollectionScores.read(benchmark, cell))
            except MissingInputError as exc:
                skipped[benchmark.name] = str(exc)
    return scored


def _find_cells(
    chosen: Sequence[Benchmark], runs: Mapping[str, CollectionRun], reuse: bool
) -> tuple[dict[str, FinishedCell], dict[str, str], bool]:
    """Find or run the evaluation of each environment.

    Returns:
        Cells by environment; why a benchmark has none; whether a run failed.
    """
    cells: dict[str, FinishedCell] = {}
    skipped: dict[str, str] = {}
    failed = False
    for env, run in runs.items():
        own = [b for b in chosen if b.environment == env]
        problem = None if reuse else run.find_problem(own[0].variable)
        if problem is None:
            found = run.find(is_current=not reuse)
            if found is None and reuse:
                problem = (
                    "no evaluation with its parameters is recorded; run it without "
                    "--reuse, or name its data: --env and --data-root"
                )
            elif found is None:
                try:
                    found = run.run()
                except MathAMRError as exc:
                    failed, problem = True, str(exc)
            if found is not None:
                cells[env] = found
        if problem is not None:
            skipped |= dict.fromkeys((b.name for b in own), problem)
    return cells, skipped, failed


def _write_benchmark(report: BenchmarkReport, results: ResultVersions) -> None:
    # Matplotlib is loaded where something is drawn.
    from kedro.io.core import generate_timestamp  # noqa: PLC0415

    from mathamr_kedro.experiments.benchmark_figure import (  # noqa: PLC0415
        draw_benchmarks,
        draw_costs,
    )

    folder = results.folder.parent
    (folder / "csv").mkdir(parents=True, exist_ok=True)
    write_text(folder / "tables.md", report.to_markdown())
    for name, table in report.tables.items():
        write_text(folder / "csv" / f"{name}.csv", table.to_csv())
    for name, picture in (draw_benchmarks(report) | draw_costs(report)).items():
        (folder / name).write_bytes(picture)
    version = generate_timestamp()
    results.write(version, report.describe())
    for table in report.tables.values():
        click.echo(table.to_markdown())
    click.echo(f"Written to {folder}, version {version}", err=True)
