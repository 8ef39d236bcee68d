"""The steps of the system; what needs more than torch and numpy is loaded inside."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from mathamr_kedro.systems.base import Collection, Epochs, Rankings, Target
from mathamr_kedro.systems.formula_rgcn.config import Config as Parameters
from mathamr_kedro.systems.formula_rgcn.forest import write_forests
from mathamr_kedro.systems.formula_rgcn.training import PairTraining


class FormulaRgcn:
    """Formula graph retrieval of Amador & Zanibbi 2025."""

    Config: ClassVar[type] = Parameters
    READS: ClassVar[tuple[str, ...]] = ("formulas", "trees_of")
    name = "formula_rgcn"
    finds: frozenset[Target] = frozenset({"formulas"})
    reads = READS

    def __init__(self, config: Parameters) -> None:
        self.config = config

    def prepare(self, sources: Collection, folder: Path) -> Mapping[str, Any]:
        """Write both trees of each visually distinct formula as flat arrays."""
        return write_forests(sources, folder)

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Train both networks together, or resume."""
        return PairTraining(self.config.model, prepared, seed).run(folder)

    def index(
        self, sources: Collection, model: Path, folder: Path
    ) -> Mapping[str, Any]:
        """Encode the nodes of all formulas, for each representation."""
        from mathamr_kedro.systems.formula_rgcn.search import (  # noqa: PLC0415
            build_index,
        )

        return build_index(sources, self.config, model, folder)

    def open(self, sources: Collection, model: Path, folder: Path) -> Rankings:
        """Return rankers of formulas: fused, and by each representation."""
        from mathamr_kedro.systems.formula_rgcn.search import (  # noqa: PLC0415
            NodeSearch,
        )

        search = NodeSearch(sources, self.config, model, folder)
        return Rankings({"formulas": search.list_rankers()})
