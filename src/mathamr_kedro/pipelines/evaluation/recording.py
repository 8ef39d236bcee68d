"""Last nodes of the evaluation stage: keep the result where experiments look for it."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.datasets import PenmanShards, ShardedTable
from mathamr_kedro.datasets.mathamr_plus import BuiltVectorIndex
from mathamr_kedro.experiments import (
    COLLECTION,
    CellOutputs,
    CellRecord,
    checksum_collection,
)
from mathamr_kedro.experiments.cells import tabulate_results
from mathamr_kedro.experiments.trainings import TrainingStageConfig
from mathamr_kedro.graph import PreprocessingConfig
from mathamr_kedro.pipelines.evaluation.report import DataFrame
from mathamr_kedro.systems.mathamr_plus import Encoder
from mathamr_kedro.trec import Run

logger = logging.getLogger(__name__)

Values = Mapping[str, Any]

_PICTURE = re.compile(r"^!\[.*\)\n+", re.MULTILINE)
"""Of a page; the folder of a cell has none."""


def identify_evaluation(
    model: Encoder,
    index: BuiltVectorIndex,
    amr_parser: Values,
    parameters: Values,
    **data: PenmanShards | ShardedTable,
) -> CellRecord:
    """Note under which parameters, and on which data, the encoder was evaluated."""
    collection = checksum_collection(*(data[name] for name in COLLECTION))
    graphs = PreprocessingConfig.read(parameters["preprocessing"])
    training = TrainingStageConfig.read(parameters["training"])
    trained = (model.facts["prepared_graphs"], model.facts.get("settings"))
    is_current = trained == (graphs.key, checksum(training.describe_result()))
    if not is_current:
        logger.warning(
            "encoder %s was trained with other parameters than the present ones: no "
            "experiment will count its scores",
            model.folder.name,
        )
    changes = index.read_changes()
    if changes:
        logger.warning(
            "%d posts were added and %d deleted since indexing: the scores are not "
            "those of the collection and get a cell of their own",
            len(changes.added),
            len(changes.deleted),
        )
        added = {key: checksum(*post) for key, post in changes.added.items()}
        collection = checksum(collection, added, sorted(changes.deleted))
    named = {**model.facts, "vectors": index.encoder}
    record = CellRecord.identify(parameters, named, collection, is_current)
    return replace(record, amr_parser=dict(amr_parser))


def record_evaluation(
    record: CellRecord,
    scores: DataFrame,
    metrics: Sequence[Values],
    efficiency: Values,
    training_history: Sequence[Values],
    report: str,
    system_runs: Sequence[Run],
    judgments: ShardedTable,
) -> CellOutputs:
    """Record the evaluation where experiments look for finished cells.

    The report is written last of all, so a recorded cell lacks nothing.
    """
    table = pa.Table.from_pandas(scores, preserve_index=False)
    results = tabulate_results(system_runs, judgments.records())
    page = _PICTURE.sub("", report)
    outputs = CellOutputs(
        record, table, metrics, efficiency, training_history, page, results
    )
    return outputs.finish()
