"""``mathamr show amr``: show the AMR graph of a text."""

from __future__ import annotations

import click

from mathamr_kedro.amr import (
    PARSERS,
    ParsedDocument,
    Parsers,
    format_graph,
    parse_documents,
)
from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.cli._options import read_input
from mathamr_kedro.corpus import clean_text


@click.command(name="amr", short_help="Show the AMR graph of a text.")
@click.argument("text", type=read_input)
@click.option(
    "--parser",
    type=click.Choice(PARSERS),
    default="builtin",
    show_default=True,
    help="Which parser; for the others see docs/pipelines/amr_parsing.md.",
)
def command(text: str, parser: str) -> None:
    r"""Parse TEXT and print its graph.

    Formulas are between dollars or as \(..\), as in a post; `-` reads the text from
    standard input.

    \b
      mathamr show amr 'Prove that $x^2 + 1$ has no real root.'
    """
    clean, _ = clean_text("", text, "text", markup="text")
    if not clean.text:
        raise MalformedInputError(f"Expected a text with words (got {text!r})")
    (result,) = parse_documents([clean.text], Parsers().find(parser).open())
    if not isinstance(result, ParsedDocument):
        raise MalformedInputError(f"No graph ({result.reason}): {result.detail}")
    for mention in clean.formula_map:
        click.echo(f"# {mention.placeholder} = {mention.latex}")
    click.echo(format_graph(result.graph))
    for placeholder in result.missing:
        click.echo(f"# {placeholder} has no node", err=True)
