"""Ingestion: raw collections to typed tables with clean texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import check_range, read_parameters
from mathamr_kedro.base.workers import WorkerConfig
from mathamr_kedro.corpus.formula_index import ReturnableRule
from mathamr_kedro.corpus.subset import SubsetConfig
from mathamr_kedro.corpus.training import Answers, TrainingFormulas

MIN_PAIRS = 2
"""A single pair has no negatives."""


@dataclass(frozen=True)
class IngestionConfig:
    """Parameters of the stage, ``conf/<env>/parameters/ingestion.yml``."""

    records_per_shard: int
    """Posts, comments, ... per shard; a killed run loses at most one shard of work."""
    formulas_per_shard: int
    pairs: Answers
    """``accepted``: with the accepted answer (thesis 3.4); ``all``: with each;
    ``links``: a statement with each one that its proof cites; ``judged``: queries with
    what judgments for training call relevant."""
    returnable: ReturnableRule = field(default_factory=ReturnableRule)
    """Which formulas Task 2 may return, by whatever system."""
    training_formulas: TrainingFormulas = field(default_factory=TrainingFormulas)
    """What systems may learn from formulas of, beside those that may be returned."""
    workers: WorkerConfig = field(default_factory=lambda: WorkerConfig(batch_size=256))
    """Where formulas are turned into trees."""
    subset: SubsetConfig | None = None
    """The judged subset instead of the whole collection (thesis 4.4.1)."""

    def __post_init__(self) -> None:
        check_range(self, "records_per_shard", "formulas_per_shard", least=1)

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> IngestionConfig:
        """Check what the configuration gave."""
        return read_parameters(cls, values, where="ingestion")

    def check_pairs(self, number: int, num_epochs: int) -> None:
        """Refuse a collection without pairs if an encoder is to be trained.

        Args:
            number: of training pairs.
            num_epochs: of the training; 0 takes a released encoder as it is.
        """
        if num_epochs == 0 or number >= MIN_PAIRS:
            return
        reason, remedy = "no answer of the collection names its question", ""
        if self.pairs == "accepted":
            reason = "no question of the collection names an accepted answer"
            remedy = "--params ingestion.pairs=all pairs it with every answer; "
        raise ConfigurationError(
            f"Expected at least {MIN_PAIRS} training pairs for training.num_epochs "
            f"{num_epochs} (got {number}): {reason} (ingestion.pairs: {self.pairs!r}); "
            f"{remedy}training.num_epochs 0 uses a released encoder as it is "
            "(training.start_from) and needs none"
        )
