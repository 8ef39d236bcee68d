"""Nodes of the training stage: hand prepared graphs to ``learning`` and report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from mathamr_kedro.datasets.encoders import EncoderStore
from mathamr_kedro.datasets.sharded_table import ShardedTable
from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.experiments.trainings import TrainingParameters
from mathamr_kedro.files import fingerprint, replace_file
from mathamr_kedro.graph.configuration import PreprocessingParameters
from mathamr_kedro.graph.prepared import PreparedGraphs, PreparedStore
from mathamr_kedro.graph.released import check_graphs, find_released
from mathamr_kedro.learning.formula_symbols import name_graph_symbols
from mathamr_kedro.learning.negatives import group_pairs
from mathamr_kedro.learning.node_vectors import build_node_vectors
from mathamr_kedro.learning.pairs import Positions, TrainingPairs, list_pairs
from mathamr_kedro.learning.rounds import train_in_rounds
from mathamr_kedro.learning.teacher_vectors import write_document_vectors
from mathamr_kedro.learning.term_negatives import TermMiner
from mathamr_kedro.learning.trainer import MODEL, digest_model
from mathamr_kedro.model.backends import choose_device
from mathamr_kedro.model.weights import copy_model
from mathamr_kedro.pipelines.training.report import (
    draw_history,
    write_released_report,
    write_training_report,
)
from mathamr_kedro.pipelines.training.tracking import check_tracking, track_training
from mathamr_kedro.progress import report_progress
from mathamr_kedro.records import MinedNegatives
from mathamr_kedro.runs import find_minilm
from mathamr_kedro.shards import EndOfShards, Shard
from mathamr_kedro.text.bert import SentenceEncoder
from mathamr_kedro.text.terms import restore_latex, split_text

_PAIRS_PER_SHARD = 1000
_DUPLICATE = "duplicate"

VectorsWriter: TypeAlias = Callable[[Path], None]
"""Writes vectors to an ``.npy`` file."""


def mine_text_negatives(
    prepared_graphs: PreparedStore,
    posts: ShardedTable | None,
    post_links: ShardedTable | None,
    finished: Callable[[str], frozenset[str]],
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> Iterator[Shard | EndOfShards]:
    """Yield hard negatives of the training pairs by BM25, where they are asked for."""
    settings = TrainingParameters.read(parameters)
    if settings.negatives.source != "bm25" or settings.num_epochs == 0:
        return
    if posts is None:
        raise MissingInputError(
            "Expected the posts of the collection for training.negatives.source "
            "'bm25'; run the stage 'ingestion'"
        )
    graphs = prepared_graphs.open(PreprocessingParameters.read(preprocessing))
    made_from = _name_negatives(settings, graphs, posts, post_links)
    pairs = list_pairs(graphs.train_pairs, graphs.posts)
    starts = range(0, len(pairs), _PAIRS_PER_SHARD)
    missing = [a for a in starts if f"pairs-{a:08d}" not in finished(made_from)]
    if missing:
        groups = _group(graphs, pairs, post_links)
        terms = _split_posts(graphs, pairs, posts)
        miner = TermMiner(pairs, groups, terms, settings.negatives, settings.seed)
        keys = graphs.posts.keys
        for start in report_progress(missing, "shards of hard negatives"):
            numbers = range(start, min(start + _PAIRS_PER_SHARD, len(pairs)))
            rows = [
                MinedNegatives(
                    keys[pairs.queries[n]],
                    keys[pairs.documents[n]],
                    tuple(keys[p] for p in miner.mine(n) if p >= 0),
                )
                for n in numbers
            ]
            counts = {"written": len(rows)}
            yield Shard(f"pairs-{start:08d}", made_from, rows, counts)
    yield EndOfShards(made_from)


def make_node_vectors(
    prepared_graphs: PreparedStore,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> NDArray[np.float32]:
    """Return start vectors of the node types; no rows where none are asked for."""
    settings = TrainingParameters.read(parameters)
    width = settings.model.hidden_dim
    if not settings.node_vectors.wanted:
        return np.zeros((0, width), dtype=np.float32)
    graphs = prepared_graphs.open(PreprocessingParameters.read(preprocessing))
    encode = None
    if settings.node_vectors.concepts == "minilm":
        encoder = SentenceEncoder(find_minilm())

        def encode(texts: Any) -> NDArray[np.float32]:
            return np.asarray(encoder.encode(texts))

    return build_node_vectors(
        graphs.types.types, width, settings.node_vectors, encode, settings.seed
    )


def make_document_vectors(
    prepared_graphs: PreparedStore,
    posts: ShardedTable | None,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> VectorsWriter:
    """Return what encodes the texts of all pairs and writes their vectors.

    It takes long, and a training needs it once: the training calls it where vectors
    are asked for and not there yet. What it needs is looked for here.
    """
    settings = TrainingParameters.read(parameters)
    if not settings.makes_document_vectors:
        return _write_nothing
    if posts is None:
        raise MissingInputError(
            "Expected the posts of the collection for "
            "training.distillation.document_weight or score_weight without "
            "document_vectors; run the stage 'ingestion'"
        )
    graphs = prepared_graphs.open(PreprocessingParameters.read(preprocessing))
    device, folder = str(choose_device(settings.compute)), find_minilm()

    def write(path: Path) -> None:
        encoder = SentenceEncoder(folder, device)
        texts = _restore_posts(graphs, posts)
        write_document_vectors(
            path, len(graphs.posts), texts, lambda t: encoder.encode(t).numpy()
        )

    return write


def train_encoder(  # noqa: PLR0913, PLR0917 - one for each entry of the catalog
    prepared_graphs: PreparedStore,
    encoders: EncoderStore,
    mined_negatives: ShardedTable | None,
    node_vectors: NDArray[np.float32],
    document_vectors: VectorsWriter,
    posts: ShardedTable | None,
    post_links: ShardedTable | None,
    parameters: Mapping[str, Any],
    preprocessing: Mapping[str, Any],
) -> tuple[dict[str, Any], list[dict[str, Any]], str, go.Figure]:
    """Train on the pairs of one configuration, or go on with a stopped training.

    No epochs take a released encoder as it is; then no pairs are needed.

    Returns:
        What identifies the best encoder, the history, a report and a figure.
    """
    settings = TrainingParameters.read(parameters)
    check_tracking(settings.tracking)
    graphs = prepared_graphs.open(PreprocessingParameters.read(preprocessing))
    (rows, is_held_out), groups = graphs.all_pairs(), None
    made_from = f"{graphs.folder.name}/{graphs.made_from}"
    start = None
    if settings.start_from is not None:
        check_graphs(settings.start_from, graphs)
        start = find_released(settings.start_from)
        made_from = f"{made_from}/{digest_model(start)}"
        if settings.num_epochs == 0:
            folder = encoders.folder(settings.describe_result(), made_from)
            return _use_released(settings, graphs, start, folder)
    if settings.negatives.source == "bm25":
        expected = _name_negatives(settings, graphs, posts, post_links)
        rows = _add_negatives(rows, graphs, mined_negatives, expected)
        made_from = f"{made_from}/{expected}"
    pairs = list_pairs(rows, graphs.posts, is_held_out)
    if settings.negatives.source == "model":
        groups = _group(graphs, pairs, post_links)
        made_from = f"{made_from}/{fingerprint(groups.tolist())}"
    if settings.makes_document_vectors and posts is not None:
        made_from = f"{made_from}/{posts.fingerprint}"
    described = settings.describe_result()
    folder = encoders.folder(described, made_from)
    folder.mkdir(parents=True, exist_ok=True)
    config = settings
    if settings.node_vectors.wanted:
        config = replace(
            settings,
            node_vectors=type(settings.node_vectors)(),
            pretrained_nodes=_save_vectors(folder, node_vectors),
        )
    if settings.makes_document_vectors:
        path = _write_vectors(folder, document_vectors)
        teachers = replace(settings.distillation, document_vectors=path)
        config = replace(config, distillation=teachers)
    result = train_in_rounds(
        graphs.posts,
        pairs,
        config,
        folder,
        groups=groups,
        start=start,
        symbols=name_graph_symbols(graphs),
    )
    history = [asdict(record) for record in result.history]
    encoder = {
        **_name_encoder(settings, graphs, folder),
        "best_epoch": result.best_epoch,
        "best_loss": result.best_loss,
        "stopped_early": result.stopped_early,
        "training_pairs": len(graphs.train_pairs),
        "validation_pairs": len(graphs.validation_pairs),
    }
    track_training(settings.tracking, described, history, folder, result.model_dir)
    report = write_training_report(encoder, history)
    return encoder, history, report, draw_history(history)


def _use_released(
    settings: TrainingParameters, graphs: PreparedGraphs, start: Path, folder: Path
) -> tuple[dict[str, Any], list[dict[str, Any]], str, go.Figure]:
    """Put a copy of a released encoder where a trained one would be."""
    copy_model(start, folder / MODEL)
    encoder = {
        **_name_encoder(settings, graphs, folder),
        "best_epoch": 0,
        "best_loss": None,
        "stopped_early": False,
        "training_pairs": 0,
        "validation_pairs": 0,
    }
    return encoder, [], write_released_report(encoder, start), draw_history([])


def _name_encoder(
    settings: TrainingParameters, graphs: PreparedGraphs, folder: Path
) -> dict[str, Any]:
    """What identifies an encoder, however it came about."""
    return {
        "folder": folder.name,
        "prepared_graphs": graphs.folder.name,
        "settings": fingerprint(settings.describe_result()),
        "start_from": settings.start_from,
    }


def _name_negatives(
    settings: TrainingParameters,
    graphs: PreparedGraphs,
    posts: ShardedTable | None,
    post_links: ShardedTable | None,
) -> str:
    """Fingerprint of all that decides the negatives by BM25."""
    tables = [None if t is None else t.fingerprint for t in (posts, post_links)]
    chosen = asdict(settings.negatives)
    return fingerprint(
        chosen, settings.seed, graphs.folder.name, graphs.made_from, *tables
    )


def _group(
    graphs: PreparedGraphs, pairs: TrainingPairs, post_links: ShardedTable | None
) -> Positions:
    """Groups of pairs, with the links between questions that ask the same."""
    place = {graphs.posts.keys[q]: int(q) for q in set(pairs.queries.tolist())}
    links = post_links.records() if post_links is not None else ()
    linked = [
        (place[link.post_id], place[link.related_post_id])
        for link in links
        if link.kind == _DUPLICATE
        and link.post_id in place
        and link.related_post_id in place
    ]
    return group_pairs(pairs, graphs.posts, linked)


def _split_posts(
    graphs: PreparedGraphs, pairs: TrainingPairs, posts: ShardedTable
) -> dict[int, list[str]]:
    """Terms of the posts of all pairs, by position."""
    used = {*pairs.queries.tolist(), *pairs.documents.tolist()}
    place = {graphs.posts.keys[p]: p for p in used}
    return {
        place[post.post_id]: split_text(post.text, post.formula_map)
        for post in posts.records()
        if post.post_id in place
    }


def _add_negatives(
    rows: NDArray[np.int64],
    graphs: PreparedGraphs,
    table: ShardedTable | None,
    expected: str,
) -> NDArray[np.int64]:
    """Put mined negatives behind the pairs, as the third column and later ones."""
    if table is None or table.fingerprint != expected:
        raise MissingInputError(
            "Expected hard negatives of these graphs and parameters; run the node "
            "'mine_text_negatives'"
        )
    found = {(r.question_id, r.answer_id): r.negatives for r in table.records()}
    keys, position = graphs.posts.keys, graphs.posts.position
    listed = [found.get((keys[q], keys[a]), ()) for q, a in rows.tolist()]
    columns = np.full((len(rows), max(map(len, listed), default=0)), -1, dtype=np.int64)
    for row, negatives in enumerate(listed):
        columns[row, : len(negatives)] = [position(key) for key in negatives]
    return np.concatenate([rows, columns], 1)


def _write_nothing(path: Path) -> None:
    """Stand for a writer where nobody asks for vectors."""


def _restore_posts(
    graphs: PreparedGraphs, posts: ShardedTable
) -> Iterator[tuple[int, str]]:
    """Yield position and text with LaTeX of the posts of all pairs."""
    used = np.unique(np.concatenate([graphs.train_pairs, graphs.validation_pairs]))
    place = {graphs.posts.keys[p]: p for p in used.tolist()}
    for post in posts.records():
        if post.post_id in place:
            yield place[post.post_id], restore_latex(post.text, post.formula_map)


def _write_vectors(folder: Path, write: VectorsWriter) -> str:
    """Have document vectors written beside the training that uses them, once.

    Another device would round them otherwise, and so start another training.
    """
    path = folder / "document_vectors.npy"
    if not path.is_file():
        with replace_file(path) as part:
            write(part)
    return str(path)


def _save_vectors(folder: Path, vectors: NDArray[np.float32]) -> str:
    """Write start vectors beside the training that uses them."""
    path = folder / "node_vectors.npy"
    with replace_file(path) as part, part.open("wb") as file:
        np.save(file, vectors)
    return str(path)
