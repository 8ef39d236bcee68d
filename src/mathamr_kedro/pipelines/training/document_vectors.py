"""Vectors of texts by a sentence encoder, which document vectors learn from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import restore_latex
from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.experiments.trainings import TrainingStageConfig
from mathamr_kedro.graph import PreparedGraphs
from mathamr_kedro.graph.shards.writer import write_texts
from mathamr_kedro.text import SentenceEncoder, find_text_model


def write_document_vectors(
    path: Path, config: TrainingStageConfig, graphs: PreparedGraphs, posts: ShardedTable
) -> None:
    """Write an ``.npy`` file with a row per graph, or resume; zeros for no text.

    Args:
        path: of the file.
        config: names the sentence encoder.
        graphs: only those of pairs get a vector.
        posts: their texts.

    Raises:
        MissingInputError: no post of a pair has a text.
    """
    device = str(config.compute.choose_device())
    encoder = SentenceEncoder(find_text_model(config.text_model), device)
    pairs = [graphs.train_pairs, graphs.validation_pairs]
    used = np.unique(np.concatenate(pairs)).tolist()
    place = {graphs.posts.keys[p]: p for p in used}

    def restore_texts() -> Iterator[tuple[int, str]]:
        for post in posts.records():
            if post.post_id in place:
                yield place[post.post_id], restore_latex(post.text, post.formula_map)

    texts = restore_texts()
    first = next(texts, None)
    if first is None:
        raise MissingInputError(
            "Expected the texts of the posts of training pairs (got none): the table "
            "of posts is of another collection than the graphs; run the stage "
            "'ingestion'"
        )
    every = chain([first], texts)
    write_texts(path, len(graphs.posts), every, encoder.encode, len(used))
