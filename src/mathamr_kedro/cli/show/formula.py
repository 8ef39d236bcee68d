"""``mathamr show formula``: the trees of one formula."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import click

from mathamr_kedro import formula as formulas
from mathamr_kedro.base.files import make_folder
from mathamr_kedro.cli._options import read_input
from mathamr_kedro.formula import (
    FormulaTree,
    FormulaTrees,
    draw_svg,
    draw_text,
    opt_from_mathml,
    slt_from_mathml,
)

_TITLES = {"slt": "Symbol Layout Tree (SLT)", "opt": "Operator Tree (OPT)"}
_CONTENT = re.compile(r"<(?:\w+:)?(?:apply|c[in]|csymbol|cerror|interval|set|list)\b")
_PRESENTATION = re.compile(r"<(?:\w+:)?m(?:[ino]|row|su[bp]\w*|frac|text|sqrt)\b")


@click.command(name="formula", short_help="Draw the trees of a formula.")
@click.argument("formula", type=read_input)
@click.option("--mathml", is_flag=True, help="FORMULA is MathML, not LaTeX.")
@click.option("--strings", is_flag=True, help="Print bracket strings, no drawing.")
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Also write both drawings to this file.",
)
def command(
    formula: str,
    mathml: bool,
    strings: bool,
    svg: Path | None,
) -> None:
    r"""Draw the Symbol Layout Tree and the Operator Tree of FORMULA.

    FORMULA is LaTeX, e.g. '\frac{a}{b}'; `-` reads it from standard input.
    """
    trees = (
        _read_mathml(formula)
        if mathml
        else formulas.trees_from_latex(formula, mode="total")
    )
    write = FormulaTree.to_string if strings else draw_text
    for kind, title in _TITLES.items():
        tree: FormulaTree | None = getattr(trees, kind)
        click.secho(title, bold=True)
        click.echo(f"{'no tree' if tree is None else write(tree)}\n")
    for reason, count in sorted(trees.problems.items()):
        click.echo(f"deviation: {reason} ({count})", err=True)
    if svg is not None:
        make_folder(svg.parent)
        svg.write_text(draw_svg(trees), encoding="utf-8")
        click.echo(f"Wrote {svg}")


def _read_mathml(text: str) -> FormulaTrees:
    """Return the trees of the branches that the markup has."""
    counter: Counter[str] = Counter()
    slt = opt = None
    if _PRESENTATION.search(text) or not _CONTENT.search(text):
        slt = slt_from_mathml(text, counter=counter)
    if _CONTENT.search(text):
        opt = opt_from_mathml(text, counter=counter)
    return FormulaTrees(slt, opt, counter)
