"""Nodes of the training stage: hand prepared graphs to ``learning`` and report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mathamr_kedro.base.checksums import check_file, checksum
from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import restore_latex
from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.graph import (
    PreparedGraphs,
    PreparedStore,
    PreprocessingConfig,
    ReleasedEncoder,
)
from mathamr_kedro.graph.shards.writer import place_texts, write_texts
from mathamr_kedro.learning.checkpoints import MODEL
from mathamr_kedro.learning.distillation import FormulaSymbols
from mathamr_kedro.learning.pairs import TrainingPairs
from mathamr_kedro.learning.stage import TrainingStageConfig
from mathamr_kedro.learning.trainer import train
from mathamr_kedro.model.weights import checksum_model, copy_model
from mathamr_kedro.pipelines.training.report import (
    TrainingCurve,
    draw_history,
    write_report,
)
from mathamr_kedro.systems.mathamr_plus import Encoder
from mathamr_kedro.text import SentenceEncoder, find_text_model


def fit_encoder(
    prepared: PreparedStore,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
    posts: ShardedTable | None = None,
) -> EncoderTraining:
    """Train the encoder on the pairs of one configuration, or resume its training.

    ``posts`` are the texts of the teacher of documents, if there is one.
    """
    config = TrainingStageConfig.read(parameters)
    graphs = prepared.open(PreprocessingConfig.read(preprocessing)).check()
    return EncoderTraining(config, graphs, posts)


def report_training(model: Encoder) -> tuple[list[dict[str, Any]], str, Figure]:
    """Report the training of the encoder: its history, a page and a figure."""
    history = model.history
    return history, write_report(model.facts, history), draw_history(history)


@dataclass(frozen=True)
class EncoderTraining:
    """A training that its dataset carries out when it is saved."""

    config: TrainingStageConfig
    graphs: PreparedGraphs
    posts: ShardedTable | None = None

    def train(self, base: Path) -> dict[str, Any]:
        """Train in a folder named by what decides the weights; or resume there.

        The same parameters on the same graphs find their checkpoint; others start
        another training. No epochs take a released encoder as it is; then no pairs are
        needed.
        """
        config, graphs = self.config, self.graphs
        config.tracking.check_machine()
        start = self._find_start()
        folder = base / checksum(config.describe_result(), self._name_inputs(start))
        facts = {
            "folder": folder.name,
            "prepared_graphs": graphs.folder.name,
            "settings": checksum(config.describe_result()),
            "start_from": config.start_from,
        }
        if start is not None and config.num_epochs == 0:
            copy_model(start, folder / MODEL)
            return facts | {
                "best_epoch": 0,
                "best_loss": None,
                "stopped_early": False,
                "training_pairs": 0,
                "validation_pairs": 0,
            }
        folder.mkdir(parents=True, exist_ok=True)
        curve = TrainingCurve(folder / "curve.png")
        rows, is_held_out = graphs.all_pairs()
        result = train(
            graphs.posts,
            TrainingPairs.of_rows(rows, graphs.posts, is_held_out),
            self._encode_documents(folder),
            folder,
            curve.tell,
            start=start,
            symbols=FormulaSymbols.of_graphs(graphs),
        )
        curve.end()
        history = [asdict(record) for record in result.history]
        place, described = config.tracking.mlflow, config.describe_result()
        _track(place, described, history, folder, result.model_dir)
        return facts | {
            "best_epoch": result.best_epoch,
            "best_loss": result.best_loss,
            "stopped_early": result.stopped_early,
            "training_pairs": len(graphs.train_pairs),
            "validation_pairs": len(graphs.validation_pairs),
        }

    def _find_start(self) -> Path | None:
        """Return the folder of the released encoder whose weights come first."""
        if self.config.start_from is None:
            return None
        released = ReleasedEncoder(self.config.start_from)
        released.check(self.graphs)
        return released.folder

    def _name_inputs(self, start: Path | None) -> str:
        """Return what identifies all that a training learns from."""
        parts = [self.graphs.folder.name, self.graphs.made_from]
        if start is not None:
            parts.append(checksum_model(start))
        if self.posts is not None:
            parts.append(self.posts.checksum)
        return "/".join(parts)

    def _encode_documents(self, folder: Path) -> TrainingStageConfig:
        """Encode the texts of all pairs for the teacher of documents, if there is one.

        They are written once: another device would round them otherwise, and so start
        another training.
        """
        if self.posts is None:
            return self.config
        file = folder / "document_vectors.npy"
        if not file.is_file():
            write_document_vectors(file, self.config, self.graphs, self.posts)
        check_file(file, "delete it and run the stage 'training' again")
        teachers = replace(self.config.distillation, document_vectors=str(file))
        return replace(self.config, distillation=teachers)


def write_document_vectors(
    path: Path, config: TrainingStageConfig, graphs: PreparedGraphs, posts: ShardedTable
) -> None:
    """Write an ``.npy`` file with a row per graph, or resume; zeros for no text.

    Only graphs of pairs get a vector.

    Raises:
        MissingInputError: no post of a pair has a text.
    """
    device = str(config.compute.choose_device())
    encoder = SentenceEncoder(find_text_model(config.text_model), device)
    pairs = [graphs.train_pairs, graphs.validation_pairs]
    used = np.unique(np.concatenate(pairs)).tolist()
    places = {graphs.posts.keys[place]: place for place in used}
    texts = place_texts(places, posts.records())
    first = next(texts, None)
    if first is None:
        raise MissingInputError(
            "Expected the texts of the posts of training pairs (got none): the table "
            "of posts is of another collection than the graphs; run the stage "
            "'ingestion'"
        )
    every = ((n, restore_latex(*text)) for n, text in chain([first], texts))
    write_texts(path, len(graphs.posts), every, encoder.encode, len(used))


def _track(
    place: str | None,
    described: Mapping[str, Any],
    history: Sequence[Mapping[str, Any]],
    folder: Path,
    model_dir: Path,
) -> None:
    """Write parameters, the measures of each epoch and the model to MLflow, once."""
    note = folder / "mlflow_run.json"
    known = json.loads(note.read_text(encoding="utf-8")) if note.is_file() else {}
    if place is None or place in known:
        return
    mlflow = import_module("mlflow")
    mlflow.set_tracking_uri(place)
    mlflow.set_experiment("mathamr_plus")
    with mlflow.start_run(run_name=folder.name) as run:
        # Under dotted names; searches need not wait for pandas.
        settings = import_module("pandas").json_normalize(dict(described))
        mlflow.log_params(settings.iloc[0].to_dict())
        for record in history:
            measures = {k: v for k, v in record.items() if isinstance(v, int | float)}
            mlflow.log_metrics(measures, step=int(record["epoch"]))
        mlflow.log_artifacts(str(model_dir), artifact_path="model")
        known[place] = run.info.run_id
    note.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
