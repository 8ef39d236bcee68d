"""``mathamr benchmark``: one table of systems × benchmarks, in comparable versions."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.table import Table

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MathAMRError,
    MissingInputError,
    suggest,
)
from mathamr_kedro.cli._options import ENVIRONMENT

if TYPE_CHECKING:
    from mathamr_kedro.cli._benchmarks import BenchmarkSource
    from mathamr_kedro.experiments.benchmark import (
        Benchmark,
        BenchmarkScores,
        BenchmarkStore,
    )

logger = logging.getLogger(__name__)

_SUITE = Path("conf") / "benchmarks.yml"
_FOLDER = Path("data") / "08_reporting" / "benchmark"
_EXAMPLES = """\b
Examples:
  mathamr benchmark --list
  mathamr benchmark --benchmarks demo,demo_formulas --reuse
  mathamr benchmark --from-runs path/to/their/runs
"""


def _folder_option(function: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--output", type=click.Path(path_type=Path), metavar="FOLDER",
        help=f"Folder of the versions (default: {_FOLDER}).",
    )(function)  # fmt: skip


@click.group("benchmark", invoke_without_command=True, epilog=_EXAMPLES)
@click.option("--list", "only_list", is_flag=True, help="Name the benchmarks and stop.")
@click.option("--benchmarks", default="", metavar="A,B", help="Some of the suite.")
@click.option("--env", type=ENVIRONMENT, help="Those of one environment alone.")
@click.option(
    "--systems", default="", metavar="PATTERNS",
    help="Rows to show, e.g. 'mathamr_plus*,bm25'; the reference is kept.",
)  # fmt: skip
@click.option(
    "--reuse", is_flag=True, help="Score the outputs that are there; run nothing."
)
@click.option(
    "--data-root", "data_roots", multiple=True, metavar="[ENV=]FOLDER",
    help="Where the stages of an environment write; may be repeated.",
)  # fmt: skip
@click.option(
    "--params", default="", metavar="A.B=1,C.D=2",
    help="Parameters over those of the environments, as for kedro run.",
)  # fmt: skip
@click.option(
    "--from-runs", type=click.Path(path_type=Path), metavar="FOLDER",
    help="Run files of others as further rows; FOLDER/BENCHMARK/ for one benchmark.",
)  # fmt: skip
@click.option(
    "--suite", type=click.Path(path_type=Path), metavar="FILE",
    help=f"Another suite than {_SUITE}.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@_folder_option
@click.pass_context
def command(context: click.Context, **options: Any) -> None:
    """Score all systems on all benchmarks and write one table, as a new version.

    The environments of the suite (conf/benchmarks.yml) are run where their data,
    parameters or code changed since the last time; a killed command goes on where it
    stopped. Benchmarks whose data are not there are left out and named.
    """
    if context.invoked_subcommand is not None:
        return
    if options["reuse"] and options["params"]:
        raise click.UsageError("--params needs a run; leave out --reuse.")
    # Loaded here: the help needs no catalog.
    from mathamr_kedro.cli._benchmarks import BenchmarkSource  # noqa: PLC0415
    from mathamr_kedro.experiments.benchmark import Benchmark  # noqa: PLC0415
    from mathamr_kedro.project import find_project  # noqa: PLC0415

    root = find_project()
    suite = Benchmark.read_all(options["suite"] or root / _SUITE)
    chosen = Benchmark.choose(suite, _split(options["benchmarks"]))
    chosen = [b for b in chosen if options["env"] in (None, b.environment)]
    if not chosen:
        raise ConfigurationError(
            f"No benchmark of the environment {options['env']!r} in the suite"
            f"{suggest(options['env'], [b.environment for b in suite.values()])}"
        )
    sources = BenchmarkSource.open_all(
        root, suite, chosen, options["data_roots"], _split(options["params"])
    )
    store = _open_store(options["output"])
    if options["only_list"]:
        _list(chosen, sources, store)
        return
    failed = _measure(chosen, list(suite), sources, store, options)
    if failed:
        sys.exit(1)


@command.command("show")
@click.argument("version", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@_folder_option
def _show(version: str | None, as_json: bool, output: Path | None) -> None:
    """Show a VERSION of the result (the newest where absent)."""
    store = _open_store(output)
    if as_json:
        click.echo(json.dumps(store.read(version), indent=1, ensure_ascii=False))
    else:
        click.echo(store.read_page(version), nl=False)


@command.command("compare")
@click.argument("old")
@click.argument("new", required=False)
@click.option(
    "--form", type=click.Choice(["markdown", "csv"]), default="markdown",
    show_default=True, help="Form of the table.",
)  # fmt: skip
@_folder_option
def _compare(old: str, new: str | None, form: str, output: Path | None) -> None:
    """Show the cells that changed from OLD to NEW (the newest where absent)."""
    table = _open_store(output).compare(old, new)
    click.echo(table.to_csv() if form == "csv" else table.to_markdown(), nl=False)


@command.command("choose")
@click.argument("pattern")
@click.option("--version", help="Of the result (default: the newest).")
@click.option("--benchmarks", default="", metavar="A,B", help="Some of the suite.")
@_folder_option
def _choose(
    pattern: str, version: str | None, benchmarks: str, output: Path | None
) -> None:
    """Choose among the systems of a PATTERN by the mean of all benchmarks.

    Beside the score of the winner stands what the same choice is worth on a benchmark
    that had no say in it: each is left out in turn.
    """
    store = _open_store(output)
    choice = store.choose(pattern, version, tuple(_split(benchmarks)))
    click.echo(choice.to_table().to_markdown(), nl=False)


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _open_store(folder: Path | None) -> BenchmarkStore:
    from mathamr_kedro.experiments.benchmark import BenchmarkStore  # noqa: PLC0415
    from mathamr_kedro.project import find_project  # noqa: PLC0415

    return BenchmarkStore(folder or find_project() / _FOLDER)


def _list(
    chosen: Sequence[Benchmark],
    sources: dict[str, BenchmarkSource],
    store: BenchmarkStore,
) -> None:
    table = Table()
    for title in ("benchmark", "title", "queries", "environment", "needs", "state"):
        table.add_column(title)
    for benchmark in chosen:
        source = sources[benchmark.environment]
        problem = source.find_problem(benchmark, reuse=False)
        is_done = not problem and source.env and source.is_current()
        state = problem or ("up to date" if is_done else "ready")
        needs = benchmark.variable or "nothing"
        if benchmark.variable and not os.environ.get(benchmark.variable):
            needs += " (not set)"
        table.add_row(
            benchmark.name, benchmark.title, f"{benchmark.queries:,}",
            benchmark.environment or "run files", needs, state,
        )  # fmt: skip
    Console(width=None if sys.stdout.isatty() else 200).print(table)
    versions = store.list_versions()
    click.echo(f"Versions in {store.base}: {', '.join(versions) or 'none yet'}")


def _measure(
    chosen: Sequence[Benchmark],
    suite: Sequence[str],
    sources: dict[str, BenchmarkSource],
    store: BenchmarkStore,
    options: dict[str, Any],
) -> bool:
    """Run, score and write a version; return whether a run failed."""
    from kedro.io.core import generate_timestamp  # noqa: PLC0415

    from mathamr_kedro.base.machines import Machine  # noqa: PLC0415
    from mathamr_kedro.evaluation.stats import TestConfig  # noqa: PLC0415
    from mathamr_kedro.experiments.benchmark import BenchmarkReport  # noqa: PLC0415
    from mathamr_kedro.experiments.benchmark.figure import (  # noqa: PLC0415
        draw_benchmarks,
        draw_costs,
    )

    left_out: dict[str, str] = {}
    failed = _run_missing(chosen, sources, options["reuse"], left_out)
    scored = list(_score(chosen, suite, sources, options, left_out))
    for name, reason in left_out.items():
        click.echo(f"{name} is left out: {reason}", err=True)
    if not scored:
        raise MissingInputError(
            "No benchmark could be scored; `mathamr benchmark --list` says what each "
            "of them needs"
        )
    version = generate_timestamp()
    facts = {"version": version, "machine": Machine.find().name}
    if options["params"]:
        facts["parameters"] = options["params"]
    own = [source.read_tests() for env, source in sources.items() if env]
    report = BenchmarkReport(scored, (own or [TestConfig()])[0], left_out, facts)
    figures = draw_benchmarks(report) | draw_costs(report)
    folder = store.save(version, report, figures)
    if options["as_json"]:
        click.echo(json.dumps(store.read(version), indent=1, ensure_ascii=False))
    else:
        click.echo(report.summarise().to_markdown())
        for scores in report.scored:
            click.echo(report.detail(scores).to_markdown())
    click.echo(f"Written to {folder}", err=True)
    return failed


def _run_missing(
    chosen: Sequence[Benchmark],
    sources: dict[str, BenchmarkSource],
    reuse: bool,
    left_out: dict[str, str],
) -> bool:
    """Run each environment whose inputs changed; return whether a run failed."""
    ready: dict[str, BenchmarkSource] = {}
    for benchmark in chosen:
        source = sources[benchmark.environment]
        if problem := source.find_problem(benchmark, reuse):
            left_out[benchmark.name] = problem
        elif source.env and not reuse:
            ready[source.env] = source
    failed = False
    for env, source in ready.items():
        if source.is_current():
            logger.info("%s: nothing changed since its last run", env)
            continue
        try:
            source.run()
        except MathAMRError as exc:
            failed = True
            own = [b.name for b in chosen if b.environment == env]
            left_out.update(dict.fromkeys(own, str(exc)))
    return failed


def _score(
    chosen: Sequence[Benchmark],
    suite: Sequence[str],
    sources: dict[str, BenchmarkSource],
    options: dict[str, Any],
    left_out: dict[str, str],
) -> Iterator[BenchmarkScores]:
    from mathamr_kedro.cli._run_files import RunFiles  # noqa: PLC0415

    folder, patterns = options["from_runs"], _split(options["systems"])
    for benchmark in chosen:
        if benchmark.name in left_out:
            continue
        source, files = sources[benchmark.environment], []
        if folder is not None:
            files = RunFiles.list_files(folder, benchmark.name, suite)
        try:
            yield source.score(benchmark, files).choose(patterns)
        except MissingInputError as exc:
            left_out[benchmark.name] = str(exc)
