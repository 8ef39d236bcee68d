"""An evaluation on its way to the store of finished cells."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pyarrow as pa

from mathamr_kedro.experiments.cells import CellOutputs, CellRecord
from mathamr_kedro.experiments.definition import CELL_STAGES
from mathamr_kedro.experiments.grid import describe_key
from mathamr_kedro.shards import fingerprint

PACKAGES = ("mathamr-kedro", "torch", "numpy", "qdrant-client")


def record_cell(
    scores: pd.DataFrame,
    metrics: Sequence[Mapping[str, Any]],
    efficiency: Mapping[str, Any],
    history: Sequence[Mapping[str, Any]],
    encoder: Mapping[str, Any],
    parameters: Mapping[str, Any],
    collection: str,
    is_current: bool = True,
) -> CellOutputs:
    """Put together what one cell reached.

    Args:
        scores: one row per task, topic set, system, topic and measure.
        metrics: their means.
        efficiency: times and sizes.
        history: of the training.
        encoder: which one was evaluated.
        parameters: all parameters of the run.
        collection: hash of the data.
        is_current: whether the encoder was trained with these very parameters; where
            not, the cell gets a name that no experiment looks for.
    """
    key = describe_key(parameters)
    record = CellRecord(
        key=key if is_current else fingerprint(key, encoder.get("folder")),
        collection=collection,
        seed=int(parameters["training"].get("seed", 0)),
        parameters={stage: parameters[stage] for stage in CELL_STAGES},
        encoder=dict(encoder),
        finished=datetime.now(UTC).isoformat(timespec="milliseconds"),
        versions={name: importlib.metadata.version(name) for name in PACKAGES},
    )
    table = pa.Table.from_pandas(scores, preserve_index=False)
    return CellOutputs(record, table, metrics, efficiency, history)
