"""SSEmb as a system."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.systems.base import Collection, Epochs, PaperSystem
from mathamr_kedro.systems.query import Target
from mathamr_kedro.systems.ssemb.config import SSEmbConfig
from mathamr_kedro.systems.ssemb.graphs import GraphTableBuilder, count_labels
from mathamr_kedro.systems.ssemb.training import GRAPHS, LABELS, StructureTraining

_MIN_NODES = 3
"""Smaller graphs are no training examples, as in the paper."""


class SSEmb(PaperSystem):
    """Structure by a graph network, text by a sentence encoder (Li & Chen 2025)."""

    Config: ClassVar[type] = SSEmbConfig
    training_reads = (
        "formulas",
        "training_formulas",
        "trees_of",
    )
    name = "ssemb"
    finds: frozenset[Target] = frozenset({"formulas"})
    index_reads = ("formulas", "trees_of", "posts")

    def prepare(self, sources: Collection, folder: Path) -> Mapping[str, Any]:
        """Write each different operator graph once, and the labels."""
        from mathamr_kedro.formula.graphs import build_shared_graph  # noqa: PLC0415

        builder, count = GraphTableBuilder(), 0
        trees: set[bytes] = set()
        # Formulas of comments are not learnt from (3.1.1), but found.
        formulas = sources.list_learnable(self.config.model.max_formulas, False)
        for formula in report_progress(formulas, "formulas read for ssemb"):
            count += 1
            found = sources.trees_of(formula)
            tree = found.opt if found is not None else None
            if tree is None or tree.is_blank:
                continue
            checksum = blake2b(tree.to_string().encode(), digest_size=8).digest()
            if checksum in trees:
                continue
            trees.add(checksum)
            graph = build_shared_graph(tree)
            if len(graph.nodes) >= _MIN_NODES:
                builder.add(graph)
        labels = count_labels(builder.counts, self.config.model.min_label_count)
        labels.save(folder / LABELS)
        table = builder.finish(labels)
        table.save(folder / GRAPHS)
        return {
            "visual_ids": count,
            "graphs": len(table),
            "nodes": len(table.labels),
            "labels": len(labels),
        }

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Train, or resume."""
        return StructureTraining(self.config.model, prepared, seed).run(folder)
