"""MathAMR as a system."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from mathamr_kedro.systems.base import Collection, Epochs, PaperSystem
from mathamr_kedro.systems.mathamr.config import MathAMRConfig
from mathamr_kedro.systems.query import Target


class MathAMR(PaperSystem):
    """Formulas by their sentences, as linearised AMR with operator trees."""

    Config: ClassVar[type] = MathAMRConfig
    training_reads = (
        "formulas", "trees_of", "posts", "graphs", "topics", "topic_graphs",
        "judgments",
    )  # fmt: skip

    name = "mathamr"
    finds: frozenset[Target] = frozenset({"posts", "formulas"})
    index_reads = training_reads

    # What a machine that only trains lacks is imported in the steps that need it.

    def prepare(self, sources: Collection, folder: Path) -> Mapping[str, Any]:
        """Write judged triples, the folds of their topics, and the text model."""
        from mathamr_kedro.systems.mathamr.judged import (  # noqa: PLC0415
            prepare_triples,
        )

        return prepare_triples(self.config.model, sources, folder)

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Fine-tune a text model for each fold of topics, and one for all."""
        from mathamr_kedro.systems.mathamr.training import train_models  # noqa: PLC0415

        return train_models(self.config.model, prepared, folder, seed)
