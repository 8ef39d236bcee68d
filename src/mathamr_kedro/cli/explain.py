"""``mathamr explain``: why a post was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mathamr_kedro.cli._options import DATA_ROOT, ENV, QUERY

if TYPE_CHECKING:
    from mathamr_kedro.search import Explanation

_LINES = 20
"""Parts of a score that are shown; the page has all."""


@click.command(name="explain")
@click.argument("text", type=QUERY)
@click.argument("post_id")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the heatmap here: a name that ends in .html or .png.",
)
@click.option(
    "--system",
    metavar="NAME",
    help="Whose score is explained, as in `mathamr search`.",
)
@click.option(
    "--with",
    "fuse_with",
    metavar="NAME",
    multiple=True,
    help="As in `mathamr search`.",
)
@ENV
@DATA_ROOT
def command(text: str, post_id: str, output: Path | None, **where: Any) -> None:
    r"""Show which node of TEXT matched which node of POST_ID, and what its score is.

    TEXT is a question, the id of a topic of the collection, or - for the input.

    \b
      mathamr explain 'is $\sqrt p$ irrational for a prime $p$?' 33703
      mathamr explain 'is $\sqrt p$ irrational for a prime $p$?' 33703 --output why.html
      mathamr explain A.301 591846 --env arqmath
    """
    if output is not None and output.suffix not in (".html", ".png"):
        raise click.UsageError(
            f"Expected a name in .html or .png (got {output.name!r})"
        )
    # Loaded here: wrong options are refused at once.
    from mathamr_kedro.project_search import open_searcher  # noqa: PLC0415
    from mathamr_kedro.search.heatmap import save_heatmap, write_html  # noqa: PLC0415

    searcher = open_searcher(**where)
    try:
        found = searcher.explain(text, post_id)
    finally:
        searcher.close()
    _show(found)
    if output is None:
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    if output.suffix == ".png":
        save_heatmap(found, output)
    else:
        output.write_text(write_html(found), encoding="utf-8")
    click.echo(f"Wrote {output}")


def _show(found: Explanation) -> None:
    """Print what the search's score is the sum of, then MaxSim of the post alone."""
    from mathamr_kedro.search import ScorePart  # noqa: PLC0415 - loaded by now

    if len(found.parts) == 1 and not found.terms:  # it compares no vectors
        (part,) = found.parts
        click.echo(f"{part.share:.4f} {part.describe_source()}")
    elif found.parts:
        name = "+".join(part.system for part in found.parts)
        score = sum(part.share for part in found.parts)
        click.echo(f"{name} {score:.4f}, the sum of:")
        for line in ScorePart.describe(found.parts, found.terms, _LINES):
            click.echo(f"  {line}")
    click.echo(f"MaxSim {found.score:.4f}, the mean over the query's nodes:")
    for line in ScorePart.describe((), found.matches(), _LINES):
        click.echo(f"  {line}")
    if found.document is not None:
        click.echo(f"Document vectors {found.document:.4f}, the cosine of D and D")
