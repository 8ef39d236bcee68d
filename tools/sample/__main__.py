"""Make the embedded sample: ``python -m tools.sample``.

MathML that the folder already holds is reused; LaTeXML converts new formulas only.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import click

from mathamr_kedro.base.errors import MathAMRError
from tools.sample.collection import build_collection
from tools.sample.contents import gather_contents
from tools.sample.folder import (
    compare_files,
    read_cells,
    render_files,
    write_files,
)
from tools.sample.mathml import make_cells


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("data/01_raw/sample"),
    show_default=True,
    help="Folder of the sample.",
)
@click.option(
    "--check", is_flag=True, help="Write nothing; fail if a file would change."
)
@click.option("--fresh", is_flag=True, help="Make all MathML again (needs LaTeXML).")
def command(out: Path, check: bool, fresh: bool) -> None:
    """Write the sample from its Markdown files, or check that it is current."""
    collection = build_collection(gather_contents())
    cells = make_cells(collection.distinct_latex(), {} if fresh else read_cells(out))
    files = render_files(collection, cells)
    changed = compare_files(out, files) if check else write_files(out, files)
    for path in changed:
        click.echo(f"{'differs' if check else 'written'}: {out / path}")
    answers = len(collection.answer_ids)
    click.echo(
        f"{len(collection.question_ids)} threads, {len(collection.posts)} posts "
        f"({answers} answers), {len(collection.formulas)} formulas, "
        f"{len(collection.topics)} topics"
    )
    if check and changed:
        raise click.ClickException("run `python -m tools.sample` and commit")


def main() -> None:
    """Run the command; show our own errors without a traceback."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        command(prog_name="python -m tools.sample")
    except MathAMRError as exc:
        click.echo(f"sample: {exc}", err=True)
        sys.exit(2)


if __name__ == "__main__":
    main()
