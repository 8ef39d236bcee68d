"""Building the arrays of a collection, block by block, in workers.

::

    shard of AMR records ── fuse, build ──> block ── append ──> folder of arrays

Arrays only depend on the graphs and on the variant, so every vocabulary and every split
of the training pairs reads the same ones.

Formulas that are in no graph of a text, those of comments above all, get graphs of
their own: each is encoded as a text that is nothing but this formula (as a query for a
formula is)::

    (m / multi-sentence                     formula   members F0o0 ... F0s0 ...
      :snt1 (f / FORMULA_0                  sentence  members f
        :opt (F0o0 / ...)                   document  members of both, m
        :slt (F0s0 / ...)))

Its key names the post and the formula, so that a search knows where it was found.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from mathamr_kedro.base.checksums import checksum, name_version
from mathamr_kedro.base.errors import MathAMRError
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import FormulaInstance, FormulaMention
from mathamr_kedro.base.workers import WorkerConfig, run_each
from mathamr_kedro.graph.arrays import FORMULA, GraphArrays
from mathamr_kedro.graph.builder import ArrayBuilder, RawNumbering, label_formulas
from mathamr_kedro.graph.entries import FORMULA_TYPE, name_entry, split_entry
from mathamr_kedro.graph.fusion import FusedRecord, StoredTrees
from mathamr_kedro.graph.penman_records import GraphRecord
from mathamr_kedro.graph.shards.blocks import BlockGraph, GraphBlock
from mathamr_kedro.graph.shards.folder import GraphFolder
from mathamr_kedro.graph.shards.layout import NO_NAME, FormulaName
from mathamr_kedro.graph.shards.writer import BlockWriter
from mathamr_kedro.graph.virtual_nodes import GraphVariant

logger = logging.getLogger(__name__)

_ALONE = "(m / multi-sentence :snt1 (f / FORMULA_0))"
"""The AMR of a formula without words."""


class BuildBlocks:
    """Fuses AMR records and turns them into blocks of arrays: what a worker does.

    Records that have no arrays are failures of their block.

    Args:
        trees: file of the formula-tree store; ``None``: all trees from LaTeX.
        variant: of the graphs.
    """

    VERSION: ClassVar = 3
    """Of what comes out; another one rebuilds the arrays."""

    def __init__(self, trees: Path | None, variant: GraphVariant) -> None:
        self._find_trees, self._variant = StoredTrees(trees), variant

    def __call__(self, batches: Sequence[Iterable[GraphRecord]]) -> list[GraphBlock]:
        """Return one block per batch of records, e.g. of a shard."""
        return [self._build(records) for records in batches]

    def _build(self, records: Iterable[GraphRecord]) -> GraphBlock:
        numbering = RawNumbering()
        builder = ArrayBuilder(numbering, self._variant)
        graphs: list[BlockGraph] = []
        failures: list[tuple[str, str]] = []
        for record in records:
            try:
                fused = FusedRecord.read(record, self._find_trees)
                arrays = builder.build(fused.graph, label_formulas(fused.formulas()))
            except MathAMRError as exc:
                post, _, formula = split_entry(record.graph_id)
                failures.append((formula or post, str(exc)))
                continue
            names = _name_formulas(fused, arrays)
            graphs.append(BlockGraph(fused.graph_id, arrays, fused.post_type, names))
        return GraphBlock.of(graphs, numbering.labels, list(numbering.roles), failures)


def record_formula(formula: FormulaInstance) -> GraphRecord:
    """Return the AMR record of a formula by itself."""
    placeholder = "FORMULA_0"
    mention = FormulaMention(
        placeholder, formula.formula_id, formula.visual_id, formula.latex,
        0, len(placeholder),
    )  # fmt: skip
    key = name_entry(formula.post_id, formula.comment_id or "", formula.formula_id)
    return GraphRecord(key, _ALONE, FORMULA_TYPE, (mention,))


def _name_formulas(record: FusedRecord, arrays: GraphArrays) -> list[FormulaName]:
    """Return formula id and visual id of each representative that is a formula."""
    names = {n: (m.formula_id, m.visual_id) for n, m in record.formulas().items()}
    is_formula = arrays.representative_kind == FORMULA
    # A parser may invent a placeholder that the text does not have.
    return [
        names.get(number, NO_NAME)
        for number in arrays.representative_number[is_formula].tolist()
    ]


def build_arrays(
    folder: Path,
    made_from: str,
    sources: Mapping[str, str],
    build: Callable[[Sequence[Any]], Sequence[GraphBlock]],
    list_items: Callable[[], Iterable[tuple[str, Any]]],
    workers: WorkerConfig,
) -> GraphFolder:
    """Write the arrays of a collection to a folder, or what it lacks of them.

    Args:
        folder: of one variant; killed at any moment, the next call goes on there.
        made_from: checksum of what all blocks depend on.
        sources: checksum of what each block is made from, by its name, in their order.
        build: gives blocks, in workers.
        list_items: names and items of all blocks, in the order of ``sources``.
        workers: how ``build`` runs.
    """
    step = name_version("arrays", BuildBlocks.VERSION)
    with BlockWriter(folder, checksum(step, made_from), sources) as writer:
        todo = set(writer.todo)
        items = ((name, item) for name, item in list_items() if name in todo)
        blocks = run_each(build, items if todo else (), workers)
        for name, block in report_progress(
            blocks, "shards turned into arrays", total=len(todo)
        ):
            for key, reason in block.failures:
                logger.warning("no arrays for %s: %s", key, reason)
            writer.append(name, block)
    return GraphFolder(folder)
