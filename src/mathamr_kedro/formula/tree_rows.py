"""One row per visually distinct formula: both trees, where each came from, and why.

```
formula ──┬─ presentation there? ── yes ─> SLT, source pmml
          │                          no ─> SLT of the LaTeX reader, source latex
          └─ content there? ──────── yes ─> OPT, source cmml
                                     no ─> OPT of the LaTeX reader, source latex
```

Collections that publish trees hold bracket strings in these cells: source brackets.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import mathamr_kedro.formula
from mathamr_kedro.base.errors import FormulaError
from mathamr_kedro.base.records import TRANSIENT, Formula
from mathamr_kedro.base.types import FormulaId, VisualId
from mathamr_kedro.formula.mathml import opt_from_mathml, slt_from_mathml
from mathamr_kedro.formula.tree import FormulaTree, FormulaTrees

if TYPE_CHECKING:
    from mathamr_kedro.formula.tree_store import TreeStore

VERSION = 2
"""Of the trees of formulas; another one rebuilds all of them."""

SOURCES = ("", "pmml", "cmml", "latexml", "latex", "brackets")
"""Where a tree came from; empty if there is none. Stores hold the numbers, so the
place of LaTeXML, which read formulas once, stays."""

# Deflate looks for what it has seen: begin each tree with what most trees contain.
DICTIONARY = (
    "[C!infinity][M!D-|][O!factorial,0[O!limit][O!forall][O!in,0[F!sin,0[F!cos,0[F!log"
    "[T![E!,0[O!fragments],1[O!form-seq,0[U!neq,0[O!leq,0[O!geq,0[O!lt,0[O!gt,0[O!int"
    "[M!V-2[M!S-1[M!L-2,0[O!interval(O-O),0[M!M-2x2,0[M!R!,0[+!O!SUB,0[O!sum],1[U!and,"
    "0[O!root,0[+!O!SUP[V!…[V!π[V!𝑎],1[V!𝑏]]],1[V!𝑓],1[V!𝑥]],1[V!𝑛]]],1[N!1]]],1[N!2]]"
    ",2[,1[O!divide,0[N!1],1[O!minus,0[O!minus,0[N!1]],1[O!SUB,0[V!𝑥],1[V!𝑖]],1[O!SUP,"
    "0[V!𝑥],1[N!2]],1[U!eq,0[U!plus,0[U!times,0[V!𝑓],1[V!𝑥]],1["
    "[∑,o[V!n],u[V!i[=[N!1]]][∫[∈[V!ℝ[→[≤[≥[M!||1x1,w[M!{}1x1,w[M!&lsqb;&rsqb;1x2,w["
    "[lim,u[V!n[→[V!∞]]][&comma;],e[V!y]]][M!()1x2,w[V!x[&comma;],e[V!y]]][O!root,w["
    "[O!divide,o[N!1],u[N!2]][V!f[M!()1x1[=[V!x,a[N!2]],w[V!x]]][V!a,b[V!n]][=[V!x[+["
    "N!1]]]][-[N!1]][V!n"
).encode()
"""What most trees say; a store keeps its own copy, so this text may change."""

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

    @classmethod
    def build(cls, formula: Formula) -> TreeRow:
        """Return the row of a formula, each tree from the best source there is.

        MathML cells are read in total mode with the spelling of ARQMath's LaTeXML;
        bracket strings are taken as they are.

        Args:
            formula: with LaTeX and, as MathML or as bracket strings, presentation and
                content, each possibly empty.
        """
        reasons: Counter[str] = Counter()
        slt, slt_source = _read_cell(formula.presentation, "slt", reasons)
        opt, opt_source = _read_cell(formula.content, "opt", reasons)
        is_whole = slt is not None and opt is not None
        if not is_whole and formula.latex.strip():
            found = mathamr_kedro.formula.trees_from_latex(formula.latex, mode="total")
            reasons.update(found.problems)
            if slt is None and found.slt is not None:
                slt, slt_source = found.slt, "latex"
            if opt is None and found.opt is not None:
                opt, opt_source = found.opt, "latex"
        return cls(
            formula.formula_id,
            formula.visual_id,
            slt.to_string() if slt is not None else None,
            opt.to_string() if opt is not None else None,
            slt_source,
            opt_source,
            write_deviations(reasons),
        )

    @classmethod
    def without_trees(cls, formula: Formula, reason: str) -> TreeRow:
        """Return the row of an unreadable formula, with the reason."""
        ids = formula.formula_id, formula.visual_id
        return cls(*ids, None, None, deviations=f"{reason}=1")

    @property
    def may_pass(self) -> bool:
        """Whether another try may read it, e.g. because its worker died."""
        if self.slt is not None or self.opt is not None:
            return False
        return not TRANSIENT.isdisjoint(self.count_deviations())

    def trees(self) -> FormulaTrees:
        """Return the trees themselves."""
        return FormulaTrees(
            FormulaTree.from_string(self.slt, "slt") if self.slt is not None else None,
            FormulaTree.from_string(self.opt, "opt") if self.opt is not None else None,
            self.count_deviations(),
        )

    def count_deviations(self) -> Counter[str]:
        """Return the reasons with their counts.

        >>> row = TreeRow("1", "1", None, None, deviations="empty=1 unknown_tag:ms=2")
        >>> row.count_deviations()["unknown_tag:ms"]
        2
        """
        parts = (item.rpartition("=") for item in self.deviations.split())
        return Counter({reason: int(count) for reason, _, count in parts})

    def pack(self, dictionary: bytes) -> tuple[object, ...]:
        """Return all but the ids as they are stored; :meth:`unpack` reads it."""
        return (
            _deflate(self.slt, dictionary),
            _deflate(self.opt, dictionary),
            SOURCES.index(self.slt_source),
            SOURCES.index(self.opt_source),
            self.deviations,
        )

    @classmethod
    def unpack(cls, values: tuple[Any, ...], dictionary: bytes) -> TreeRow:
        """Return the row that was stored: visual id, formula id, what was packed."""
        visual_id, formula_id, slt, opt, slt_source, opt_source, deviations = values
        return cls(
            str(formula_id),
            str(visual_id),
            _inflate(slt, dictionary),
            _inflate(opt, dictionary),
            SOURCES[slt_source],
            SOURCES[opt_source],
            str(deviations),
        )


def _read_cell(
    cell: str, kind: str, reasons: Counter[str]
) -> tuple[FormulaTree | None, str]:
    """Return the tree of a cell and its source, or why there is none."""
    if not cell:
        return None, ""
    if cell[0] == "[":  # no MathML begins so
        try:
            return FormulaTree.from_string(cell, kind), "brackets"
        except FormulaError:
            reasons["unreadable_brackets"] += 1
            return None, ""
    read, source = _MATHML[kind]
    tree = read(cell, compat="arqmath", counter=reasons)
    return tree, source if tree is not None else ""


def write_deviations(reasons: Counter[str]) -> str:
    """Return reasons with their counts as one line, in alphabetical order.

    >>> write_deviations(Counter({"unknown_tag:ms": 2, "empty": 1}))
    'empty=1 unknown_tag:ms=2'
    """
    return " ".join(
        f"{'_'.join(reason.split())}={reasons[reason]}" for reason in sorted(reasons)
    )


def build_rows(formulas: Sequence[Formula]) -> list[TreeRow]:
    """Return the row of each formula: the function of the workers."""
    return [TreeRow.build(formula) for formula in formulas]


def _deflate(text: str | None, dictionary: bytes) -> bytes | None:
    if text is None:
        return None
    # Raw deflate (no header, no checksum): SQLite checks its pages, and most trees
    # are shorter than a hundred bytes.
    packer = zlib.compressobj(6, zlib.DEFLATED, -15, zdict=dictionary)
    return packer.compress(text.encode("utf-8", "surrogatepass")) + packer.flush()


def _inflate(blob: bytes | None, dictionary: bytes) -> str | None:
    if blob is None:
        return None
    unpacker = zlib.decompressobj(-15, zdict=dictionary)
    return unpacker.decompress(blob).decode("utf-8", "surrogatepass")


def find_trees(
    store: TreeStore | None, visual_id: VisualId, latex: str
) -> FormulaTrees | None:
    """Return the trees of a formula from the store; read its LaTeX for what is missing.

    A tree that shows nothing is missing, too: the files may have failed to convert a
    formula whose LaTeX can be read.
    """
    stored = store.trees(visual_id) if store is not None and visual_id else None
    if (stored is not None and stored.is_whole) or not latex.strip():
        return stored
    read = mathamr_kedro.formula.trees_from_latex(latex, mode="total")
    return read if stored is None else stored.fill(read)
