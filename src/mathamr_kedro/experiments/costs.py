"""What a cell cost: times, memory and sizes, each with the machine it belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mathamr_kedro.base.machines import Machine
from mathamr_kedro.evaluation.stats import QUERY_SECONDS, FloatArray

_TRAINING = (
    "seconds_per_epoch", "minutes_per_epoch", "memory_gigabytes", "training_seconds",
)  # fmt: skip
"""Figures that depend on the machine of the training."""


class Costs:
    """The file ``efficiency.json`` of a cell, for one task.

    Args:
        record: what the file holds.
        task: 1 or 2: each searches a part of the index of its own.
    """

    def __init__(self, record: Mapping[str, Any], task: int) -> None:
        self._training = record.get("training", {})
        self._index = record.get("index", {})
        self._systems: Mapping[str, Any] = record.get("systems", {})
        self._part = self._index.get("tasks", {}).get(str(task), {})
        self._searches = {
            str(row["system"]): row
            for row in record.get("search", ())
            if row["task"] == task
        }

    @property
    def systems(self) -> list[str]:
        """Systems that were searched by."""
        return list(self._searches)

    def is_other_paper(self, system: str) -> bool:
        """Whether a system is one of another paper, with an index of its own."""
        return system.partition("/")[0] in self._systems

    def figures(self, system: str | None = None) -> dict[str, float]:
        """Return the figures of efficiency tables by the names of their columns."""
        if system is not None and self.is_other_paper(system):
            return self._describe_system(system.partition("/")[0], system)
        training, part = self._training, self._part
        seconds = training.get("seconds_per_epoch")
        raw = {
            "seconds_per_epoch": seconds,
            "minutes_per_epoch": _scale(seconds, 1 / 60),
            "memory_gigabytes": _scale(training.get("peak_memory_mib"), 1 / 1024),
            "parameters": (training.get("parameters") or {}).get("total"),
            "index_megabytes": _scale(part.get("bytes"), 1e-6),
            "index_gigabytes": _scale(part.get("bytes"), 1e-9),
            "vectors": part.get("vectors"),
            "formulas": self._index.get("formulas"),
            "QPS": self._searches.get(system or "", {}).get("queries_per_second"),
            "training_seconds": _scale(training.get("epochs"), seconds or 0.0),
        }
        return {name: float(value) for name, value in raw.items() if value is not None}

    def _describe_system(self, name: str, system: str) -> dict[str, float]:
        """Return the figures of a system of another paper."""
        found = self._systems[name]
        seconds = found["training_seconds"] / max(found["epochs"], 1)
        raw = {
            "training_seconds": found["training_seconds"],
            "seconds_per_epoch": seconds,
            "minutes_per_epoch": seconds / 60,
            "index_megabytes": _scale(found["index_bytes"], 1e-6),
            "index_gigabytes": _scale(found["index_bytes"], 1e-9),
            "QPS": self._searches.get(system, {}).get("queries_per_second"),
        }
        return {key: float(value) for key, value in raw.items() if value is not None}

    def machines(self, system: str | None = None) -> dict[str, Machine]:
        """Return where figures were measured that depend on it."""
        trained = Machine.read(self._training.get("machine"))
        found = dict.fromkeys(_TRAINING, trained)
        if system in self._searches:
            searched = Machine.read(self._searches[system].get("machine"))
            found |= dict.fromkeys(("QPS", QUERY_SECONDS), searched)
        return found

    def time_queries(
        self, systems: Sequence[str], topics: Sequence[str]
    ) -> dict[str, FloatArray]:
        """Return the seconds of each query by system, if all systems have them.

        Topics that one of the systems could not be asked are skipped for all.
        """
        times = {s: self._searches.get(s, {}).get("query_seconds") for s in systems}
        timed = {s: found for s, found in times.items() if found}
        if len(timed) < len(systems):
            return {}
        asked = [t for t in topics if all(t in found for found in timed.values())]
        if not asked:
            return {}
        return {s: np.array([f[t] for t in asked]) for s, f in timed.items()}

    def describe(self, system: str | None = None) -> list[str]:
        """Explain the figures of a table, and name the machines."""
        notes = []
        if self._part:
            types = ", ".join(self._part["post_types"])
            notes.append(
                f"Index: {self._part['vectors']:,} vectors ({types}) of "
                f"{self._index['width']} numbers, sizes computed; the engine "
                f"{self._index['engine']!r} takes {self._index['bytes'] / 1e9:.2f} GB "
                f"for all posts and formulas ({self._index['bytes_from']})."
            )
        names = {"Training": "seconds_per_epoch", "Search": "QPS"}
        figures, machines = self.figures(system), self.machines(system)
        notes += [
            f"{title}: measured on {machines[key].name}."
            for title, key in names.items()
            if key in figures and key in machines
        ]
        return notes


def _scale(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor
