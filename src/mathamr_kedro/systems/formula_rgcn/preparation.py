"""Trees of the formulas of a collection, for the training."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.systems.base import Collection, choose_instances
from mathamr_kedro.systems.formula_rgcn.config import KINDS, RgcnConfig
from mathamr_kedro.systems.formula_rgcn.forest import ForestWriter

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTree


def write_forests(
    sources: Collection, config: RgcnConfig, folder: Path
) -> dict[str, Any]:
    """Write both trees of each visually distinct formula; return counts.

    Formulas that differ in appearance may have equal trees (spaces, sizes of brackets);
    one of them is kept, as the others would be its negatives.
    """
    writers = [ForestWriter(folder, kind) for kind in KINDS]
    counts = {"formulas": 0, "without_trees": 0, "too_large": 0, "alike": 0}
    seen: set[str] = set()
    for trees in _read_trees(sources, config, counts):
        if max(tree.size for tree in trees) > config.max_nodes:
            counts["too_large"] += 1
            continue
        look = checksum(*(tree.to_string() for tree in trees))
        if look in seen:
            counts["alike"] += 1
            continue
        seen.add(look)
        counts["formulas"] += 1
        for writer, tree in zip(writers, trees, strict=True):
            writer.add(tree)
    found: dict[str, Any] = dict(counts)
    for kind, writer in zip(KINDS, writers, strict=True):
        vocabulary = writer.close(config.min_count)
        found[f"{kind}_labels"] = len(vocabulary.labels)
        found[f"{kind}_edges"] = len(vocabulary.edges)
    return found


def _read_trees(
    sources: Collection, config: RgcnConfig, counts: dict[str, int]
) -> Iterator[tuple[FormulaTree, FormulaTree]]:
    formulas = list(choose_instances(sources.formulas()).values())
    if 0 < config.max_formulas < len(formulas):
        random = np.random.default_rng(0)
        places = random.permutation(len(formulas))[: config.max_formulas]
        formulas = [formulas[place] for place in sorted(places.tolist())]
    for formula in report_progress(
        formulas, "formulas prepared for formula_rgcn", total=len(formulas)
    ):
        trees = sources.trees_of(formula)
        if trees is None or not trees.is_whole:
            counts["without_trees"] += 1
            continue
        assert trees.slt is not None and trees.opt is not None  # they are whole
        yield trees.slt, trees.opt
