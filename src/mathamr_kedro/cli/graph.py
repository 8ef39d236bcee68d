"""``mathamr graph``: draw the math graph of a post."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, get_args

import click

from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.graph import (
    AuxiliaryEdges,
    FormulaMode,
    GraphRecord,
    GraphVariant,
    SentenceRoots,
    Structure,
    draw_math_graph,
    read_math_graph,
    write_page,
)
from mathamr_kedro.project import open_catalog


@click.command(name="graph")
@click.argument("post_id")
@click.option("--env", help="Environment of conf/ (default: the embedded sample).")
@click.option("--data-root", help="Read the stages' outputs from this folder.")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="File to write: an HTML page, or the drawing alone as .svg.",
)
@click.option("--text", is_flag=True, help="Print the graph in PENMAN notation.")
@click.option(
    "--formula-mode", type=click.Choice(get_args(FormulaMode)), default="both"
)
@click.option(
    "--structure", type=click.Choice(get_args(Structure)), default="hierarchy"
)
@click.option(
    "--auxiliary-edges", type=click.Choice(get_args(AuxiliaryEdges)), default="none"
)
@click.option(
    "--sentence-roots", type=click.Choice(get_args(SentenceRoots)), default="chunks"
)
def command(
    post_id: str,
    env: str | None,
    data_root: str | None,
    out: Path | None,
    text: bool,
    **variant: Any,
) -> None:
    r"""Draw the math graph of POST_ID with its virtual nodes.

    POST_ID is the id of a post or a topic. Writes an HTML page for any browser.

    \b
      mathamr graph 33701
      mathamr graph A.1001 --auxiliary-edges sequential --out topic.svg
    """
    chosen = GraphVariant(**variant)
    catalog = open_catalog(env, data_root)
    record = _find(catalog, post_id)
    if text:
        click.echo(record.graph)
        return
    if out is None:
        reports = Path(catalog["math_graph_report"]._describe()["filepath"]).parent
        out = reports / "graphs" / f"{re.sub(r'[^A-Za-z0-9._-]', '_', post_id)}.html"
    out.parent.mkdir(parents=True, exist_ok=True)
    if out.suffix == ".svg":
        out.write_text(draw_math_graph(read_math_graph(record.graph), chosen), "utf-8")
    else:
        out.write_text(write_page(record, chosen), "utf-8")
    click.echo(f"Wrote {out}")


def _find(catalog: Any, post_id: str) -> GraphRecord:
    for name in ("math_graphs", "topic_math_graphs"):
        found = catalog.load(name).find(post_id)
        if found is not None:
            return found
    raise MissingInputError(
        f"No graph for the post or topic {post_id!r}; posts without a graph and the "
        "reasons are in catalog.load('math_graph_failures') and 'amr_post_failures'"
    )
