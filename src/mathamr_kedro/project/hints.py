"""Errors as one line, whose commands can be typed as they are shown."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from contextlib import contextmanager

import click

from mathamr_kedro.base.errors import find_cause

_COMMAND = re.compile(
    "`((?:kedro (?:run|viz run|ipython)|mathamr (?:doctor|experiments|explain"
    "|import|index|mcp|search|serve|show (?:graph|post|summary)))\\b[^`]*)`"
)
"""A command between backticks that takes an environment."""
_ELSEWHERE = " with the --env of your run"
"""In messages that do not know the environment."""


def complete_commands(
    message: str, env: str | None = None, data_root: str | None = None
) -> str:
    """Return a message whose commands, between backticks, have these options.

    >>> complete_commands("`kedro run --pipelines indexing`", "own", "/tmp/a b")
    "`kedro run --pipelines indexing --env own --params 'data_root=/tmp/a b'`"
    >>> complete_commands("`mathamr index status` and `mathamr models`", "own")
    '`mathamr index status --env own` and `mathamr models`'
    """

    def complete(found: re.Match[str]) -> str:
        command = found[1]
        if env and " --env" not in command:
            command += f" --env {shlex.quote(env)}"
        if not data_root or re.search("data_root=|--data-root|ipython", command):
            return f"`{command}`"
        if command.startswith("mathamr"):
            return f"`{command} --data-root {shlex.quote(data_root)}`"
        parameter = shlex.quote(f"data_root={data_root}")
        if " --params " in command:  # there can be one list of them
            head, _, tail = command.partition(" --params ")
            return f"`{head} --params {parameter},{tail}`"
        return f"`{command} --params {parameter}`"

    return _COMMAND.sub(complete, message).replace(_ELSEWHERE, "")


@contextmanager
def plain_errors() -> Iterator[None]:
    """On the command line, show errors of this project as one line; no traceback."""
    try:
        yield
    except Exception as error:
        cause, command = find_cause(error), click.get_current_context(silent=True)
        if cause is None or command is None:
            raise
        given = command.params.get("params")
        root = command.params.get("data_root") or (
            given.get("data_root") if isinstance(given, dict) else None
        )
        message = complete_commands(str(cause), command.params.get("env"), root)
        raise click.ClickException(message) from error
