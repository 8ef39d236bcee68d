"""``mathamr explain``: why a post was found."""

from __future__ import annotations

from pathlib import Path

import click

from mathamr_kedro.cli._options import DATA_ROOT, ENV


@click.command(name="explain")
@click.argument("text")
@click.argument("post_id")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the heatmap here: a name that ends in .html or .png.",
)
@ENV
@DATA_ROOT
def command(
    text: str, post_id: str, output: Path | None, env: str | None, data_root: str | None
) -> None:
    r"""Show which node of TEXT matched which node of POST_ID.

    TEXT is a question, or the id of a topic of the collection.

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

    searcher = open_searcher(env, data_root)
    try:
        found = searcher.explain(text, post_id)
    finally:
        searcher.close()
    click.echo(f"MaxSim {found.score:.4f}, the mean of:")
    for match in found.matches():
        click.echo(f"  {match.similarity:6.3f}  {match.query}  ~  {match.post}")
    if found.document is not None:
        click.echo(f"Document vectors {found.document:.4f}, the cosine of D and D")
    if output is None:
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    if output.suffix == ".png":
        save_heatmap(found, output)
    else:
        output.write_text(write_html(found), encoding="utf-8")
    click.echo(f"Wrote {output}")
