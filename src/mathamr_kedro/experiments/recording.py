"""An evaluation on its way to the store of finished cells."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from mathamr_kedro.experiments.cells import CellOutputs, CellRecord
from mathamr_kedro.experiments.definition import CELL_STAGES
from mathamr_kedro.experiments.grid import describe_key
from mathamr_kedro.files import fingerprint

PACKAGES = ("mathamr-kedro", "torch", "numpy", "qdrant-client")


def describe_cell(
    parameters: Mapping[str, Any],
    encoder: Mapping[str, Any],
    collection: str,
    is_current: bool = True,
) -> CellRecord:
    """Return what identifies a cell.

    Args:
        parameters: all parameters of the run.
        encoder: which one is evaluated.
        collection: hash of the data.
        is_current: whether the encoder was trained with these very parameters; where
            not, the cell gets a name that no experiment looks for.
    """
    key = describe_key(parameters)
    return CellRecord(
        key=key if is_current else fingerprint(key, encoder.get("folder")),
        collection=collection,
        seed=int(parameters["training"].get("seed", 0)),
        parameters={stage: parameters[stage] for stage in CELL_STAGES},
        encoder=dict(encoder),
        finished="",
        versions={name: importlib.metadata.version(name) for name in PACKAGES},
    )


def finish_cell(outputs: CellOutputs) -> CellOutputs:
    """Note the time."""
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return replace(outputs, record=replace(outputs.record, finished=now))
