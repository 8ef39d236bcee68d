"""``mathamr show``: results of the stages for a post, a formula or a sentence."""

from __future__ import annotations

import click

from mathamr_kedro.cli._subcommands import Subcommands

__all__ = ["command"]


@click.group(name="show", cls=Subcommands, package=__name__)
def command() -> None:
    r"""Show the results for a collection, a post, a formula or a sentence.

    \b
      mathamr show summary --env demo
      mathamr show post 33701
      mathamr show graph 33701 --out graph.html
      mathamr show formula '\frac{a}{b}'
      mathamr show amr 'Prove that $x^2 + 1$ has no real root.'
    """
