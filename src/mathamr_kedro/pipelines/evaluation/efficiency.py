"""What the encoder, the index and the searches cost (Tables 4.8 to 4.22)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from mathamr_kedro.base.machines import Machine
from mathamr_kedro.datasets import BuiltIndex
from mathamr_kedro.evaluation.tables.costs import TASK_COUNTS
from mathamr_kedro.systems.base import TASK_1_TYPES
from mathamr_kedro.systems.training import Training
from mathamr_kedro.trec import Run

logger = logging.getLogger(__name__)

Values = Mapping[str, Any]

_INDEX = (
    "engine", "posts", "formulas", "vectors", "width", "bytes", "post_bytes",
    "formula_bytes", "bytes_from", "post_types", "seconds", "machine",
)  # fmt: skip


def describe_training(
    history: Sequence[Values], parameters: Mapping[str, int]
) -> dict[str, Any]:
    """Return time per epoch, peak memory and parameters, with the machine.

    Epochs of a training that went on elsewhere have no common mean: then it is absent,
    and ``by_machine`` has one for each.
    """
    by_machine: dict[Machine, list[Values]] = {}
    for epoch in history:
        by_machine.setdefault(Machine.read(epoch.get("machine")), []).append(epoch)
    parts = [_describe_epochs(*item) for item in by_machine.items()]
    whole: dict[str, Any] = {"seconds_per_epoch": None, "peak_memory_mib": None}
    if len(parts) == 1:
        whole = parts[0]
    elif parts:
        logger.warning(
            "the epochs ran on %d machines (%s), so there is no time per epoch; train "
            "again on one for it (tables 4.8, 4.12, 4.14, 4.20)",
            len(parts),
            "; ".join(machine.name for machine in by_machine),
        )
        whole["by_machine"] = parts
    return whole | {"parameters": dict(parameters)}


def _describe_epochs(machine: Machine, epochs: Sequence[Values]) -> dict[str, Any]:
    seconds = [float(epoch["seconds"]) for epoch in epochs]
    return {
        "epochs": len(epochs),
        "seconds_per_epoch": sum(seconds) / len(seconds),
        "peak_memory_mib": max(float(epoch["memory_mib"]) for epoch in epochs),
        "machine": asdict(machine),
    }


def describe_index(index: Values) -> dict[str, Any]:
    """Return the size of the index, and of the part of it that each task searches.

    Task 1 returns answers (Table 4.20), Task 2 formulas of any post (Table 4.22).
    """
    types: Mapping[str, Values] = index["post_types"]
    searched = {
        "1": {name: types[name] for name in TASK_1_TYPES if name in types},
        "2": {name: found for name, found in types.items() if found["formulas"]},
    }
    tasks = {
        task: {
            "post_types": list(found),
            "posts": sum(part["posts"] for part in found.values()),
            "vectors": sum(part[TASK_COUNTS[task][0]] for part in found.values()),
            "bytes": sum(part[TASK_COUNTS[task][1]] for part in found.values()),
        }
        for task, found in searched.items()
    }
    return {name: index[name] for name in _INDEX} | {"tasks": tasks}


def describe_searches(runs: Sequence[Run], batch_size: int) -> list[dict[str, Any]]:
    """Return the time of the searches of each system, with the machine."""
    return [
        {
            "task": run.task,
            "system": run.name,
            "queries": len(run.lists),
            "queries_per_batch": batch_size,
            "seconds": run.seconds,
            "queries_per_second": len(run.lists) / max(run.seconds, 1e-9),
            "query_seconds": {t: round(s, 7) for t, s in run.query_seconds.items()},
            "machine": asdict(Machine.find(run.device)),
        }
        for run in runs
        if not run.source  # run files were not searched for here
    ]


def describe_systems(
    systems: Sequence[Training | BuiltIndex],
) -> dict[str, dict[str, Any]]:
    """Return what training and index of each system of another paper cost."""
    trained = {t.name: t for t in systems if isinstance(t, Training)}
    return {
        index.name: {
            "epochs": len(trained[index.name].history),
            "training_seconds": sum(e["seconds"] for e in trained[index.name].history),
            "index_bytes": index.counts.get("bytes"),
            "index_seconds": index.counts["seconds"],
            "parts": _describe_parts(trained[index.name].history),
        }
        for index in systems
        if isinstance(index, BuiltIndex)
    }


def _describe_parts(history: Sequence[Values]) -> dict[str, dict[str, float]]:
    """Return what each part cost of a system that is trained in parts."""
    by_part: dict[str, list[Values]] = {}
    for epoch in history:
        if "part" in epoch:
            by_part.setdefault(epoch["part"], []).append(epoch)
    return {
        part: {
            "parameters_millions": epochs[0]["parameters"] / 1e6,
            "epochs": len(epochs),
            "hours": sum(e["seconds"] for e in epochs) / 3600,
            "memory_gigabytes": max(e["memory_mib"] for e in epochs) / 1024,
        }
        for part, epochs in by_part.items()
    }
