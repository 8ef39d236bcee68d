"""``mathamr export``: data and encoders in the forms of other tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.cli._options import DATA_ROOT, ENV

if TYPE_CHECKING:
    from mathamr_kedro.trec import Run

_OUTPUT = click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), required=True,
    help="Folder to write to.",
)  # fmt: skip


@click.group(name="export")
def command() -> None:
    r"""Write data, vectors and encoders in the forms of other tools.

    \b
      mathamr export huggingface --env demo --output exported/hf
      mathamr export vectors --env demo --output exported/vectors
      mathamr export encoder --output exported/encoder
    """


@command.command(name="huggingface")
@_OUTPUT
@ENV
@DATA_ROOT
def _export_tables(output: Path, **where: Any) -> None:
    """Write corpus, queries, qrels, graphs and runs as Parquet with a card.

    `datasets.load_dataset(FOLDER, "corpus")` reads it. Tables of stages that have not
    been run are left out.
    """
    from mathamr_kedro.integrations import ExportFolder  # noqa: PLC0415
    from mathamr_kedro.project import open_catalog  # noqa: PLC0415

    catalog: Any = open_catalog(**where)
    if not catalog["posts"].exists():
        raise MissingInputError(
            "'posts' is not there yet; run `kedro run --pipelines ingestion` first"
        )
    folder = ExportFolder(output)
    posts = catalog.load("posts").records()
    folder.write_corpus(report_progress(posts, "documents written"))
    folder.write_queries(catalog.load("topics").records())
    folder.write_qrels(catalog.load("judgments").records())
    if catalog["math_graphs"].exists():
        graphs = catalog.load("math_graphs").records()
        folder.write_graphs(report_progress(graphs, "graphs written"))
    if catalog["runs"].exists():
        folder.write_runs(_list_runs(catalog.load("runs")))
    folder.write_card(f"MathAMR+ export of {where['env'] or 'the sample'}")
    click.echo(f"Wrote {folder}")


def _list_runs(folder: Any) -> Iterator[Run]:
    for entry in folder.entries:
        yield folder.read(entry)


@command.command(name="vectors")
@_OUTPUT
@ENV
@DATA_ROOT
def _export_vectors(output: Path, **where: Any) -> None:
    """Write the vectors of all posts as safetensors, for PyLate and the like."""
    from mathamr_kedro.integrations import ExportFolder  # noqa: PLC0415
    from mathamr_kedro.project import open_catalog  # noqa: PLC0415

    catalog: Any = open_catalog(**where)
    if not catalog["index"].exists():
        raise MissingInputError(
            "No vectors to export; run `kedro run --pipelines indexing` first"
        )
    mark = catalog.load("index")["encoder"]
    store = catalog.load("post_vectors").read(mark, verify=False)
    count = ExportFolder(output).write_vectors(store)
    click.echo(f"Wrote {output}: the vectors of {count_nouns(count, 'post')}")


@command.command(name="encoder")
@_OUTPUT
@click.option(
    "--encoder", "name", default="mathamr_plus", show_default=True,
    help="A released encoder: its name, or the folder that `mathamr release` wrote.",
)  # fmt: skip
def _export_encoder(output: Path, name: str) -> None:
    """Write an encoder as safetensors, loadable without Kedro and pickle."""
    from mathamr_kedro.integrations import PortableEncoder  # noqa: PLC0415

    PortableEncoder(name).export(output)
    size = sum(file.stat().st_size for file in output.iterdir())
    click.echo(f"Wrote {output} ({size / 1e6:.1f} MB)")
