"""``mathamr experiments compare``: two versions of a result."""

from __future__ import annotations

import click

from mathamr_kedro.cli._options import in_environment
from mathamr_kedro.cli.experiments._results import open_results, read_tests
from mathamr_kedro.evaluation.tables.versions import compare_versions, list_collections
from mathamr_kedro.project.catalog import open_catalog


@click.command("compare")
@click.argument("name")
@click.argument("old")
@click.argument("new", required=False)
@click.option("--measure", help='One measure, e.g. "nDCG\'" (default: all).')
@click.option(
    "--output", type=click.Choice(["markdown", "csv"]), default="markdown",
    show_default=True, help="Form of the table.",
)  # fmt: skip
@in_environment
def command(
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
    versions = open_results(name, env, data_root)
    before, after = (list_collections(versions.read(v)) for v in (old, new))
    tests = read_tests(open_catalog(env, data_root))
    for part in dict.fromkeys([*before, *after]):
        if part not in before or part not in after:
            which = "old" if part in before else "new"
            click.echo(f"{part}: only in the {which} version.\n", err=True)
            continue
        found = compare_versions(before[part], after[part], measure, tests)
        text = found.values.to_csv() if output == "csv" else found.to_markdown()
        click.echo(text, nl=False)
