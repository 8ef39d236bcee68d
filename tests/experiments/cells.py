"""Made-up cells: scores without a training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from mathamr_kedro.experiments.cells import (
    CellOutputs,
    CellRecord,
    CellStore,
    tabulate_results,
)
from mathamr_kedro.experiments.grid import Cell, Experiment, list_cells

MEASURES = ("nDCG'", "MAP'", "P'@10", "Bpref")
PARAMETERS: dict[str, Any] = {
    "preprocessing": {"graph": {"formula_mode": "both"}, "workers": {"workers": 2}},
    "training": {"seed": 1, "loss": {"beta": 1.0}, "compute": {"device": "auto"}},
    "indexing": {"strategy": {"retrieval": "maxsim"}},
    "evaluation": {"depth": 1000},
}


def make_scores(
    systems: dict[str, float],
    num_topics: int = 20,
    seed: int = 0,
    topic_set: str = "own",
) -> pd.DataFrame:
    """Scores around one mean for each system; the same noise for all of them."""
    noise = np.random.default_rng(seed).normal(0, 0.05, (2, num_topics, len(MEASURES)))
    own = {s: np.random.default_rng([seed, int(1e4 * m)]) for s, m in systems.items()}
    rows = [
        (task, topic_set, system, f"{'AB'[task - 1]}.{topic:03d}", measure,
         mean + noise[task - 1, topic, m] + own[system].normal(0, 0.01))
        for task in (1, 2)
        for system, mean in systems.items()
        for topic in range(num_topics)
        for m, measure in enumerate(MEASURES)
    ]  # fmt: skip
    columns = ["task", "topic_set", "system", "topic_id", "measure", "score"]
    return pd.DataFrame(rows, columns=columns)


def make_metrics(scores: pd.DataFrame) -> list[dict[str, Any]]:
    groups = scores.groupby(["task", "topic_set", "system", "measure"], sort=False)
    return [
        {"task": int(task), "topic_set": name, "system": system, "measure": measure,
         "mean": float(found["score"].mean()), "floor": 0.05, "ceiling": 0.99,
         "topics": len(found)}
        for (task, name, system, measure), found in groups
    ]  # fmt: skip


GPU = {"device": "GPU", "cpu": "Xeon", "cores": 8, "gpu": "A100"}
CPU = {"device": "CPU", "cpu": "Xeon", "cores": 8, "gpu": ""}


def time_queries(system: str, task: int, num_topics: int = 20) -> dict[str, float]:
    """The time of each query; all but ``single`` are alike."""
    noise = np.random.default_rng([task, len(system)]).normal(0, 1e-4, num_topics)
    mean = 0.01 if "single" in system else 0.02
    return {f"{'AB'[task - 1]}.{n:03d}": mean + noise[n] for n in range(num_topics)}


def make_efficiency(
    systems: Sequence[str],
    seconds: float = 10.0,
    trained_on: dict[str, Any] = GPU,
    searched_on: dict[str, Any] = CPU,
    timed: bool = False,
) -> dict[str, Any]:
    return {
        "training": {
            "machine": trained_on,
            "seconds_per_epoch": seconds,
            "peak_memory_mib": 2048.0,
            "parameters": {"nodes": 1_000_000, "total": 7_917_000},
        },
        "index": {
            "posts": 100, "formulas": 50, "vectors": 900, "bytes": 999_000_000,
            "bytes_from": "disk", "engine": "edge", "width": 32, "seconds": 1.0,
            "tasks": {
                "1": {"post_types": ["answer"], "posts": 60, "vectors": 800,
                      "bytes": 145_600_000},
                "2": {"post_types": ["question", "answer"], "posts": 90, "vectors": 50,
                      "bytes": 6_400},
            },
        },
        "search": [
            {"task": task, "system": system, "queries": 20, "seconds": 0.5,
             "queries_per_second": 40.0 + task, "machine": searched_on,
             "query_seconds": time_queries(system, task) if timed else {}}
            for system in systems
            for task in (1, 2)
        ],
    }  # fmt: skip


def save_cell(
    store: CellStore,
    cell: Cell,
    systems: dict[str, float],
    collection: str = "data",
    num_topics: int = 20,
    topic_set: str = "own",
    **costs: Any,
) -> Path:
    scores = make_scores(systems, num_topics, cell.seed, topic_set)
    return save_scores(store, cell, scores, list(systems), collection, **costs)


def save_scores(
    store: CellStore,
    cell: Cell,
    scores: pd.DataFrame,
    systems: list[str],
    collection: str = "data",
    **costs: Any,
) -> Path:
    encoder = {"folder": f"encoder-{cell.training}"}
    outputs = CellOutputs(
        CellRecord.identify(cell.parameters, encoder, collection, {}),
        pa.Table.from_pandas(scores, preserve_index=False),
        tabulate_results([]),
        make_metrics(scores),
        make_efficiency(systems, 10.0 + cell.seed, **costs),
        [{"epoch": 1, "train_loss": 0.5, "validation_loss": None}],
    )
    return store.save(outputs)


def fill_store(
    store: CellStore,
    experiment: Experiment,
    means: dict[str, float],
    parameters: dict[str, Any] = PARAMETERS,
) -> list[Cell]:
    """Save all cells of an experiment whose conditions reach the given means."""
    cells = list_cells(experiment, parameters)
    for cell in cells:
        mean = means[cell.condition] + 0.01 * (cell.seed % 3)
        save_cell(store, cell, {"mathamr_plus": mean})
    return cells
