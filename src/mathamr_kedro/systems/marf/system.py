"""MaRF as a system."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from mathamr_kedro.systems.base import Collection, Epochs, PaperSystem
from mathamr_kedro.systems.marf.config import MarfConfig
from mathamr_kedro.systems.query import Target


class Marf(PaperSystem):
    """Fusion of a text encoder and a formula encoder (Wang et al. 2026)."""

    Config: ClassVar[type] = MarfConfig
    training_reads = ("posts", "pairs")
    name = "marf"
    finds: frozenset[Target] = frozenset({"posts", "formulas"})
    index_reads = ("posts", "formulas")
    VERSION = 3

    # What a machine that only trains lacks is imported in the steps that need it.

    def prepare(self, sources: Collection, folder: Path) -> Mapping[str, Any]:
        """Write posts of training pairs as tokens, and the context encoder."""
        from mathamr_kedro.systems.marf.posts import prepare_posts  # noqa: PLC0415

        return prepare_posts(sources, folder, self.config.model)

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Train both encoders, then their fusion; or resume."""
        from mathamr_kedro.systems.marf.training import MarfTraining  # noqa: PLC0415

        return MarfTraining(prepared, folder, self.config.model, seed).run()
