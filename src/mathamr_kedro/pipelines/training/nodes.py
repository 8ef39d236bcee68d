"""Nodes of the training stage: hand prepared graphs to ``learning`` and report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import plotly.graph_objects as go

from mathamr_kedro.datasets.encoders import EncoderStore
from mathamr_kedro.graph.configuration import PreprocessingParameters
from mathamr_kedro.graph.prepared import PreparedStore
from mathamr_kedro.learning.config import TrainingConfig
from mathamr_kedro.learning.pairs import list_pairs
from mathamr_kedro.learning.trainer import train
from mathamr_kedro.parameters import read_parameters
from mathamr_kedro.pipelines.training.report import draw_history, write_training_report
from mathamr_kedro.shards import fingerprint


def train_encoder(
    prepared_graphs: PreparedStore,
    encoders: EncoderStore,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> tuple[dict[str, Any], list[dict[str, Any]], str, go.Figure]:
    """Train on the pairs of one configuration, or go on with a stopped training.

    Returns:
        What identifies the best encoder, the history, a report and a figure.
    """
    config = read_parameters(TrainingConfig, parameters, where="training")
    graphs = prepared_graphs.open(PreprocessingParameters.read(preprocessing))
    learn, held_out = graphs.train_pairs, graphs.validation_pairs
    is_held_out = np.repeat([False, True], [len(learn), len(held_out)])
    pairs = list_pairs(np.concatenate([learn, held_out]), graphs.posts, is_held_out)
    made_from = f"{graphs.folder.name}/{graphs.made_from}"
    folder = encoders.folder(config.describe_result(), made_from)
    result = train(graphs.posts, pairs, config, folder)
    history = [asdict(record) for record in result.history]
    encoder = {
        "folder": folder.name,
        "prepared_graphs": graphs.folder.name,
        "settings": fingerprint(config.describe_result()),
        "best_epoch": result.best_epoch,
        "best_loss": result.best_loss,
        "stopped_early": result.stopped_early,
        "training_pairs": len(learn),
        "validation_pairs": len(held_out),
    }
    report = write_training_report(encoder, history)
    return encoder, history, report, draw_history(history)
