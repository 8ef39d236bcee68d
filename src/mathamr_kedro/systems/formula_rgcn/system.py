"""Formula graph retrieval as a system."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from mathamr_kedro.systems.base import Collection, Epochs, PaperSystem
from mathamr_kedro.systems.formula_rgcn.config import FormulaRgcnConfig
from mathamr_kedro.systems.formula_rgcn.forest import write_forests
from mathamr_kedro.systems.formula_rgcn.training import PairTraining
from mathamr_kedro.systems.query import Target


class FormulaRgcn(PaperSystem):
    """Formula graph retrieval of Amador & Zanibbi 2025."""

    Config: ClassVar[type] = FormulaRgcnConfig
    training_reads = (
        "formulas",
        "training_formulas",
        "trees_of",
    )
    name = "formula_rgcn"
    finds: frozenset[Target] = frozenset({"formulas"})
    index_reads = ("formulas", "trees_of")

    def prepare(self, sources: Collection, folder: Path) -> Mapping[str, Any]:
        """Write both trees of each visually distinct formula as flat arrays."""
        return write_forests(sources, folder, self.config.model.max_formulas)

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Train both networks together, or resume."""
        return PairTraining(self.config.model, prepared, seed).run(folder)
