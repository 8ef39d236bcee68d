"""Parameters of the indexing stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.systems import Fusion
from mathamr_kedro.systems.mathamr_plus import EncodingConfig, Strategy
from mathamr_kedro.vectors import Dtype, EngineConfig

_PATTERNS = ("bm25_slt", "bm25_opt")
_WITH_QUESTION, _WITH_DOCUMENT, _SENTENCE_WEIGHT = 0.5, 0.5, 0.3
"""Weights of the best system without a second model (docs/results/pool.md): an answer
counts half, its question half; document vectors are added; sentences of a query count
less than its formulas."""


@dataclass(frozen=True)
class SearchConfig:
    """What ``mathamr search`` asks if no other system is named.

    What is compared how is ``indexing.strategy``.
    """

    system: str = "with_question"
    """``with_question``, ``combined``, or any system of the evaluation."""
    formula_system: str = "with_patterns"
    """Of a search for a formula: ``with_patterns``, or any system of the evaluation
    that finds formulas."""

    def fuse_patterns(self, vectors: str) -> Fusion:
        """Return ``with_patterns``: formula vectors with patterns of both trees."""
        return Fusion("mean", name="with_patterns", of=(vectors, *_PATTERNS))

    def list_baselines(self) -> tuple[str, ...]:
        """Return the systems beside our vectors that searches ask by default."""
        return _PATTERNS if self.formula_system == "with_patterns" else ()

    def list_strategies(self, strategy: Strategy) -> dict[str, Strategy]:
        """Return the strategy of the index by its name, and what else people ask by.

        ``combined`` is MaxSim and document vectors together; ``with_question`` is the
        strategy with the weights of the constants above.
        """
        plain = strategy
        combined = replace(plain, retrieval="combined", name="combined")
        found = {plain.name: plain, combined.name: combined}
        if strategy.retrieval == "single":  # no parts to weigh
            return found | {"with_question": plain}
        has_weight = strategy.retrieval == "combined"  # of its own, document_weight
        weighted = replace(
            plain,
            name="with_question",
            with_question=_WITH_QUESTION,
            with_document=0.0 if has_weight else _WITH_DOCUMENT,
            sentence_weight=_SENTENCE_WEIGHT,
        )
        return found | {weighted.name: weighted}


@dataclass(frozen=True)
class IndexingConfig:
    """Parameters of the stage, ``conf/<env>/parameters/indexing.yml``."""

    dtype: Dtype = "float32"
    """Of the vectors on disk; ``float16`` takes half the room."""
    encoding: EncodingConfig = field(default_factory=EncodingConfig)
    engine: EngineConfig = field(default_factory=EngineConfig)
    strategy: Strategy = field(default_factory=Strategy)
    """How later stages search for posts."""
    search: SearchConfig = field(default_factory=SearchConfig)
    """How people do."""

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> IndexingConfig:
        """Check what the configuration gave."""
        return read_parameters(cls, values, where="indexing")

    def check_machine(self) -> None:
        """Refuse a GPU that is not here."""
        self.encoding.compute.check_machine()
