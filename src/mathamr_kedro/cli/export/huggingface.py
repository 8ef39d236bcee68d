"""``mathamr export huggingface``: a collection as Parquet with a card."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.cli._options import in_environment


@click.command(name="huggingface")
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), required=True,
    help="Folder to write to.",
)  # fmt: skip
@in_environment
def command(output: Path, **where: Any) -> None:
    """Write corpus, queries, qrels, graphs and runs as Parquet with a card.

    `datasets.load_dataset(FOLDER, "corpus")` reads it. Tables of stages that have not
    been run are skipped.
    """
    from mathamr_kedro.integrations import ExportFolder  # noqa: PLC0415
    from mathamr_kedro.project.catalog import LastRun  # noqa: PLC0415

    catalog: Any = LastRun(**where).open("posts")
    folder = ExportFolder(output)
    posts = catalog.load("posts").records()
    folder.write_corpus(report_progress(posts, "documents written"))
    folder.write_queries(catalog.load("topics").records())
    folder.write_qrels(catalog.load("judgments").records())
    if catalog["math_graphs"].exists():
        graphs = catalog.load("math_graphs").records()
        folder.write_graphs(report_progress(graphs, "graphs written"))
    if catalog["runs"].exists():
        folder.write_runs(run for _, run in catalog.load("runs"))
    folder.write_card(f"MathAMR+ export of {where['env'] or 'the sample'}")
    click.echo(f"Wrote {folder}")
