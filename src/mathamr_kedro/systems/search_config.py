"""What people's searches ask: words and vectors together, and strategies by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import read_parameters
from mathamr_kedro.systems.fusion import Fusion
from mathamr_kedro.systems.mathamr_plus.strategies import Strategy
from mathamr_kedro.systems.registry import BASELINES, OWN

_PATTERNS = ("bm25_slt", "bm25_opt")
_WITH_QUESTION, _WITH_DOCUMENT, _SENTENCE_WEIGHT = 0.5, 0.5, 0.3
"""Weights of the best strategy without a second model (docs/results/pool.md): an answer
counts half, its question half; document vectors are added; sentences of a query count
less than its formulas."""


@dataclass(frozen=True)
class SearchConfig:
    """What ``mathamr search`` asks if no other system is named.

    What is compared how is ``indexing.strategy``.
    """

    system: str = "words+vectors"
    """The name of ``fusion``, a strategy, or any system of the evaluation."""
    fusion: Fusion = field(
        default_factory=lambda: Fusion(
            "weighted",
            (3.0, 2.0),
            name="words+vectors",
            of=("bm25_fields", "with_question"),
        )
    )
    """Words and vectors (weights: docs/results/benchmark.md)."""
    formula_system: str = "with_patterns"
    """Of a search for a formula: ``with_patterns``, or any system of the evaluation
    that finds formulas."""

    @classmethod
    def read(cls, indexing: Mapping[str, Any]) -> SearchConfig:
        """Check what the parameters ``indexing`` say of searches."""
        return read_parameters(cls, indexing.get("search", {}), "indexing.search")

    def fuse_patterns(self, vectors: str) -> Fusion:
        """Return ``with_patterns``: formula vectors with patterns of both trees."""
        return Fusion("mean", name="with_patterns", of=(vectors, *_PATTERNS))

    def list_baselines(self) -> list[str]:
        """Return the systems beside our vectors that searches ask by default."""
        parts: Iterable[str] = ()
        if self.system == self.fusion.name:
            parts = (name for name in self.fusion.of if name in BASELINES)
        return [*parts, *(_PATTERNS if self.formula_system == "with_patterns" else ())]


def list_search_strategies(strategy: Strategy) -> dict[str, Strategy]:
    """Return the strategy of the index by its name, and what else people ask by.

    ``with_question`` is the strategy with the weights of the constants above.
    """
    weighted = strategy
    if strategy.retrieval != "single":  # which has no parts to weigh
        weighted = replace(
            strategy,
            name="with_question",
            with_question=_WITH_QUESTION,
            with_document=_WITH_DOCUMENT,
            sentence_weight=_SENTENCE_WEIGHT,
        )
    return {strategy.name: strategy, "with_question": weighted}


def name_rankings(
    strategies: Sequence[Strategy],
    default: Strategy,
    asked: Iterable[str] = (),
    depth: int = 1000,
) -> dict[str, Strategy]:
    """Return the strategies of an evaluation by the names of their rankings.

    One is ``mathamr_plus``, several are ``mathamr_plus/<strategy>``.

    Args:
        strategies: that are compared; ``default`` if there are none.
        default: that of the index.
        asked: names in fusions, which may be those of people's searches, too.
        depth: most results of each.

    Raises:
        ConfigurationError: two have one name.
    """
    chosen = [replace(s, depth=min(s.depth, depth)) for s in strategies or (default,)]
    named = {OWN: chosen[0]}
    if len(chosen) > 1:
        named = {f"{OWN}/{strategy.name}": strategy for strategy in chosen}
    if len(named) < len(chosen):
        raise ConfigurationError(
            f"Expected strategies of different names (got {list(named)}); give them "
            "names (evaluation.strategies)"
        )
    known = {f"{OWN}/{strategy.name}" for strategy in strategies}
    others = {
        f"{OWN}/{name}": replace(s, depth=min(s.depth, depth))
        for name, s in list_search_strategies(default).items()
    }
    parts = {*asked} - known
    return named | {name: s for name, s in others.items() if name in parts}
