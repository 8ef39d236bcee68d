"""``mathamr experiments benchmark``: all systems on all collections in one table."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MathAMRError,
    MissingInputError,
    suggest,
)
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.writers import WriterLock
from mathamr_kedro.cli._options import in_environment
from mathamr_kedro.cli._tables import print_table
from mathamr_kedro.cli.experiments._results import (
    PARAMS,
    find_results,
    read_settings,
    read_tests,
)
from mathamr_kedro.evaluation.tables.benchmark import (
    BENCHMARK,
    Benchmark,
    BenchmarkReport,
    CollectionScores,
)
from mathamr_kedro.experiments import FinishedCell
from mathamr_kedro.experiments.benchmark import read_collection, read_suite
from mathamr_kedro.experiments.versions import ResultVersions
from mathamr_kedro.project.catalog import find_project, open_catalog
from mathamr_kedro.project.cells import CollectionRun
from mathamr_kedro.project.checks import SETTINGS

_SUITE = Path("conf") / "benchmarks.yml"
_PATIENCE = 600.0
"""Seconds to wait for another writer of the data root."""


@click.command("benchmark")
@click.option(
    "--list", "only_list", is_flag=True, help="Name the collections and stop."
)
@in_environment
@PARAMS
@click.option(
    "--reuse", is_flag=True, help="Take the evaluations that are recorded; run nothing."
)
@click.option(
    "--papers",
    is_flag=True,
    help="Add the systems of the four papers; they are trained: a GPU is advised.",
)
@click.option(
    "--suite", type=click.Path(path_type=Path), metavar="FILE",
    help=f"Another suite than {_SUITE}.",
)  # fmt: skip
def command(
    only_list: bool,
    env: str | None,
    data_root: str | None,
    params: str,
    reuse: bool,
    papers: bool,
    suite: Path | None,
) -> None:
    r"""Compare all systems on all collections in one table.

    The environments of conf/benchmarks.yml (only one with --env) are run unless their
    evaluation is recorded for the present data, parameters and code. Collections whose
    data are missing are skipped and named.

    \b
      mathamr experiments benchmark --list
      mathamr experiments benchmark --env demo --reuse
      mathamr experiments benchmark --papers
    """
    if data_root and env is None:
        raise click.UsageError("--data-root belongs to one environment: give --env too")
    root = find_project()
    chosen = _choose_benchmarks(suite or root / _SUITE, env)
    if papers:
        chosen = [benchmark.with_papers() for benchmark in chosen]
    settings = read_settings(params, data_root)
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
    tests = read_tests(runs[scored[0].benchmark.environment].catalog)
    facts = {"parameters": params} if params else {}
    results = find_results(open_catalog(env, data_root), BENCHMARK)
    data = results.folder.parents[3]
    with WriterLock(data, "mathamr experiments benchmark", _PATIENCE):
        _write_benchmark(BenchmarkReport(scored, tests, skipped, facts), results)
    if failed:
        sys.exit(1)


def _choose_benchmarks(suite: Path, env: str | None) -> list[Benchmark]:
    known = list(read_suite(suite).values())
    chosen = [b for b in known if env in (None, b.environment)]
    if not chosen:
        raise ConfigurationError(
            f"No benchmark of the environment {env!r} in the suite"
            f"{suggest(str(env), [b.environment for b in known])}"
        )
    return chosen


def _list_benchmarks(
    chosen: Sequence[Benchmark], runs: Mapping[str, CollectionRun]
) -> None:
    rows = []
    for benchmark in chosen:
        run = runs[benchmark.environment]
        problem = run.find_problem(benchmark.variable)
        state = problem or ("recorded" if run.find() else "to run")
        needs = benchmark.variable or "nothing"
        if not all(map(os.environ.get, benchmark.variable.split())):
            needs += " (not set)"
        queries, env = f"{benchmark.queries:,}", benchmark.environment
        rows.append((benchmark.name, benchmark.title, queries, env, needs, state))
    head = ("benchmark", "title", "queries", "environment", "needs", "state")
    print_table(head, rows, labels=len(head))


def _find_cells(
    chosen: Sequence[Benchmark], runs: Mapping[str, CollectionRun], reuse: bool
) -> tuple[dict[str, FinishedCell], dict[str, str], bool]:
    """Find or run the evaluation of each environment.

    Returns:
        Cells by environment; reasons why benchmarks have none; whether a run failed.
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
                scored.append(read_collection(benchmark, cell))
            except MissingInputError as exc:
                skipped[benchmark.name] = str(exc)
    return scored


def _write_benchmark(report: BenchmarkReport, results: ResultVersions) -> None:
    # Matplotlib is loaded where something is drawn.
    from kedro.io.core import generate_timestamp  # noqa: PLC0415

    from mathamr_kedro.evaluation.tables.benchmark_figure import (  # noqa: PLC0415
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
