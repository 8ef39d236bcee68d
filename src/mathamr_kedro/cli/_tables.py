"""Tables on the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

_WIDE = 200
"""Width of a line if the output is a file or pipe, where nothing is wrapped."""


def print_table(
    head: Sequence[str],
    rows: Iterable[Sequence[str] | None],
    title: str | None = None,
    caption: str | None = None,
    labels: int = 1,
) -> None:
    """Print a table.

    Args:
        head: titles of the columns.
        rows: cells, as many as there are titles or fewer; ``None`` draws a line.
        title: above it.
        caption: below it.
        labels: number of left-aligned columns; the others contain numbers.
    """
    table = Table(
        title=None if title is None else escape(title),
        caption=None if caption is None else escape(caption),
        show_header=any(head),
    )
    for place, name in enumerate(head):
        table.add_column(escape(name), justify="left" if place < labels else "right")
    for row in rows:
        if row is None:
            table.add_section()
        else:
            table.add_row(*map(escape, row))
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDE)
    console.print(table)
