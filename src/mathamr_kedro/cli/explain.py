"""``mathamr explain``: why a post was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from mathamr_kedro.base.files import make_folder
from mathamr_kedro.cli._options import SYSTEM, WITH, in_environment, read_input

if TYPE_CHECKING:
    from mathamr_kedro.search import Explanation

_LINES = 20
"""Parts of a score that are shown."""


@click.command(name="explain")
@click.argument("text", type=read_input)
@click.argument("post_id")
@click.option(
    "--formula",
    "is_formula",
    is_flag=True,
    help="TEXT is LaTeX or a topic of Task 2, POST_ID a formula or its post: draw the "
    "nodes that a --system of formulas matched on the trees of both.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Write the heatmap to this file (.png), or with --formula the trees (.svg).",
)
@SYSTEM
@WITH
@in_environment
def command(
    text: str, post_id: str, is_formula: bool, output: Path | None, **where: Any
) -> None:
    r"""Show which node of TEXT matched which node of POST_ID, with the score.

    TEXT is a question, the id of a topic of the collection, or - for the input.

    \b
      mathamr explain 'is $\sqrt p$ irrational for a prime $p$?' 33703
      mathamr explain 'is $\sqrt p$ irrational for a prime $p$?' 33703 --output why.png
      mathamr explain A.301 591846 --env arqmath
      mathamr explain --formula '\sqrt{p}' 33703 --system formula_rgcn --output why.svg
    """
    suffix = ".svg" if is_formula else ".png"
    if output is not None and output.suffix != suffix:
        raise click.UsageError(f"Expected a name in {suffix} (got {output.name!r})")
    if is_formula:
        _explain_formula(text, post_id, output, **where)
        return
    # Loaded here: wrong options are refused at once.
    from mathamr_kedro.project.search import open_search  # noqa: PLC0415
    from mathamr_kedro.search.heatmap import save_heatmap  # noqa: PLC0415

    searcher = open_search(**where)
    try:
        found = searcher.explain(text, post_id)
    finally:
        searcher.close()
    _show(found)
    if output is None:
        return
    make_folder(output.parent)
    save_heatmap(found, output)
    click.echo(f"Wrote {output}")


def _explain_formula(
    text: str,
    found: str,
    output: Path | None,
    system: str | None,
    fuse_with: tuple[str, ...],
    **where: Any,
) -> None:
    if system is None or fuse_with:
        raise click.UsageError(
            "--formula needs --system, one of another paper such as formula_rgcn, and "
            "takes no --with"
        )
    # Loaded here: wrong options are refused at once.
    from mathamr_kedro.project.search import explain_formula  # noqa: PLC0415

    matches = explain_formula(text, found, system, **where)
    click.echo("\n\n".join(every.describe() for every in matches))
    if output is not None and matches:
        make_folder(output.parent)
        output.write_text(type(matches[0]).draw(matches), encoding="utf-8")
        click.echo(f"Wrote {output}")


def _show(found: Explanation) -> None:
    """Print the parts of the search's score, then MaxSim of the post by itself."""
    from mathamr_kedro.search.explanation import (  # noqa: PLC0415 - loaded by now
        describe_parts,
        describe_source,
    )

    for reason in found.reasons:
        click.echo(reason)
    if len(found.parts) == 1 and not found.terms:  # it compares no vectors
        (part,) = found.parts
        click.echo(f"{part.share:.4f} {describe_source(part)}")
    elif found.parts:
        name = "+".join(part.system for part in found.parts)
        score = sum(part.share for part in found.parts)
        click.echo(f"{name} {score:.4f}, the sum of:")
        for line in describe_parts(found.parts, found.terms, _LINES):
            click.echo(f"  {line}")
    click.echo(f"MaxSim {found.score:.4f}, the mean over the query's nodes:")
    for line in describe_parts((), found.matches(), _LINES):
        click.echo(f"  {line}")
    if found.document is not None:
        click.echo(f"Document vectors {found.document:.4f}, the cosine of D and D")
