"""Parameters of the ingestion stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mathamr_kedro.corpus.threads import Answers
from mathamr_kedro.parameters import read_parameters


@dataclass(frozen=True)
class IngestionConfig:
    """What the stage reads from ``conf/<env>/parameters/ingestion.yml``."""

    records_per_shard: int
    """Posts, comments, ... per shard; a killed run loses at most one shard of work."""
    formulas_per_shard: int
    pairs: Answers
    """``accepted``: with the accepted answer (thesis 3.4); ``all``: with each."""

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> IngestionConfig:
        """Check what the configuration gave."""
        return read_parameters(cls, values, where="ingestion")
