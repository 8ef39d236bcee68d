"""Parameters of the ingestion stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mathamr_kedro.corpus import ReturnableRule
from mathamr_kedro.corpus.subset import SubsetConfig
from mathamr_kedro.corpus.threads import Answers
from mathamr_kedro.parameters import read_parameters


@dataclass(frozen=True)
class _FormulaTreesConfig:
    """How the trees of formulas are built."""

    latex_reader: Literal["builtin", "latexml"] = "builtin"
    """What reads formulas without MathML; ``latexml`` needs the program."""


@dataclass(frozen=True)
class IngestionConfig:
    """What the stage reads from ``conf/<env>/parameters/ingestion.yml``."""

    records_per_shard: int
    """Posts, comments, ... per shard; a killed run loses at most one shard of work."""
    formulas_per_shard: int
    pairs: Answers
    """``accepted``: with the accepted answer (thesis 3.4); ``all``: with each;
    ``links``: a statement with each one that its proof cites."""
    formula_trees: _FormulaTreesConfig = _FormulaTreesConfig()
    returnable: ReturnableRule = field(default_factory=ReturnableRule)
    """Which formulas Task 2 may return, by whatever system."""
    subset: SubsetConfig | None = None
    """The judged subset instead of the whole collection (thesis 4.4.1)."""

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> IngestionConfig:
        """Check what the configuration gave."""
        return read_parameters(cls, values, where="ingestion")
