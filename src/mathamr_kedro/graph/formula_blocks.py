r"""Graphs of formulas that are in no graph of a text: those of comments, above all.

Such a formula is encoded as a text that is nothing but this formula (as a query for a
formula is)::

    (m / multi-sentence                     formula   members F0o0 ... F0s0 ...
      :snt1 (f / FORMULA_0                  sentence  members f
        :opt (F0o0 / ...)                   document  members of both, m
        :slt (F0s0 / ...)))

Its key names the post and the formula, so that a search knows where it was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.base.records import FormulaInstance, FormulaMention
from mathamr_kedro.graph.arrays import GraphArrays
from mathamr_kedro.graph.blocks import GraphBlock
from mathamr_kedro.graph.builder import ArrayBuilder, label_formulas
from mathamr_kedro.graph.entries import FORMULA_TYPE, name_entry
from mathamr_kedro.graph.fusion import FusionMode, fuse_graph
from mathamr_kedro.graph.numbering import RawNumbering
from mathamr_kedro.graph.penman_records import GraphRecord
from mathamr_kedro.graph.tree_lookup import StoredTrees, TreeLookup
from mathamr_kedro.graph.virtual_nodes import GraphVariant

_AMR = "(m / multi-sentence :snt1 (f / FORMULA_0))"


class BuildFormulaBlocks:
    """Turns formulas into blocks of graphs, one graph each: what a worker does.

    Args:
        store: file of the formula-tree store; ``None``: all trees from LaTeX.
        mode: of fusion.
        variant: of the graphs.
    """

    def __init__(
        self, store: Path | None, mode: FusionMode, variant: GraphVariant
    ) -> None:
        self._store, self._mode, self._variant = store, mode, variant
        self._opened: TreeLookup | None = None

    def __call__(
        self, batches: Sequence[Sequence[FormulaInstance]]
    ) -> list[GraphBlock]:
        """Return one block per batch of formulas."""
        # Opened where it is used: a connection to the store cannot travel.
        self._opened = self._opened or StoredTrees(self._store)
        return [self._build(batch, self._opened) for batch in batches]

    def _build(
        self, formulas: Sequence[FormulaInstance], find_trees: TreeLookup
    ) -> GraphBlock:
        numbering = RawNumbering()
        builder = ArrayBuilder(numbering, self._variant)
        graphs: list[tuple[GraphRecord, GraphArrays]] = []
        failures: list[tuple[str, str]] = []
        for formula in formulas:
            record = _make_record(formula)
            try:
                fused = fuse_graph(record, find_trees, self._mode).graph
                arrays = builder.build(fused, label_formulas(record))
                graphs.append((record, arrays))
            except MathAMRError as exc:
                failures.append((formula.formula_id, str(exc)))
        return GraphBlock.pack(graphs, numbering, failures)


def _make_record(formula: FormulaInstance) -> GraphRecord:
    placeholder = "FORMULA_0"
    mention = FormulaMention(
        placeholder, formula.formula_id, formula.visual_id, formula.latex,
        0, len(placeholder),
    )  # fmt: skip
    key = name_entry(formula.post_id, formula.comment_id or "", formula.formula_id)
    return GraphRecord(key, _AMR, FORMULA_TYPE, (mention,))
