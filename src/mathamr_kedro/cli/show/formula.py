"""``mathamr show formula``: the trees of one formula, and graphs made of them."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import TypeAlias

import click

from mathamr_kedro import formula as formulas
from mathamr_kedro.base.files import make_folder
from mathamr_kedro.formula import (
    FormulaTree,
    FormulaTrees,
    draw_svg,
    draw_text,
    graphs,
    opt_from_mathml,
    slt_from_mathml,
)

_TITLES = {"slt": "Symbol Layout Tree (SLT)", "opt": "Operator Tree (OPT)"}
_CONTENT = re.compile(r"<(?:\w+:)?(?:apply|c[in]|csymbol|cerror|interval|set|list)\b")
_PRESENTATION = re.compile(r"<(?:\w+:)?m(?:[ino]|row|su[bp]\w*|frac|text|sqrt)\b")
_ORDERS = (1, 2, 3)
_CHANCE = 0.5  # of each substructure of the order that was asked for

_Blocks: TypeAlias = Iterator[tuple[str, str]]
"""Titles, and the text below each."""


@click.command(name="formula", short_help="Draw the trees of a formula.")
@click.argument("formula")
@click.option("--mathml", is_flag=True, help="FORMULA is MathML, not LaTeX.")
@click.option(
    "--form",
    type=click.Choice(
        ["trees", "backward", "shared", "substitution", "linear", "tuples"]
    ),
    default="trees",
    help="What to show: the trees, or a graph or string that a paper makes of them.",
)
@click.option("--seed", default=0, help="Of the substitution.")
@click.option(
    "--order",
    type=click.IntRange(min(_ORDERS), max(_ORDERS)),
    help="Replace only substructures of this order: 1 leaves, 2 their parents, "
    "3 their grandparents; else all, as often as published.",
)
@click.option("--strings", is_flag=True, help="Print bracket strings, no drawing.")
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Also write both drawings to this file.",
)
def command(
    formula: str,
    mathml: bool,
    form: str,
    seed: int,
    order: int | None,
    strings: bool,
    svg: Path | None,
) -> None:
    r"""Draw the Symbol Layout Tree and the Operator Tree of FORMULA.

    FORMULA is LaTeX, e.g. '\frac{a}{b}'; `-` reads it from standard input.

    \b
    --form backward      both trees with an edge back for each edge (SLG and OPG)
    --form shared        the Operator Tree with identical subtrees shared
    --form substitution  the same, with random substructures as wildcards
    --form linear        the Operator Tree as AMR text and as a depth-first string
    --form tuples        pairs of symbols, and the tokens of their TangentCFT words
    """
    text = sys.stdin.read() if formula == "-" else formula
    if mathml:
        trees = _read_mathml(graphs.prepare_content(text) if form == "linear" else text)
    else:
        trees = formulas.trees_from_latex(text, mode="total")
    if form == "trees":
        blocks = _show_trees(trees, strings)
    elif form == "substitution":
        blocks = _show_substitution(trees, seed, order)
    else:
        blocks = _FORMS[form](trees)
    for title, block in blocks:
        click.secho(title, bold=True)
        click.echo(f"{block}\n")
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


def _show(tree: FormulaTree | None, write: Callable[[FormulaTree], str]) -> str:
    return "no tree" if tree is None else write(tree)


def _show_trees(trees: FormulaTrees, strings: bool) -> _Blocks:
    write = FormulaTree.to_string if strings else draw_text
    yield _TITLES["slt"], _show(trees.slt, write)
    yield _TITLES["opt"], _show(trees.opt, write)


def _show_backward(trees: FormulaTrees) -> _Blocks:
    def write(tree: FormulaTree) -> str:
        return graphs.build_backward_graph(tree).to_text()

    yield "SLT with backward edges (SLG)", _show(trees.slt, write)
    yield "OPT with backward edges (OPG)", _show(trees.opt, write)


def _show_shared(trees: FormulaTrees) -> _Blocks:
    yield (
        "OPT with shared subtrees",
        _show(trees.opt, lambda tree: graphs.build_shared_graph(tree).to_text()),
    )


def _show_substitution(trees: FormulaTrees, seed: int, order: int | None) -> _Blocks:
    def write(tree: FormulaTree) -> str:
        graph = graphs.build_shared_graph(tree)
        if order is None:
            found = graphs.substitute_substructures(graph, Random(seed))
        else:
            chances = [_CHANCE if order == each else 0.0 for each in _ORDERS]
            found = graphs.substitute_substructures(graph, Random(seed), chances)
        return "nothing was replaced" if found == graph else found.to_text()

    yield from _show_shared(trees)
    yield f"After substitution (seed {seed})", _show(trees.opt, write)


def _show_linear(trees: FormulaTrees) -> _Blocks:
    yield "AMR text of the OPT", _show(trees.opt, graphs.format_amr)
    yield "Depth first", _show(trees.opt, graphs.linearise)


def _show_tuples(trees: FormulaTrees) -> _Blocks:
    yield "Tuples of the SLT", _show(trees.slt, _list_tuples)
    yield "Tuples of the OPT", _show(trees.opt, _list_tuples)


def _list_tuples(tree: FormulaTree) -> str:
    """Return a line for each tuple: its four parts, and the tokens of its word."""
    split = graphs.TupleEncoder().split
    rows = [(*pair, " ".join([*split(pair), *pair.path])) for pair in tree.tuples()]
    rows.insert(0, ("first", "second", "path", "from root", "tokens"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


_FORMS: dict[str, Callable[[FormulaTrees], _Blocks]] = {
    "backward": _show_backward,
    "shared": _show_shared,
    "linear": _show_linear,
    "tuples": _show_tuples,
}
