"""``mathamr export vectors``: the vectors of posts, for other tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.formatting import count_nouns
from mathamr_kedro.cli._options import DATA_ROOT, ENV


@click.command(name="vectors")
@click.option(
    "--output", type=click.Path(file_okay=False, path_type=Path), required=True,
    help="Folder to write to.",
)  # fmt: skip
@ENV
@DATA_ROOT
def command(output: Path, **where: Any) -> None:
    """Write the vectors of all posts as safetensors, for PyLate and the like."""
    from mathamr_kedro.integrations import ExportFolder  # noqa: PLC0415
    from mathamr_kedro.project import open_catalog  # noqa: PLC0415

    catalog: Any = open_catalog(**where)
    if not catalog["mathamr_plus.index"].exists():
        raise MissingInputError(
            "No vectors to export; run `kedro run --pipelines indexing` first"
        )
    index = catalog.load("mathamr_plus.index")
    count = ExportFolder(output).write_vectors(index.vectors.posts)
    click.echo(f"Wrote {output}: the vectors of {count_nouns(count, 'post')}")
