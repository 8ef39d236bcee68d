"""Parameters of the indexing stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mathamr_kedro.parameters import read_parameters
from mathamr_kedro.runs import NamedStrategy
from mathamr_kedro.search import Dtype, EncodingConfig, EngineConfig, Strategy


@dataclass(frozen=True)
class SearchConfig:
    """What ``mathamr search`` asks where no other system is named.

    The weights are those of the best system without a second model
    (``docs/results/pool.md``); what is compared how is ``indexing.strategy``.
    """

    system: str = "with_question"
    """``with_question``, or any system of the evaluation."""
    with_question: float = 0.5
    with_document: float = 0.2
    sentence_weight: float = 0.3

    def list_strategies(self, strategy: Strategy) -> dict[str, NamedStrategy]:
        """Return the strategy of the index by its name, and weighted as stated here."""
        plain = NamedStrategy.of(strategy)
        if strategy.retrieval == "single":  # no parts to weigh
            return {plain.name: plain, "with_question": plain}
        weighted = replace(
            plain,
            name="with_question",
            with_question=self.with_question,
            with_document=self.with_document,
            sentence_weight=self.sentence_weight,
        )
        return {plain.name: plain, weighted.name: weighted}


@dataclass(frozen=True)
class IndexingConfig:
    """What the stage reads from ``conf/<env>/parameters/indexing.yml``."""

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
