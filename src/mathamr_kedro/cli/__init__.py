"""The console script ``mathamr``.

Each module of this package is one subcommand: a module ``inspect_post.py`` with a
click command named ``command``. Modules are imported only when their command runs,
so ``mathamr --help`` answers at once.
"""

from __future__ import annotations

import pkgutil
import sys
from importlib import import_module

import click

from mathamr_kedro import __version__
from mathamr_kedro.errors import MathAMRError


cli = click.Group(name="mathamr_kedro")
"""Kedro takes project commands from a group of this name; ours are under ``mathamr``."""


class _Subcommands(click.Group):
    """Subcommands found among the modules of this package, imported on use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(m.name for m in pkgutil.iter_modules(__path__) if m.name[0] != "_")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        return import_module(f"{__name__}.{cmd_name}").command


@click.group(cls=_Subcommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mathamr")
def group() -> None:
    """Mathematical search with MathAMR+ graphs.

    Run the pipelines with `kedro run` first (or `make demo`); these commands look at
    what they made, and answer single questions from the terminal.
    """


def main() -> None:
    """Run ``mathamr``; show our own errors as one line instead of a traceback."""
    try:
        group(prog_name="mathamr")
    except MathAMRError as exc:
        click.echo(f"mathamr: {exc}", err=True)
        sys.exit(2)
