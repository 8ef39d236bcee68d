"""Groups of commands, each command a module that is imported when it runs."""

from __future__ import annotations

import ast
import pkgutil
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

MOVED = {
    "amr": "show amr",
    "beir": "export beir",
    "benchmark": "experiments benchmark",
    "compare": "evaluate",
    "dominance": "experiments dominance",
    "graph": "show graph",
    "inspect": "show post",
    "release": "export release",
    "summary": "show summary",
    "trees": "show formula",
}
"""Commands of the version before by what they are called now; kept for one version."""


class Subcommands(click.Group):
    """The modules of a package as commands; each holds one under the name ``command``.

    A module is imported only when its command runs, so that the help answers at once.

    Args:
        package: name of the package.
        moved: commands that have another name now.
        settings: of :class:`click.Group`.
    """

    def __init__(
        self, *, package: str, moved: dict[str, str] | None = None, **settings: Any
    ) -> None:
        super().__init__(**settings)
        self._package = package
        self._moved = moved or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the modules."""
        folder = Path(str(sys.modules[self._package].__file__)).parent
        names = (module.name for module in pkgutil.iter_modules([str(folder)]))
        return sorted(name for name in names if name[0] != "_")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command."""
        if cmd_name in self._moved:
            return _say_where(cmd_name, self._moved[cmd_name])
        if cmd_name not in self.list_commands(ctx):
            return None
        found: click.Command = import_module(f"{self._package}.{cmd_name}").command
        # Click keeps lines after a \b, which is two characters in a raw docstring.
        found.help = (found.help or "").replace(r"\b", "\b")
        return found

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """List the commands with the first line of their help, read from the source."""
        with formatter.section("Commands"):
            formatter.write_dl(
                [(name, self._read_help(name)) for name in self.list_commands(ctx)]
            )

    def _read_help(self, name: str) -> str:
        spec = find_spec(f"{self._package}.{name}")
        source = Path(str(spec and spec.origin)).read_text(encoding="utf-8")
        for item in ast.parse(source).body:
            if isinstance(item, ast.FunctionDef) and item.name == "command":
                return (ast.get_docstring(item) or "").partition("\n")[0]
        return ""


class _MovedError(click.ClickException):
    """A command has another name now."""

    exit_code = 2


def _say_where(name: str, new: str) -> click.Command:
    """Return a command that takes anything and says what it is called now."""

    def say(**_: Any) -> None:
        raise _MovedError(f"`mathamr {name}` is now `mathamr {new}`")

    return click.Command(
        name,
        callback=say,
        params=[click.Argument(["rest"], nargs=-1, type=click.UNPROCESSED)],
        context_settings={"ignore_unknown_options": True},
        help=f"Moved: `mathamr {new}`.",
        hidden=True,
    )
