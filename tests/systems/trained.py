"""A system that learns, step by step: prepared, trained, indexed, asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mathamr_kedro.base.records import Topic
from mathamr_kedro.systems import Collection, Query
from mathamr_kedro.systems.training import (
    Prepared,
    Training,
    build_index,
    read_counts,
)

TARGETS = {1: "posts", 2: "formulas"}


@dataclass(frozen=True)
class Ranker:
    """One ranking of an index, asked for topics."""

    index: Any
    task: int
    ranking: str
    data: Collection

    def __call__(self, topics: Sequence[Topic], depth: int) -> Sequence[Any]:
        return self.index.rank(
            [self._read(topic) for topic in topics], depth, self.ranking
        )

    def explain(self, topic: Topic, found: str) -> Any:
        return self.index.explain_nodes(self._read(topic), found, self.ranking)

    def _read(self, topic: Topic) -> Query:
        topic = topic._replace(task=f"task{self.task}")
        return Query.of_topic(topic, self.data.trees_of)


class SystemFolder(Training):
    """A training, and the indexes that are built from it beside it."""

    @classmethod
    def create(
        cls, base: Path, name: str, values: Mapping[str, Any], seed: int, data: Any
    ) -> SystemFolder:
        prepared = Prepared.make(base / "prepared", name, values, seed, data)
        return cls.begin(base / name, name, values, seed, prepared)

    @property
    def counts(self) -> Mapping[str, Any]:
        return Prepared(self.prepared).counts

    @property
    def arguments(self) -> list[str]:
        """Those of ``python -m mathamr_kedro.systems`` that train it."""
        return [str(self.prepared), "--out", str(self.folder.parent)]

    def index(self, data: Collection) -> Mapping[str, Any]:
        counts = read_counts(self._build(data))
        tasks = {str(task): counts["rankings"][t] for task, t in TARGETS.items()}
        return {**counts, "rankers": {t: names for t, names in tasks.items() if names}}

    def open(self, data: Collection) -> dict[int, dict[str, Ranker]]:
        index = self.system.open(data, self.model, self._build(data))
        found = {
            task: {
                ranking: Ranker(index, task, ranking, data)
                for ranking in index.list_rankings(t)
            }
            for task, t in TARGETS.items()
        }
        return {task: rankers for task, rankers in found.items() if rankers}

    def _build(self, data: Collection) -> Path:
        return build_index(self.folder / "indexes", self.system, data, self)
