"""``mathamr show graph``: draw the math graph of a post."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.files import make_folder
from mathamr_kedro.cli._options import in_environment
from mathamr_kedro.graph.virtual_nodes import (
    AuxiliaryEdges,
    FormulaMode,
    SentenceRoots,
    Structure,
)

if TYPE_CHECKING:
    from mathamr_kedro.graph import FusedRecord


@click.command(name="graph")
@click.argument("post_id")
@in_environment
@click.option(
    "--out",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="File to write: an HTML page, or only the drawing as .svg.",
)
@click.option(
    "--text",
    is_flag=True,
    help="Print the graph in PENMAN notation, which has no virtual nodes.",
)
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
      mathamr show graph 33701
      mathamr show graph A.1001 --auxiliary-edges sequential --out topic.svg
    """
    drawn = {"structure": "--structure", "auxiliary_edges": "--auxiliary-edges"}
    for name, option in drawn.items() if text else ():
        default = click.core.ParameterSource.DEFAULT
        if click.get_current_context().get_parameter_source(name) != default:
            raise click.UsageError(f"--text has no virtual nodes: do not give {option}")
    # Loaded here: the help needs none of it.
    from mathamr_kedro.graph import (  # noqa: PLC0415
        GraphVariant,
        draw_math_graph,
        format_math_graph,
        write_page,
    )
    from mathamr_kedro.graph.builder import VariantGraph  # noqa: PLC0415
    from mathamr_kedro.project.catalog import open_catalog  # noqa: PLC0415

    chosen = GraphVariant(**variant)
    catalog = open_catalog(env, data_root)
    record = _find(catalog, post_id)
    if text:
        graph = VariantGraph.build(record.graph, chosen).content
        click.echo(format_math_graph(graph))
        return
    if out is None:
        reports = Path(catalog["math_graph_report"]._describe()["filepath"]).parent
        out = reports / "graphs" / f"{re.sub(r'[^A-Za-z0-9._-]', '_', post_id)}.html"
    make_folder(out.parent)
    if out.suffix == ".svg":
        out.write_text(draw_math_graph(record.graph, chosen), "utf-8")
    else:
        out.write_text(write_page(record, chosen), "utf-8")
    click.echo(f"Wrote {out}")


def _find(catalog: Any, post_id: str) -> FusedRecord:
    for name in ("math_graphs", "topic_math_graphs"):
        found = catalog.load(name).find(post_id)
        if found is not None:
            return found
    raise MissingInputError(
        f"No graph for the post or topic {post_id!r}; posts without a graph and the "
        "reasons are in catalog.load('math_graph_failures') and 'amr_post_failures'"
    )
