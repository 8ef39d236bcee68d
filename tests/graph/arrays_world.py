"""A few AMR records, and the folders of arrays that are built of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from mathamr_kedro.base.records import FormulaMention
from mathamr_kedro.base.workers import WorkerConfig
from mathamr_kedro.graph import (
    BuildBlocks,
    GraphFolder,
    GraphRecord,
    GraphVariant,
    build_arrays,
)

Shards = Mapping[str, Sequence[GraphRecord]]


def mention(number: int, visual_id: str, latex: str = "x") -> FormulaMention:
    return FormulaMention(f"FORMULA_{number}", str(number), visual_id, latex, 0, 9)


RECORDS = [
    GraphRecord(
        "1",
        "(f / functions :mod (g / FORMULA_0) :quant 3)",
        "question",
        (mention(0, "70"),),  # V!𝑥 and V!x
    ),
    GraphRecord("2", "(f / function :ARG0-of (s / solve-01) :quant 12345)", "answer"),
    GraphRecord("3", "(s / set)", "answer"),
]


def build(
    folder: Path,
    shards: Shards,
    variant: GraphVariant | None = None,
    made_from: str = "these",
) -> GraphFolder:
    """Build the arrays of some shards, whose sources are their records."""
    return build_arrays(
        folder,
        made_from,
        {name: repr(records) for name, records in shards.items()},
        BuildBlocks(None, variant or GraphVariant()),
        shards.items,
        WorkerConfig(workers=1),
    )
