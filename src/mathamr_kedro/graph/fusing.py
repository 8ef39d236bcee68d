"""Fusion record by record: what a worker of the stage does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mathamr_kedro.errors import GraphError, MalformedInputError
from mathamr_kedro.graph.fusion import FusionMode, fuse_formulas, unify_formulas
from mathamr_kedro.graph.math_graph import MathGraph, read_placeholder
from mathamr_kedro.graph.penman_graph import format_math_graph, read_math_graph
from mathamr_kedro.graph.penman_records import (
    GraphRecord,
    format_record,
    read_record,
)
from mathamr_kedro.graph.tree_lookup import FormulaLines, StoredTrees, TreeLookup


class Problem(NamedTuple):
    """Something wrong with a record."""

    graph_id: str
    reason: str
    detail: str
    kept: bool


class FusedRecord(NamedTuple):
    """The text of a fused record (empty where there is none), and what was wrong."""

    text: str
    problems: tuple[Problem, ...] = ()


def fuse_record(
    record: GraphRecord, find_trees: TreeLookup, mode: FusionMode
) -> tuple[GraphRecord, MathGraph, dict[int, FormulaLines]]:
    """Return the record with its fused graph, the graph itself, and the trees in it.

    Raises:
        GraphError: the AMR is no graph, or fusion broke an invariant.
    """
    amr = unify_formulas(read_math_graph(record.graph))
    formulas: dict[int, FormulaLines] = {}
    for mention in record.formula_map:
        number = read_placeholder(mention.placeholder)
        if number is None:
            raise GraphError(
                f"Expected placeholders FORMULA_n in the formula map of "
                f"{record.graph_id!r} (got {mention.placeholder!r})"
            )
        formulas[number] = find_trees(mention.visual_id, mention.latex)
    fused = fuse_formulas(amr, formulas, mode)
    lost = tuple(f"FORMULA_{p.number}" for p in fused.formulas if p.is_lost)
    text = format_math_graph(fused)
    return record._replace(graph=text, missing=lost), fused, formulas


class FuseRecords:
    """Fuses the texts of AMR records; made in one process, called in others.

    Args:
        store: file of the formula-tree store; ``None``: all trees from LaTeX.
        mode: see :mod:`~mathamr_kedro.graph.fusion`.
    """

    def __init__(self, store: Path | None, mode: FusionMode) -> None:
        self._store, self._mode = store, mode
        self._opened: TreeLookup | None = None

    def __call__(self, blocks: Sequence[str]) -> list[FusedRecord]:
        """Return one result per record."""
        # Opened where it is used: a connection to the store cannot travel.
        self._opened = self._opened or StoredTrees(self._store)
        return [self._fuse(block, self._opened) for block in blocks]

    def _fuse(self, block: str, find_trees: TreeLookup) -> FusedRecord:
        try:
            record = read_record(block)
        except MalformedInputError as exc:
            return FusedRecord("", (Problem("", "malformed_record", str(exc), False),))
        name = record.graph_id
        try:
            fused, graph, formulas = fuse_record(record, find_trees, self._mode)
        except GraphError as exc:
            return FusedRecord("", (Problem(name, "graph_error", str(exc), False),))
        return FusedRecord(format_record(fused), _find_notes(name, graph, formulas))


def _find_notes(
    name: str, graph: MathGraph, formulas: dict[int, FormulaLines]
) -> tuple[Problem, ...]:
    notes: list[Problem] = []
    bare = [n for n, f in formulas.items() if f.opt is None and f.slt is None]
    if bare:
        detail = f"no tree for {', '.join(f'FORMULA_{n}' for n in bare[:10])}"
        notes.append(Problem(name, "formula_without_tree", detail, True))
    strange = [p.number for p in graph.formulas if p.number not in formulas]
    if strange:
        detail = (
            f"not in formula_map: {', '.join(f'FORMULA_{n}' for n in strange[:10])}"
        )
        notes.append(Problem(name, "unknown_placeholder", detail, True))
    return tuple(notes)
