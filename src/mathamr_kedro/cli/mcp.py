"""``mathamr mcp``: the search as a tool for assistants."""

from __future__ import annotations

from importlib.util import find_spec

import click

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.cli._options import DATA_ROOT, ENV


@click.command(name="mcp")
@ENV
@DATA_ROOT
@click.option("--system", metavar="NAME", help="How posts are found.")
def command(env: str | None, data_root: str | None, system: str | None) -> None:
    r"""Serve the search to an assistant over standard input and output.

    The tools: search_summary, search_formula, get_post, get_formula and explain.

    \b
      mathamr mcp --env demo
    """
    if find_spec("mcp") is None:
        raise ConfigurationError(
            "The tool for assistants needs the package mcp: "
            "pip install 'mathamr-kedro[mcp]'"
        )
    # Loaded here: wrong options are refused at once.
    from mathamr_kedro.serve import (  # noqa: PLC0415
        SearchService,
        ServeConfig,
        create_assistant,
    )

    config = ServeConfig(env, data_root, system)
    create_assistant(lambda: SearchService(config)).run("stdio")
