"""What later stages are told about an encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.graph import PreparedGraphs
from mathamr_kedro.learning.trainer import TrainingResult
from mathamr_kedro.pipelines.training.parameters import TrainingStageConfig


def name_encoder(
    config: TrainingStageConfig, graphs: PreparedGraphs, folder: Path
) -> dict[str, Any]:
    """Return what identifies an encoder, however it came about."""
    return {
        "folder": folder.name,
        "prepared_graphs": graphs.folder.name,
        "settings": checksum(config.describe_result()),
        "start_from": config.start_from,
    }


def describe_training(
    config: TrainingStageConfig,
    graphs: PreparedGraphs,
    folder: Path,
    result: TrainingResult,
) -> dict[str, Any]:
    """Return what identifies an encoder that was trained, and how that went."""
    return {
        **name_encoder(config, graphs, folder),
        "best_epoch": result.best_epoch,
        "best_loss": result.best_loss,
        "stopped_early": result.stopped_early,
        "training_pairs": len(graphs.train_pairs),
        "validation_pairs": len(graphs.validation_pairs),
    }
