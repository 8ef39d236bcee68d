"""``mathamr experiments list``: a row for each version of a result."""

from __future__ import annotations

from collections.abc import Sequence

import click

from mathamr_kedro.cli._options import in_environment
from mathamr_kedro.cli._tables import print_table
from mathamr_kedro.cli.experiments._results import find_results
from mathamr_kedro.evaluation.tables.benchmark import BENCHMARK
from mathamr_kedro.evaluation.tables.versions import (
    describe_changes,
    summarise_version,
)
from mathamr_kedro.experiments.outcomes import SYSTEMS
from mathamr_kedro.project.catalog import find_project, open_catalog
from mathamr_kedro.project.cells import list_experiments


@click.command("list")
@in_environment
def command(env: str | None, data_root: str | None) -> None:
    """List the versions of all results, and their changes.

    Values that are the same in all versions are listed once, above the table.
    """
    catalog = open_catalog(env, data_root)
    experiments = list_experiments(find_project())
    rows: list[tuple[str, ...]] = []
    unused = []
    for name in [*experiments, SYSTEMS, BENCHMARK]:
        versions = find_results(catalog, name)
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


def _print_versions(rows: Sequence[tuple[str, ...]]) -> None:
    """Print a row for each version; a column of one value is a line above."""
    if not rows:
        return
    titles = "experiment version collection conditions seeds cells changed".split()
    columns = dict(zip(titles, zip(*rows, strict=True), strict=True))
    for title in titles[2:6]:
        if len(rows) > 1 and len(set(columns[title])) == 1:
            click.echo(f"{title}: {columns.pop(title)[0]}")
    rows = list(zip(*columns.values(), strict=True))
    print_table(list(columns), rows, labels=len(columns))
