"""The table of ``mathamr experiments list``: a row for each version of a result."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import click
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from mathamr_kedro.experiments.changes import Change

_TITLES = "experiment version collection conditions seeds cells changed".split()
_MAY_BE_SAID_ONCE = slice(2, 6)
_CHANGES = 4
"""Changes of a version that a row names."""


class VersionList:
    """Versions of results, in the order in which they are added."""

    def __init__(self) -> None:
        self._rows: list[tuple[str, ...]] = []

    def add(self, name: str, versions: Mapping[str, Mapping[str, Any]]) -> None:
        """Add the versions of one experiment, the oldest first."""
        before = None
        for version, result in versions.items():
            changes = self._tell_changes(before, result)
            self._rows.append((name, version, *self.summarise(result), changes))
            before = result

    def print(self) -> None:
        """Print a row for each version; a column of one value is a line above."""
        if not self._rows:
            return
        columns = dict(zip(_TITLES, zip(*self._rows, strict=True), strict=True))
        for title in _TITLES[_MAY_BE_SAID_ONCE]:
            if len(self._rows) > 1 and len(set(columns[title])) == 1:
                click.echo(f"{title}: {columns.pop(title)[0]}")
        table = Table(*columns)
        for cells in zip(*columns.values(), strict=True):
            table.add_row(*map(escape, cells))
        Console(width=None if sys.stdout.isatty() else 160).print(table)

    @staticmethod
    def summarise(result: Mapping[str, Any]) -> tuple[str, str, str, str]:
        """Return collection, conditions, seeds and cells of a version."""
        rows = result["rows"]
        seeds = sorted({found["seed"] for row in rows.values() for found in row})
        done, missing = len(result["cells"]), len(result["missing"])
        posts = result.get("posts")
        size = f", {posts:,} posts" if posts is not None else ""
        return (
            f"{result['topic_set']}{size} ({result['collection'][:6]})",
            ", ".join(rows),
            ", ".join(map(str, seeds)),
            f"{done} of {done + missing}" if done else "1",
        )

    @staticmethod
    def _tell_changes(
        before: Mapping[str, Any] | None, result: Mapping[str, Any]
    ) -> str:
        """Say what a version changed, compared with the one before it."""
        if before is None:
            return "the first"
        changes = [str(change) for change in Change.list(before, result)]
        if not changes and not Change.are_recorded(before, result):
            return "not recorded by older releases"
        more = len(changes) - _CHANGES
        named = [*changes[:_CHANGES], *([f"{more} more"] if more > 0 else [])]
        return "; ".join(named) or "nothing: the same settings"
