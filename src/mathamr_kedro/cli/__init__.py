"""The console script ``mathamr``.

Each module of this package is one subcommand: it holds a click command under the name
``command``. A package beside them is a group of commands. A module is imported only
when its command runs, so ``mathamr --help`` answers at once.
"""

from __future__ import annotations

import atexit
import gc
import logging
import re
import sys
from typing import IO, Any

import click

from mathamr_kedro import __version__
from mathamr_kedro.base.errors import find_cause
from mathamr_kedro.cli._subcommands import Subcommands
from mathamr_kedro.project.hints import complete_commands

__all__ = ["cli", "main"]


cli = click.Group(name="mathamr_kedro")
"""Kedro takes commands of a project from this name; ours are under ``mathamr``."""


@click.group(
    cls=Subcommands,
    package=__name__,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="mathamr")
def group() -> None:
    """Mathematical search with MathAMR+ graphs.

    Run the pipelines with `kedro run` first (or `make demo`); these commands look at
    what they made, and answer single questions from the terminal.
    """


# Colours may pass; titles of windows, moves of the cursor and the like may not.
_CONTROL = re.compile("\x1b(?!\\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]")


class _SafeStream:
    """A stream to the terminal that shows control characters of texts as U+FFFD.

    Posts, formulas and names of files are foreign input; an escape sequence in them
    must not reach the terminal.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(_CONTROL.sub("\ufffd", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Formatter(logging.Formatter):
    """Completes commands in log lines by the options of this call.

    Args:
        given: the options ``env`` and ``data_root`` of the command.
    """

    def __init__(self, given: dict[str, str]) -> None:
        super().__init__("%(message)s")
        self._given = given

    def format(self, record: logging.LogRecord) -> str:
        return complete_commands(super().format(record), **self._given)


def main() -> None:
    """Run ``mathamr``; show our own errors as one line instead of a traceback."""
    # Modules are no garbage: looking through them took a fifth of a short command.
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)
    sys.stdout, sys.stderr = _SafeStream(sys.stdout), _SafeStream(sys.stderr)
    given: dict[str, str] = {}
    # What takes long says so; only answers go to the standard output.
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter(given))
    logging.basicConfig(handlers=[handler])
    logging.getLogger("mathamr_kedro").setLevel(logging.INFO)
    try:
        group(prog_name="mathamr", obj=given)
    except Exception as exc:
        cause = find_cause(exc)
        if cause is None:
            raise
        click.echo(f"mathamr: {complete_commands(str(cause), **given)}", err=True)
        sys.exit(2)
