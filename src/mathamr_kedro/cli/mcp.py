"""``mathamr mcp``: search tools for assistants."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from importlib.util import find_spec

import click

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.cli._options import in_environment


@click.command(name="mcp")
@in_environment
@click.option("--system", metavar="NAME", help="How posts are found.")
def command(env: str | None, data_root: str | None, system: str | None) -> None:
    r"""Serve search to an assistant over standard input and output.

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

    _mend_input()
    config = ServeConfig(env, data_root, system)
    create_assistant(lambda: SearchService(config)).run("stdio")


def _mend_input() -> None:
    """Replace halves of surrogate pairs in the input.

    JSON allows them, but the protocol's reader rejects them, and such a request would
    never be answered.
    """
    source, (read, write) = os.dup(0), os.pipe()
    os.dup2(read, 0)

    def copy() -> None:
        with open(source, "rb") as lines, open(write, "wb", buffering=0) as mended:
            for line in lines:
                if b"\\ud" in line.lower():
                    with contextlib.suppress(ValueError):
                        text = json.dumps(json.loads(line), ensure_ascii=False)
                        mended.write(text.encode("utf-8", "replace") + b"\n")
                        continue
                mended.write(line)

    threading.Thread(target=copy, daemon=True).start()
