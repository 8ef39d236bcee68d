"""Nodes of the training stage: hand prepared graphs to ``learning`` and report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeAlias

from matplotlib.figure import Figure

from mathamr_kedro.datasets import EncoderStore, ShardedTable
from mathamr_kedro.experiments.released_settings import ReleasedSettings
from mathamr_kedro.graph import (
    PreparedGraphs,
    PreparedStore,
    PreprocessingConfig,
    ReleasedEncoder,
)
from mathamr_kedro.learning.formula_symbols import FormulaSymbols
from mathamr_kedro.learning.pairs import TrainingPairs
from mathamr_kedro.learning.trainer import MODEL, train
from mathamr_kedro.model.weights import checksum_model, copy_model
from mathamr_kedro.pipelines.training.curve import TrainingCurve
from mathamr_kedro.pipelines.training.document_vectors import DocumentVectors
from mathamr_kedro.pipelines.training.encoder_facts import (
    describe_training,
    name_encoder,
)
from mathamr_kedro.pipelines.training.parameters import TrainingStageConfig
from mathamr_kedro.pipelines.training.report import report_training
from mathamr_kedro.pipelines.training.tracking import Tracker

_Outputs: TypeAlias = tuple[dict[str, Any], list[dict[str, Any]], str, Figure]


def make_document_vectors(
    prepared_graphs: PreparedStore,
    posts: ShardedTable,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> DocumentVectors:
    """Prepare the encoding of the texts of all pairs, for the teacher of documents."""
    graphs = prepared_graphs.open(PreprocessingConfig.read(preprocessing))
    return DocumentVectors(TrainingStageConfig.read(parameters), graphs, posts)


def train_encoder(
    prepared_graphs: PreparedStore,
    encoders: EncoderStore,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
    document_vectors: DocumentVectors | None = None,
) -> _Outputs:
    """Train on the pairs of one configuration, or resume a stopped training.

    No epochs take a released encoder as it is; then no pairs are needed.

    Returns:
        What identifies the best encoder, the history, a report and a figure.
    """
    config = TrainingStageConfig.read(parameters)
    ReleasedSettings({"training": parameters, "preprocessing": preprocessing}).warn()
    tracker = Tracker(config.tracking)
    graphs = prepared_graphs.open(PreprocessingConfig.read(preprocessing)).check()
    start = _find_start(config, graphs)
    if start is not None and config.num_epochs == 0:
        return _use_released(config, graphs, start, encoders)
    made_from = _name_inputs(graphs, start, document_vectors)
    folder = encoders.folder(config.describe_result(), made_from)
    folder.mkdir(parents=True, exist_ok=True)
    given = config
    if document_vectors is not None:
        # Written once: another device would round them otherwise, and so start another
        # training.
        path = folder / "document_vectors.npy"
        file = encoders.complete_file(path, document_vectors.write)
        teachers = replace(config.distillation, document_vectors=file)
        given = replace(config, distillation=teachers)
    curve = TrainingCurve(folder / "curve.png")
    rows, is_held_out = graphs.all_pairs()
    result = train(
        graphs.posts,
        TrainingPairs.of_rows(rows, graphs.posts, is_held_out),
        given,
        folder,
        curve.tell,
        start=start,
        symbols=FormulaSymbols.of_graphs(graphs),
    )
    curve.end()
    history = [asdict(record) for record in result.history]
    tracker.track(config.describe_result(), history, folder, result.model_dir)
    encoder = describe_training(config, graphs, folder, result)
    return encoder, history, *report_training(encoder, history)


def _find_start(config: TrainingStageConfig, graphs: PreparedGraphs) -> Path | None:
    """Return the folder of the released encoder whose weights come first."""
    if config.start_from is None:
        return None
    ReleasedEncoder(config.start_from).check(graphs)
    return ReleasedEncoder(config.start_from).folder


def _name_inputs(
    graphs: PreparedGraphs, start: Path | None, texts: DocumentVectors | None
) -> str:
    """Return what identifies all that a training learns from."""
    parts = [graphs.folder.name, graphs.made_from]
    if start is not None:
        parts.append(checksum_model(start))
    if texts is not None:
        parts.append(texts.made_from)
    return "/".join(parts)


def _use_released(
    config: TrainingStageConfig,
    graphs: PreparedGraphs,
    start: Path,
    encoders: EncoderStore,
) -> _Outputs:
    """Put a copy of a released encoder where a trained one would be."""
    made_from = f"{graphs.folder.name}/{graphs.made_from}/{checksum_model(start)}"
    folder = encoders.folder(config.describe_result(), made_from)
    copy_model(start, folder / MODEL)
    encoder = {
        **name_encoder(config, graphs, folder),
        "best_epoch": 0,
        "best_loss": None,
        "stopped_early": False,
        "training_pairs": 0,
        "validation_pairs": 0,
    }
    return encoder, [], *report_training(encoder, [], start)
