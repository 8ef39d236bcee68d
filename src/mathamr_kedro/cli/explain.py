"""``mathamr explain``: why a post was found."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(name="explain")
@click.argument("text")
@click.argument("post_id")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the heatmap here: a name that ends in .html or .png.",
)
@click.option("--env", help="Environment of conf/ (default: the embedded sample).")
@click.option("--data-root", help="Another folder for what the stages wrote.")
def command(
    text: str, post_id: str, output: Path | None, env: str | None, data_root: str | None
) -> None:
    r"""Show which node of TEXT matched which node of POST_ID.

    TEXT is a question, or the id of a topic of the collection.

    \b
      mathamr explain A.301 591846 --env arqmath
      mathamr explain 'why is $\sqrt2$ irrational' 33701
      mathamr explain 'why is $\sqrt2$ irrational' 33701 --output heatmap.html
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
    if output is None:
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    if output.suffix == ".png":
        save_heatmap(found, output)
    else:
        output.write_text(write_html(found), encoding="utf-8")
    click.echo(f"Wrote {output}")
