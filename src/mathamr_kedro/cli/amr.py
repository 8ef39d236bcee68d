"""``mathamr amr``: show the AMR graph of a text."""

from __future__ import annotations

import re

import click

from mathamr_kedro.amr.builtin.parser import BuiltinParser
from mathamr_kedro.amr.documents import ParsedDocument, parse_document
from mathamr_kedro.amr.penman_io import format_graph

_INLINE_MATH = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$", re.DOTALL)


@click.command(name="amr")
@click.argument("text")
def command(text: str) -> None:
    """Parse TEXT, formulas between dollars, and print its graph.

    Example: mathamr amr 'Prove that $x^2 + 1$ has no real root.'
    """
    clean, formulas = _extract_formulas(text)
    result = parse_document(clean, BuiltinParser())
    if not isinstance(result, ParsedDocument):
        raise click.ClickException(f"No graph ({result.reason}): {result.detail}")
    for number, latex in enumerate(formulas):
        click.echo(f"# FORMULA_{number} = {latex}")
    click.echo(format_graph(result.graph))
    for placeholder in result.missing:
        click.echo(f"# {placeholder} has no node", err=True)


def _extract_formulas(text: str) -> tuple[str, list[str]]:
    formulas: list[str] = []

    def replace(match: re.Match[str]) -> str:
        formulas.append((match.group(1) or match.group(2)).strip())
        return f" FORMULA_{len(formulas) - 1} "

    return _INLINE_MATH.sub(replace, text), formulas
