"""Partitions, their results, and the tasks that they are cut into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from mathamr_kedro.base.workers.job import Reason


class Partition(NamedTuple):
    """A named piece of the work; its items are independent of each other."""

    name: str
    items: Sequence[Any]


class Failed(NamedTuple):
    """Replaces the result of an item that no worker could finish."""

    reason: Reason | Literal["worker_died"]
    detail: str


class PartitionResult(NamedTuple):
    """A finished partition: one result, or :class:`Failed`, per item."""

    name: str
    items: Sequence[Any]
    results: list[Any]


@dataclass
class OpenPartition:
    """A partition on its way."""

    partition: Partition
    missing: int
    results: list[Any]


@dataclass
class Task:
    """Items ``start`` to ``stop`` of an open partition."""

    owner: OpenPartition
    start: int
    stop: int
    attempts: int = 0
    losses: int = 0

    @property
    def items(self) -> Sequence[Any]:
        """The items of the function."""
        return self.owner.partition.items[self.start : self.stop]

    def finish(self, results: Sequence[Any]) -> None:
        """Put results, one per item, into their places."""
        self.owner.results[self.start : self.stop] = results
        self.owner.missing -= len(results)
