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


class Subcommands(click.Group):
    """The modules of a package as commands; each holds one under the name ``command``.

    A module is imported only when its command runs, which keeps the help fast.

    Args:
        package: name of the package.
        settings: of :class:`click.Group`.
    """

    def __init__(self, *, package: str, **settings: Any) -> None:
        super().__init__(**settings)
        self._package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the modules."""
        folder = Path(str(sys.modules[self._package].__file__)).parent
        names = (module.name for module in pkgutil.iter_modules([str(folder)]))
        return sorted(name for name in names if name[0] != "_")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command."""
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
