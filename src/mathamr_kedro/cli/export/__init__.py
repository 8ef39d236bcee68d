"""``mathamr export``: data, graphs and encoders in the forms of other tools."""

from __future__ import annotations

import click

from mathamr_kedro.cli._subcommands import Subcommands

__all__ = ["command"]


@click.group(name="export", cls=Subcommands, package=__name__)
def command() -> None:
    r"""Write data, graphs and encoders in the forms of other tools.

    \b
      mathamr export beir --env demo --output exported/beir
      mathamr export huggingface --env demo --output exported/hf
      mathamr export encoder --output exported/encoder
      mathamr export release mine --env pool
    """
