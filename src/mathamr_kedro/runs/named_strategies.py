"""Strategies as systems: with a name, and with more than the thesis compares."""

from __future__ import annotations

from dataclasses import dataclass

from mathamr_kedro.corpus import QueryParts
from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.runs.baselines import TASK_1_TYPES
from mathamr_kedro.search import Strategy


@dataclass(frozen=True)
class NamedStrategy(Strategy):
    """A strategy as a system: with a name, and perhaps with more than MaxSim."""

    post_types: tuple[str, ...] = TASK_1_TYPES
    name: str = ""
    """By default that of the strategy, e.g. ``rerank-5000-hnsw``."""
    with_question: float = 0.0
    """Beyond the thesis: share of MaxSim over an answer and its question together."""
    with_document: float = 0.0
    """Beyond the thesis: weight of the similarity of document vectors beside MaxSim,
    both as they are; ``combined`` standardises them, and has ``document_weight``."""
    sentence_weight: float = 1.0
    """Beyond the thesis: of a query's sentences in the mean of MaxSim; formulas and
    the document have 1."""

    query_parts: QueryParts = "all"
    """What of a topic is asked: its words alone or its formulas alone have graphs of
    their own (``amr_parsing.query_parts``)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.name:
            strategy = Strategy(
                self.retrieval,
                self.search,
                self.candidates,
                self.document_weight,
                hnsw_walks=self.hnsw_walks,
            )
            parts = {
                "question": self.with_question,
                "document": self.with_document,
                "sentence": self.sentence_weight if self.sentence_weight != 1 else 0,
            }
            suffix = "".join(f"-{part}-{w:g}" for part, w in parts.items() if w)
            suffix += "" if self.query_parts == "all" else f"-{self.query_parts}"
            object.__setattr__(self, "name", strategy.name + suffix)
        if not 0 <= self.with_question <= 1:
            raise ConfigurationError(
                f"Expected with_question from 0 to 1 (got {self.with_question!r})"
            )
        if self.with_document < 0:
            raise ConfigurationError(
                f"Expected with_document of at least 0 (got {self.with_document!r})"
            )
        if self.sentence_weight <= 0:
            raise ConfigurationError(
                f"Expected a positive sentence_weight (got {self.sentence_weight!r})"
            )
        if self.mixes and self.retrieval == "single":
            raise ConfigurationError(
                "Expected retrieval 'maxsim', 'rerank' or 'combined' for "
                "with_question, with_document and sentence_weight (got 'single'): they "
                "change MaxSim"
            )
        if self.with_document and self.retrieval == "combined":
            raise ConfigurationError(
                "Expected document_weight for retrieval 'combined' (got with_document "
                f"{self.with_document!r}, which is for 'maxsim' and 'rerank')"
            )

    @classmethod
    def of(cls, strategy: Strategy) -> NamedStrategy:
        """Return a plain strategy as a system."""
        names = Strategy.__dataclass_fields__
        return cls(**{name: getattr(strategy, name) for name in names})

    @property
    def mixes(self) -> bool:
        """Whether scores are more than MaxSim."""
        is_weighted = self.sentence_weight != 1
        return self.with_question > 0 or self.with_document > 0 or is_weighted
