"""MaRF as a system of a paper: prepared, trained, indexed, asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

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

_POST_TYPES = ("answer", "document")
"""Types of post that Task 1 may return."""
_NAMES = {"fused": "marf", "context": "marf/context", "formula": "marf/formula"}


class Marf:
    """Fusion of a text encoder and a formula encoder (Wang et al. 2026)."""

    Config: ClassVar[type] = MarfConfig
    READS: ClassVar[tuple[str, ...]] = ("posts", "pairs")
    name = "marf"
    finds: frozenset[Target] = frozenset({"posts", "formulas"})
    reads = ("posts", "formulas")

    def __init__(self, config: MarfConfig) -> None:
        self.config = config
        self._models: dict[Path, Any] = {}

    # What a bare machine for training lacks is loaded in the steps that need it.

    def prepare(self, sources: Collection, folder: Path) -> Mapping[str, Any]:
        """Write posts of training pairs as tokens, and the context encoder."""
        from mathamr_kedro.systems.marf.preparation import (  # noqa: PLC0415
            Preparation,
        )

        return Preparation(sources, folder, self.config.model).run()

    def train(self, prepared: Path, folder: Path, seed: int) -> Epochs:
        """Train both encoders, then their fusion; or go on."""
        from mathamr_kedro.systems.marf.training import (  # noqa: PLC0415
            MarfTraining,
        )

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
        """Return ``marf``, and its encoders alone as far as they are indexed."""
        from mathamr_kedro.systems.marf.items import Item  # noqa: PLC0415

        rankers: dict[Target, dict[str, Ranker]] = {}
        for task, index in self._open_indexes(model, folder).items():
            if task == 1:
                found: Mapping[str, Ranker] = index.rankers(
                    lambda topic: Item.of_post(topic, 1)
                )
            else:
                found = {
                    kind: _NamedFormulas(rank, sources)
                    for kind, rank in index.rankers(
                        lambda topic: Item.of_formula(topic.asked_formula)
                    ).items()
                }
            rankers[_TARGETS[task]] = {
                _NAMES[kind]: rank for kind, rank in found.items()
            }
        return Rankings(rankers)

    def _open_indexes(self, model: Path, folder: Path) -> dict[int, Any]:
        from mathamr_kedro.systems.marf.indexing import ItemIndex  # noqa: PLC0415
        from mathamr_kedro.systems.marf.model import MarfModel  # noqa: PLC0415

        if model not in self._models:
            self._models[model] = MarfModel(model, self.config.model)
        loaded = self._models[model]
        return {
            task: ItemIndex(folder / f"task{task}", loaded, self.config.search)
            for task in self.config.search.tasks
        }

    def _list_items(self, sources: Collection, task: int) -> Iterator[Any]:
        from mathamr_kedro.systems.marf.items import Item  # noqa: PLC0415

        if task == 2:
            chosen = choose_instances(sources.formulas())
            return (Item.of_formula(formula) for formula in chosen.values())
        number = self.config.model.formulas_of_a_post
        posts = (p for p in sources.posts() if p.post_type in _POST_TYPES)
        return (Item.of_post(post, number) for post in posts)


_TARGETS: Mapping[int, Target] = {1: "posts", 2: "formulas"}
"""What each task returns."""


class _NamedFormulas:
    """Ranks formulas, with their visual ids and posts.

    Args:
        rank: finds formulas by id.
        sources: the collection.
    """

    def __init__(self, rank: Ranker, sources: Collection) -> None:
        self._rank, self._sources = rank, sources
        self._formulas: Any = None

    def __call__(self, topics: Sequence[Query], depth: int) -> list[FormulaHits]:
        if self._formulas is None:
            self._formulas = choose_instances(self._sources.formulas())
        found = self._rank(topics, depth)
        return [name_formulas(hits, self._formulas) for hits in found]
