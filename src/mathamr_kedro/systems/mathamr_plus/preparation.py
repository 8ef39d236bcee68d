"""What MathAMR+ learns from: numbers for its graphs, pairs, vectors of texts."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

import numpy as np

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.records import restore_latex
from mathamr_kedro.corpus import FormulaIds
from mathamr_kedro.graph import (
    PreparedGraphs,
    PreprocessingConfig,
    encode_texts,
    prepare_graphs,
)
from mathamr_kedro.graph.shards.texts import place_texts, write_texts
from mathamr_kedro.learning.stage import TrainingStageConfig
from mathamr_kedro.systems.base import Collection
from mathamr_kedro.text import SentenceEncoder, find_text_model


def prepare_collection(
    folder: Path,
    preprocessing: PreprocessingConfig,
    training: TrainingStageConfig,
    data: Collection,
) -> PreparedGraphs:
    """Count vocabularies, split pairs, encode texts; or find what was prepared so.

    Args:
        folder: of all prepared graphs.
        preprocessing: names the folder of these; may ask for vectors of texts.
        training: may have a teacher of documents, which reads texts, too.
        data: arrays of graphs, pairs, formulas, and the texts of posts and topics.

    Raises:
        MalformedInputError: a formula that may be returned has no graph.
    """
    prepared = prepare_graphs(
        folder,
        data.arrays,
        ((pair.question_id, pair.answer_id) for pair in data.pairs()),
        FormulaIds(data.formula_ids()),
        preprocessing,
        data.checksums["pairs"],
        data.checksums["formulas"],
    )
    if preprocessing.text_model is not None:
        encoder = SentenceEncoder(find_text_model(preprocessing.text_model))
        encode_texts(prepared, data.posts(), data.topics(), encoder.encode)
    if training.makes_document_vectors:
        write_document_vectors(prepared, training, data)
    return prepared


def write_document_vectors(
    prepared: PreparedGraphs, training: TrainingStageConfig, data: Collection
) -> None:
    """Encode the texts of all pairs for the teacher of documents, or resume.

    They are written once: another device would round them otherwise, and so start
    another training. Graphs of no pair have zeros.

    Raises:
        MissingInputError: no post of a pair has a text.
    """
    device = str(training.compute.choose_device())
    encoder = SentenceEncoder(find_text_model(training.text_model), device)
    pairs = np.concatenate([prepared.train_pairs, prepared.validation_pairs])
    used, graphs = np.unique(pairs).tolist(), prepared.posts
    texts = place_texts({graphs.keys[place]: place for place in used}, data.posts())
    first = next(texts, None)
    if first is None:
        raise MissingInputError(
            "Expected the texts of the posts of training pairs (got none): the table "
            "of posts is of another collection than the graphs; run the stage "
            "'ingestion'"
        )
    every = ((n, restore_latex(*text)) for n, text in chain([first], texts))
    path = prepared.folder / training.document_vectors
    write_texts(path, len(graphs), every, encoder.encode, len(used))
