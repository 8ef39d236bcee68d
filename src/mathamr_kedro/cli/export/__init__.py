"""``mathamr export``: collections as BEIR, and encoders to release."""

from __future__ import annotations

import click

from mathamr_kedro.cli._subcommands import Subcommands

__all__ = ["command"]


@click.group(name="export", cls=Subcommands, package=__name__)
def command() -> None:
    r"""Write collections in the format of BEIR, and encoders to release.

    \b
      mathamr export beir --env demo --output exported/beir
      mathamr export release mine --env pool
    """
