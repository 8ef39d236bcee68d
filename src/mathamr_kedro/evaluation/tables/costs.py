"""What training, index and searches cost: figures of tables, and words about them.

Both read the record of an evaluation, ``efficiency.json``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from mathamr_kedro.base.machines import Machine
from mathamr_kedro.evaluation.stats import QUERY_SECONDS, FloatArray
from mathamr_kedro.evaluation.tables.table import Column, Labels, Table, Values

TASK_COUNTS = {"1": ("vectors", "post_bytes"), "2": ("formulas", "formula_bytes")}
"""Which vectors of a type of post a task searches, and their bytes."""
_TRAINING = (
    "seconds_per_epoch", "minutes_per_epoch", "memory_gigabytes", "training_seconds",
)  # fmt: skip
"""Figures that depend on the machine of the training."""


class Costs:
    """What a cell cost, for one task: times, memory and sizes, each with its machine.

    It is made from what ``efficiency.json`` holds.
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
        training = self._training
        raw = {
            "QPS": self._searches.get(system or "", {}).get("queries_per_second"),
            "seconds_per_epoch": training.get("seconds_per_epoch"),
            "training_seconds": _scale(
                training.get("epochs"), training.get("seconds_per_epoch") or 0.0
            ),
        }
        if system is not None and self.is_other_paper(system):
            own = self._systems[system.partition("/")[0]]
            size, seconds = own["index_bytes"], own["training_seconds"]
            raw["training_seconds"] = seconds
            raw["seconds_per_epoch"] = seconds / max(own["epochs"], 1)
        else:
            size = self._part.get("bytes")
            raw |= {
                "memory_gigabytes": _scale(training.get("peak_memory_mib"), 1 / 1024),
                "parameters": (training.get("parameters") or {}).get("total"),
                "vectors": self._part.get("vectors"),
                "formulas": self._index.get("formulas"),
            }
        raw["minutes_per_epoch"] = _scale(raw["seconds_per_epoch"], 1 / 60)
        raw["index_megabytes"] = _scale(size, 1e-6)
        raw["index_gigabytes"] = _scale(size, 1e-9)
        return {name: float(value) for name, value in raw.items() if value is not None}

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


def describe_efficiency(efficiency: Mapping[str, Any]) -> Iterator[str]:
    """Yield the section of a page on trainings, index and searches, as Markdown."""
    training = efficiency["training"]
    for part in training.get("by_machine", [training]):
        if part["seconds_per_epoch"] is not None:
            machine = Machine.read(part["machine"])
            yield (
                f"- Training: {part['seconds_per_epoch']:.1f} s per epoch, at most "
                f"{part['peak_memory_mib']:,.0f} MiB ({machine.device or 'unknown'} "
                f"memory), on {machine.name} ({part['epochs']} epochs)."
            )
    parameters = training["parameters"]
    parts = ", ".join(f"{n} {c:,}" for n, c in parameters.items() if n != "total")
    yield f"- Parameters: {parameters['total']:,} ({parts})."
    yield from _describe_index(efficiency["index"])
    columns = (
        Column("queries", "Queries", 0),
        Column("seconds", "Seconds", 2),
        Column("queries_per_second", "Queries per second", 1),
    )
    rows = {
        (str(row["task"]), row["system"], Machine.read(row["machine"]).name): row
        for row in efficiency["search"]
    }
    labels = ("Task", "System", "Machine")
    batches = {row["queries_per_batch"] for row in efficiency["search"]}
    title = f"Searches, {max(batches, default=1)} at once"
    yield Table(title, labels, columns, rows).to_markdown()


def _describe_index(index: Mapping[str, Any]) -> Iterator[str]:
    """Yield the size of the index: the whole, and by task and type of post."""
    yield (
        f"- Index: {index['posts']:,} posts, {index['formulas']:,} formulas, "
        f"{index['vectors']:,} vectors of {index['width']} numbers; the engine "
        f"'{index['engine']}' takes {index['bytes'] / 2**20:,.1f} MiB "
        f"({index['bytes_from']}), built in {index['seconds']:.1f} s.\n"
    )
    columns = (
        Column("posts", "Posts", 0),
        Column("vectors", "Vectors", 0),
        Column("bytes", "MiB", 1, scale=1 / 2**20),
    )
    rows: dict[Labels, Values] = {}
    for task, (vectors, size) in TASK_COUNTS.items():
        whole = index["tasks"][task]
        for name in whole["post_types"]:
            found = index["post_types"][name]
            own = {**found, "vectors": found[vectors], "bytes": found[size]}
            rows[task, name] = own
        rows[task, "together"] = whole
    notes = ("MiB: computed as vectors × numbers × bytes; documents count twice.",)
    labels = ("Task", "Post type")
    yield Table("Index by task", labels, columns, rows, notes).to_markdown()
