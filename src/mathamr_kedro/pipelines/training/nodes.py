"""Nodes of the training stage: hand prepared graphs to ``learning`` and report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.shards import ShardItem
from mathamr_kedro.datasets import EncoderStore, LiveFigure, ShardedTable
from mathamr_kedro.experiments.released_settings import ReleasedSettings
from mathamr_kedro.graph import (
    PreparedGraphs,
    PreparedStore,
    PreprocessingConfig,
    ReleasedEncoder,
)
from mathamr_kedro.learning.formula_symbols import FormulaSymbols
from mathamr_kedro.learning.node_vectors import build_node_vectors
from mathamr_kedro.learning.pairs import Positions, TrainingPairs
from mathamr_kedro.learning.rounds import train_in_rounds
from mathamr_kedro.learning.teacher_vectors import write_document_vectors
from mathamr_kedro.learning.trainer import MODEL
from mathamr_kedro.model.weights import checksum_model, copy_model
from mathamr_kedro.pipelines.training.curve import TrainingCurve
from mathamr_kedro.pipelines.training.encoder_facts import (
    describe_training,
    name_encoder,
)
from mathamr_kedro.pipelines.training.negatives import TextNegatives
from mathamr_kedro.pipelines.training.parameters import TrainingStageConfig
from mathamr_kedro.pipelines.training.report import report_training
from mathamr_kedro.pipelines.training.tracking import Tracker
from mathamr_kedro.text import SentenceEncoder, find_text_model, restore_latex

VectorsWriter: TypeAlias = Callable[[Path], None]
"""Writes vectors to an ``.npy`` file."""
_Outputs: TypeAlias = tuple[dict[str, Any], list[dict[str, Any]], str, go.Figure]


def mine_text_negatives(
    prepared_graphs: PreparedStore,
    posts: ShardedTable | None,
    post_links: ShardedTable | None,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> Iterator[ShardItem]:
    """Mine hard negatives of the training pairs by BM25, where they are asked for."""
    config = TrainingStageConfig.read(parameters)
    if config.negatives.source != "bm25" or config.num_epochs == 0:
        return
    if posts is None:
        raise MissingInputError(
            "Expected the posts of the collection for training.negatives.source "
            "'bm25'; run the stage 'ingestion'"
        )
    graphs = prepared_graphs.open(PreprocessingConfig.read(preprocessing))
    yield from TextNegatives(config, graphs, posts, post_links).mine()


def make_node_vectors(
    prepared_graphs: PreparedStore,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> NDArray[np.float32]:
    """Make start vectors of the node types; no rows where none are asked for."""
    config = TrainingStageConfig.read(parameters)
    width = config.model.hidden_dim
    if not config.node_vectors.wanted:
        return np.zeros((0, width), dtype=np.float32)
    graphs = prepared_graphs.open(PreprocessingConfig.read(preprocessing))
    encode = None
    if config.node_vectors.concepts == "text":
        encode = SentenceEncoder(find_text_model(config.text_model)).encode
    return build_node_vectors(
        graphs.types.types, width, config.node_vectors, encode, config.seed
    )


def make_document_vectors(
    prepared_graphs: PreparedStore,
    posts: ShardedTable | None,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> VectorsWriter:
    """Prepare the encoding of the texts of all pairs, which document vectors imitate.

    Encoding takes long, and a training needs it once: the training calls the returned
    writer where the vectors are asked for and not there yet.
    """
    config = TrainingStageConfig.read(parameters)
    if not config.makes_document_vectors:
        return _write_nothing
    if posts is None:
        raise MissingInputError(
            "Expected the posts of the collection for "
            "training.distillation.document_weight or score_weight without "
            "document_vectors; run the stage 'ingestion'"
        )
    graphs = prepared_graphs.open(PreprocessingConfig.read(preprocessing))
    device = str(config.compute.choose_device())
    folder = find_text_model(config.text_model)

    def write(path: Path) -> None:
        encoder = SentenceEncoder(folder, device)
        used, rows = _list_used(graphs), len(graphs.posts)
        texts = _restore_posts(graphs, posts, used)
        write_document_vectors(path, rows, texts, encoder.encode, len(used))

    return write


def train_encoder(  # noqa: PLR0913, PLR0917 - one for each entry of the catalog
    prepared_graphs: PreparedStore,
    encoders: EncoderStore,
    training_live: LiveFigure,
    mined_negatives: ShardedTable | None,
    node_vectors: NDArray[np.float32],
    document_vectors: VectorsWriter,
    posts: ShardedTable | None,
    post_links: ShardedTable | None,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> _Outputs:
    """Train on the pairs of one configuration, or go on with a stopped training.

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
    negatives = TextNegatives(config, graphs, posts, post_links)
    pairs = _list_pairs(config, graphs, negatives, mined_negatives)
    groups = None
    if config.negatives.source == "model":
        groups = negatives.group(pairs)
    made_from = _name_inputs(config, graphs, start, negatives, groups, posts)
    folder = encoders.folder(config.describe_result(), made_from)
    folder.mkdir(parents=True, exist_ok=True)
    curve = TrainingCurve(training_live)
    result = train_in_rounds(
        graphs.posts,
        pairs,
        _write_vectors(config, encoders, folder, node_vectors, document_vectors),
        folder,
        curve.tell,
        groups=groups,
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


def _list_pairs(
    config: TrainingStageConfig,
    graphs: PreparedGraphs,
    negatives: TextNegatives,
    mined: ShardedTable | None,
) -> TrainingPairs:
    rows, is_held_out = graphs.all_pairs()
    if config.negatives.source == "bm25":
        rows = negatives.add_to(rows, mined)
    return TrainingPairs.of_rows(rows, graphs.posts, is_held_out)


def _name_inputs(
    config: TrainingStageConfig,
    graphs: PreparedGraphs,
    start: Path | None,
    negatives: TextNegatives,
    groups: Positions | None,
    posts: ShardedTable | None,
) -> str:
    """Return what identifies all that a training learns from."""
    parts = [graphs.folder.name, graphs.made_from]
    if start is not None:
        parts.append(checksum_model(start))
    if config.negatives.source == "bm25":
        parts.append(negatives.made_from)
    if groups is not None:
        parts.append(checksum(groups.tolist()))
    if config.makes_document_vectors and posts is not None:
        parts.append(posts.checksum)
    return "/".join(parts)


def _write_vectors(
    config: TrainingStageConfig,
    encoders: EncoderStore,
    folder: Path,
    node_vectors: NDArray[np.float32],
    document_vectors: VectorsWriter,
) -> TrainingStageConfig:
    """Write vectors beside the training that uses them; return where they are.

    Document vectors are written once: another device would round them otherwise, and
    so start another training.
    """
    if config.node_vectors.wanted:
        write = partial(_save_array, node_vectors)
        path = encoders.write_file(folder / "node_vectors.npy", write)
        unset = type(config.node_vectors)()
        config = replace(config, node_vectors=unset, pretrained_nodes=path)
    if config.makes_document_vectors:
        path = encoders.complete_file(folder / "document_vectors.npy", document_vectors)
        teachers = replace(config.distillation, document_vectors=path)
        config = replace(config, distillation=teachers)
    return config


def _save_array(values: NDArray[np.float32], path: Path) -> None:
    with path.open("wb") as file:  # a bare path would get another ending
        np.save(file, values)


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


def _write_nothing(path: Path) -> None:
    """Stand in for a writer where no vectors are asked for."""


def _list_used(graphs: PreparedGraphs) -> NDArray[np.int64]:
    """Return the positions of the posts of all pairs."""
    pairs = [graphs.train_pairs, graphs.validation_pairs]
    return np.unique(np.concatenate(pairs)).astype(np.int64)


def _restore_posts(
    graphs: PreparedGraphs, posts: ShardedTable, used: NDArray[np.int64]
) -> Iterator[tuple[int, str]]:
    """Yield position and text with LaTeX of some posts."""
    place = {graphs.posts.keys[p]: p for p in used.tolist()}
    for post in posts.records():
        if post.post_id in place:
            yield place[post.post_id], restore_latex(post.text, post.formula_map)
