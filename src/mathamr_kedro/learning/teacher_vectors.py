"""Vectors of whole posts by a sentence encoder, for document vectors to learn from.

A row for each graph, in half precision; zeros for posts that are of no pair::

    document_vectors.npy    0  0.04 -0.11 ...     a question of a pair
                            1  0    0    ...      a post of no pair

:class:`~mathamr_kedro.learning.distillation.TextTeacher` reads the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.errors import MissingInputError
from mathamr_kedro.files import allot_file
from mathamr_kedro.learning.node_vectors import Encode
from mathamr_kedro.progress import report_progress

TEXTS_AT_ONCE = 256
"""Texts that are encoded, and written, together."""


def write_document_vectors(
    path: Path,
    rows: int,
    texts: Iterable[tuple[int, str]],
    encode: Encode,
    total: int | None = None,
) -> None:
    """Write the vectors of some texts to an ``.npy`` file, a batch after another.

    Args:
        path: of the file.
        rows: of the file, whether they have a text or not.
        texts: row and text of each post.
        encode: gives a vector to each text.
        total: number of texts, where it is known; for the lines of progress.

    Raises:
        MissingInputError: there is no text at all.
    """
    table: NDArray[np.float16] | None = None
    batches = _take_batches(iter(texts))
    for batch in report_progress(batches, "texts encoded", len, total=total):
        vectors = encode([text for _, text in batch])
        if table is None:  # on disk: memory holds what was just written
            shape = (rows, vectors.shape[1])
            table = np.lib.format.open_memmap(path, "w+", np.float16, shape)
            allot_file(path)
        table[[row for row, _ in batch]] = vectors
    if table is None:
        raise MissingInputError(
            "Expected the texts of the posts of training pairs (got none): the table "
            "of posts is of another collection than the graphs; run the stage "
            "'ingestion'"
        )


def _take_batches(
    texts: Iterator[tuple[int, str]],
) -> Iterator[list[tuple[int, str]]]:
    while batch := list(islice(texts, TEXTS_AT_ONCE)):
        yield batch
