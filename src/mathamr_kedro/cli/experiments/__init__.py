"""``mathamr experiments``: run cells, and show their results."""

from __future__ import annotations

import click

from mathamr_kedro.cli._subcommands import Subcommands

__all__ = ["command"]


@click.group(name="experiments", cls=Subcommands, package=__name__)
def command() -> None:
    """Run the experiments of the thesis and the benchmark; compare their results.

    An experiment is a file conf/experiments/NAME.yml. `--env` names the data it runs
    on; the experiment overrides it (`kedro run --env pool+formula_modes`).
    """
