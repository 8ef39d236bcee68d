"""``mathamr experiments show``: a version of a result."""

from __future__ import annotations

import json

import click

from mathamr_kedro.cli._options import in_environment
from mathamr_kedro.cli.experiments._results import open_results
from mathamr_kedro.evaluation.tables.versions import summarise_version


@click.command("show")
@click.argument("name")
@click.option("--version", help="Of the result (default: the newest).")
@click.option(
    "--output", type=click.Choice(["tables", "json"]), default="tables",
    show_default=True, help="The tables, or all that the version holds.",
)  # fmt: skip
@in_environment
def command(
    name: str, version: str | None, output: str, env: str | None, data_root: str | None
) -> None:
    """Show a version of the experiment NAME, of "benchmark", or of "systems".

    "systems" are those of the last evaluation of an environment without an experiment.
    """
    result = open_results(name, env, data_root).read(version)
    if output == "json":
        click.echo(json.dumps(result, indent=1, ensure_ascii=False))
        return
    collection, conditions, seeds, cells = summarise_version(result)
    click.echo(f"{name}: {collection}; {conditions}; seeds {seeds}; {cells} cells\n")
    click.echo("\n".join(result["tables"].values()))
