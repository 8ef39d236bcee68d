"""MaRF as a system: prepared, trained, indexed, asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mathamr_kedro.base.hits import FormulaHits
from mathamr_kedro.systems.base import (
    Collection,
    Epochs,
    Query,
    Ranker,
    Rankings,
    Target,
    choose_instances,
    name_formulas,
)
from mathamr_kedro.systems.marf.config import MarfConfig

if TYPE_CHECKING:
    from mathamr_kedro.systems.marf.items import Item
    from mathamr_kedro.systems.marf.search import ItemIndex

_POST_TYPES = ("answer", "document")
"""Types of post that Task 1 may return."""
_NAMES = {"fused": "marf", "context": "marf/context", "formula": "marf/formula"}
_TARGETS: Mapping[int, Target] = {1: "posts", 2: "formulas"}
"""What each task returns."""


class Marf:
    """Fusion of a text encoder and a formula encoder (Wang et al. 2026)."""

    Config: ClassVar[type] = MarfConfig
    READS: ClassVar[tuple[str, ...]] = ("posts", "pairs")
    name = "marf"
    finds: frozenset[Target] = frozenset({"posts", "formulas"})
    reads = ("posts", "formulas")

    def __init__(self, config: MarfConfig) -> None:
        self.config = config

    # What a machine that only trains lacks is imported in the steps that need it.

    def prepare(self, sources: Collection, folder: Path) -> Mapping[str, Any]:
        """Write posts of training pairs as tokens, and the context encoder."""
        from mathamr_kedro.systems.marf.posts import prepare_posts  # noqa: PLC0415

        return prepare_posts(sources, folder, self.config.model)

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Train both encoders, then their fusion; or resume."""
        from mathamr_kedro.systems.marf.training import MarfTraining  # noqa: PLC0415

        return MarfTraining(prepared, folder, self.config.model, seed).run()

    def index(
        self, sources: Collection, model: Path, folder: Path
    ) -> Mapping[str, Any]:
        """Encode answers and formulas; their token vectors are the index."""
        counts: dict[str, Any] = {"bytes": 0}
        for task, index in self._open_indexes(model, folder).items():
            found = index.write(self._list_items(sources, task), _TARGETS[task])
            counts |= {**found, "bytes": counts["bytes"] + found["bytes"]}
        return counts

    def open(self, sources: Collection, model: Path, folder: Path) -> Rankings:
        """Return ``marf``, and its encoders as far as they are indexed."""
        from mathamr_kedro.systems.marf.items import (  # noqa: PLC0415
            read_formula,
            read_post,
        )

        @cache
        def read_formulas() -> Mapping[str, Any]:
            return choose_instances(sources.formulas())

        def name(rank: Ranker) -> Ranker:
            def rank_formulas(topics: Sequence[Query], depth: int) -> list[FormulaHits]:
                found = rank(topics, depth)
                return [name_formulas(hits, read_formulas()) for hits in found]

            return rank_formulas

        rankers: dict[Target, dict[str, Ranker]] = {}
        for task, index in self._open_indexes(model, folder).items():
            if task == 1:
                found = index.open_rankers(lambda topic: read_post(topic, 1))
                named: Mapping[str, Ranker] = found
            else:
                found = index.open_rankers(
                    lambda topic: read_formula(topic.asked_formula)
                )
                named = {kind: name(rank) for kind, rank in found.items()}
            rankers[_TARGETS[task]] = {_NAMES[k]: rank for k, rank in named.items()}
        return Rankings(rankers)

    def _open_indexes(self, model: Path, folder: Path) -> dict[int, ItemIndex]:
        from mathamr_kedro.systems.marf.search import (  # noqa: PLC0415
            ItemIndex,
            MarfModel,
        )

        loaded = MarfModel(model, self.config.model)
        return {
            task: ItemIndex(folder / f"task{task}", loaded, self.config.search)
            for task in self.config.search.tasks
        }

    def _list_items(self, sources: Collection, task: int) -> Iterator[Item]:
        from mathamr_kedro.systems.marf.items import (  # noqa: PLC0415
            read_formula,
            read_post,
        )

        if task == 2:
            chosen = choose_instances(sources.formulas())
            return (read_formula(formula) for formula in chosen.values())
        number = self.config.model.max_formulas
        posts = (p for p in sources.posts() if p.post_type in _POST_TYPES)
        return (read_post(post, number) for post in posts)
