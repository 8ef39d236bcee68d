"""MathAMR as a system: prepared, trained, indexed, asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from mathamr_kedro.base.files import write_text
from mathamr_kedro.systems.base import Collection, Epochs, Rankings, Target
from mathamr_kedro.systems.folds import deal_topics
from mathamr_kedro.systems.mathamr.config import MathAMRConfig


class MathAMR:
    """Formulas by their sentences, as linearised AMR with operator trees."""

    Config: ClassVar[type] = MathAMRConfig
    READS: ClassVar[tuple[str, ...]] = (
        "formulas", "trees_of", "posts", "graphs", "topics", "topic_graphs",
        "judgments",
    )  # fmt: skip

    name = "mathamr"
    finds: frozenset[Target] = frozenset({"formulas"})
    reads = READS

    def __init__(self, config: MathAMRConfig) -> None:
        self.config = config

    # What a machine that only trains lacks is imported in the steps that need it.

    def prepare(self, sources: Collection, folder: Path) -> Mapping[str, Any]:
        """Write judged triples, the folds of their topics, and the text model."""
        from mathamr_kedro.systems.mathamr import training  # noqa: PLC0415
        from mathamr_kedro.systems.mathamr.encoder import copy_model  # noqa: PLC0415
        from mathamr_kedro.systems.mathamr.judged import list_triples  # noqa: PLC0415
        from mathamr_kedro.systems.mathamr.triples import write_triples  # noqa: PLC0415
        from mathamr_kedro.text import find_text_model  # noqa: PLC0415

        model = self.config.model
        copy_model(find_text_model(model.text_model), folder / training.BASE)
        triples = []
        if model.epochs:
            triples = list_triples(model.representation, sources)
        counts = write_triples(folder / training.TRIPLES, triples)
        fold_of = deal_topics((t.topic_id for t in triples), model.folds)
        write_text(folder / training.FOLDS, json.dumps(fold_of, indent=1))
        return {"triples": len(triples), "topics": len(fold_of), **counts}

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Fine-tune a text model for each fold of topics, and one for all."""
        from mathamr_kedro.systems.mathamr.training import train_models  # noqa: PLC0415

        return train_models(self.config.model, prepared, folder, seed)

    def index(
        self, sources: Collection, model: Path, folder: Path
    ) -> Mapping[str, Any]:
        """Write the contexts of formulas, and encode them by each model."""
        from mathamr_kedro.systems.mathamr.search import build_index  # noqa: PLC0415

        return build_index(self.config, sources, model, folder)

    def open(self, sources: Collection, model: Path, folder: Path) -> Rankings:
        """Return rankers of formulas: the best form, then its parts."""
        from mathamr_kedro.systems.mathamr.search import open_rankers  # noqa: PLC0415

        rankers = open_rankers(self.config, sources, model, folder)
        return Rankings({"formulas": rankers})
