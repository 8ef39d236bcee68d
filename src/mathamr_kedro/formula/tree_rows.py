"""One row per visually distinct formula: both trees, where each came from, and why.

```
formula ──┬─ presentation there? ── yes ─> SLT, source pmml
          │                          no ─> SLT of LaTeXML or of the LaTeX reader
          └─ content there? ──────── yes ─> OPT, source cmml
                                     no ─> OPT of LaTeXML or of the LaTeX reader
```

Collections that publish trees hold bracket strings in these cells: source brackets.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import mathamr_kedro.formula
from mathamr_kedro.errors import FormulaError
from mathamr_kedro.formula.mathml import opt_from_mathml, slt_from_mathml
from mathamr_kedro.formula.tree import BothTrees, FormulaTree, FormulaTrees
from mathamr_kedro.records import Formula
from mathamr_kedro.types import FormulaId, VisualId

SOURCES = ("", "pmml", "cmml", "latexml", "latex", "brackets")
"""Where a tree came from; empty where there is none."""

_MATHML: Mapping[str, tuple[Callable[..., FormulaTree | None], str]] = {
    "slt": (slt_from_mathml, "pmml"),
    "opt": (opt_from_mathml, "cmml"),
}


class TreeRow(NamedTuple):
    """The trees of one visually distinct formula, as bracket strings."""

    formula_id: FormulaId
    """The instance that the trees were made from."""
    visual_id: VisualId
    slt: str | None
    opt: str | None
    slt_source: str = ""
    opt_source: str = ""
    deviations: str = ""
    """Reasons with their counts, e.g. ``"repaired_markup=1 unknown_tag:ms=2"``."""

    def trees(self) -> FormulaTrees:
        """Return the trees themselves."""
        return FormulaTrees(
            FormulaTree.from_string(self.slt, "slt") if self.slt is not None else None,
            FormulaTree.from_string(self.opt, "opt") if self.opt is not None else None,
            read_deviations(self.deviations),
        )


def build_trees(
    formula: Formula,
    read_latex: Callable[[str], BothTrees] | None = None,
    converted: BothTrees | None = None,
) -> TreeRow:
    """Return the row of a formula, each tree from the best source there is.

    MathML cells are read in total mode with the spelling of ARQMath's LaTeXML; bracket
    strings are taken as they are.

    Args:
        formula: with LaTeX and, as MathML or as bracket strings, presentation and
            content, each possibly empty.
        read_latex: reads LaTeX where a tree is still missing;
            :func:`mathamr_kedro.formula.trees_from_latex` when left out.
        converted: the trees that LaTeXML made of the LaTeX, where it was run.
    """
    reasons: Counter[str] = Counter()
    slt, slt_source = _read_cell(formula.presentation, "slt", reasons)
    opt, opt_source = _read_cell(formula.content, "opt", reasons)
    for source, make in (
        ("latexml", lambda: converted),
        ("latex", lambda: _read(formula.latex, read_latex)),
    ):
        if slt is not None and opt is not None:
            break
        found = make()
        if found is None:
            continue
        reasons.update(found.problems)
        if slt is None and found.slt is not None:
            slt, slt_source = found.slt, source
        if opt is None and found.opt is not None:
            opt, opt_source = found.opt, source
    return TreeRow(
        formula.formula_id,
        formula.visual_id,
        slt.to_string() if slt is not None else None,
        opt.to_string() if opt is not None else None,
        slt_source,
        opt_source,
        write_deviations(reasons),
    )


def _read_cell(
    cell: str, kind: str, reasons: Counter[str]
) -> tuple[FormulaTree | None, str]:
    """Return the tree of a cell and its source, or why there is none."""
    if not cell:
        return None, ""
    if cell[0] == "[" and cell[-1] == "]":
        try:
            return FormulaTree.from_string(cell, kind), "brackets"
        except FormulaError:
            reasons["unreadable_brackets"] += 1
            return None, ""
    read, source = _MATHML[kind]
    tree = read(cell, compat="arqmath", counter=reasons)
    return tree, source if tree is not None else ""


def _read(
    latex: str, read_latex: Callable[[str], BothTrees] | None
) -> BothTrees | None:
    if not latex.strip():
        return None
    read = read_latex or mathamr_kedro.formula.trees_from_latex
    return read(latex)


def write_deviations(reasons: Counter[str] | Iterable[str]) -> str:
    """Return reasons with their counts as one line, in alphabetical order.

    >>> write_deviations(["empty", "unknown_tag:ms", "unknown_tag:ms"])
    'empty=1 unknown_tag:ms=2'
    """
    counts = Counter(reasons)
    return " ".join(
        f"{'_'.join(reason.split())}={counts[reason]}" for reason in sorted(counts)
    )


def read_deviations(line: str) -> Counter[str]:
    """Return the counts that :func:`write_deviations` wrote.

    >>> read_deviations("empty=1 unknown_tag:ms=2")["unknown_tag:ms"]
    2
    """
    parts = (item.rpartition("=") for item in line.split())
    return Counter({reason: int(count) for reason, _, count in parts})
