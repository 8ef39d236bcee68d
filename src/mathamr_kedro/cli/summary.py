"""``mathamr summary``: what the pipelines have made so far, and where to look."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from kedro.io import CatalogProtocol, DatasetError
from rich.console import Console
from rich.table import Table

from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.project import open_catalog


@click.command(name="summary")
@click.option("--env", help="Environment of conf/ (default: the embedded sample).")
@click.option("--data-root", help="Another folder for what the stages wrote.")
def command(env: str | None, data_root: str | None) -> None:
    """Show what was made and where to look."""
    catalog = open_catalog(env, data_root)
    console = Console()
    statistics = _load(catalog, "ingestion_statistics")
    if statistics is None:
        raise MissingInputError("Nothing was made yet; run `kedro run` or `make demo`")
    _show_ingestion(statistics, console)
    console.print("\nWhere to look")
    post = next(catalog.load("posts").records(), None)
    flags = f" --env {env}" if env else ""
    report = Path(catalog["ingestion_report"]._describe()["filepath"])
    for what, why in (
        (f"mathamr inspect {post.post_id if post else 'POST_ID'}{flags}", "one post"),
        (str(_shorten(report)), "the whole report"),
        (f"kedro viz run{flags}", "the pipelines in your browser"),
        (f"kedro ipython{flags}", "catalog.load('posts').to_pandas()"),
    ):
        console.print(f"  [bold]{what:<42}[/bold] {why}", soft_wrap=True)


def _shorten(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _load(catalog: CatalogProtocol, name: str) -> Any:
    try:
        return catalog.load(name)
    except DatasetError:
        return None


def _show_ingestion(statistics: dict[str, Any], console: Console) -> None:
    posts, formulas = statistics["posts"], statistics["formulas"]
    left_out = sum(f["left_out"] for f in statistics["failures"].values())
    notes = sum(f["kept"] for f in statistics["failures"].values())
    judgments = sum(j["judgments"] for j in statistics["judgments"].values())
    table = Table(title=f"Collection {statistics['collection']}", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    for name, value in (
        ("posts", posts["total"]),
        ("formulas in their texts", statistics["formulas_in_texts"]),
        ("visually distinct formulas", formulas["visual_ids"]),
        ("training pairs", statistics["training_pairs"]),
        ("topics", sum(statistics["topics"].values())),
        ("judgments", judgments),
        ("records left out / with a note", f"{left_out:,} / {notes:,}"),
    ):
        table.add_row(name, value if isinstance(value, str) else f"{value:,}")
    console.print(table)
