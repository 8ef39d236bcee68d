"""Vectors of whole posts by a sentence encoder, for document vectors to learn from.

A row for each graph, in half precision; zeros for posts that are of no pair::

    document_vectors.npy    0  0.04 -0.11 ...     a question of a pair
                            1  0    0    ...      a post of no pair

:class:`~mathamr_kedro.learning.distillation.TextTeacher` reads the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.graph.shards.texts import write_texts


def write_document_vectors(
    path: Path,
    rows: int,
    texts: Iterable[tuple[int, str]],
    encode: Callable[[Sequence[str]], NDArray[np.float32]],
    total: int | None = None,
) -> None:
    """Write the vectors of some texts, or resume where that was stopped.

    Args:
        path: of the ``.npy`` file.
        rows: of the file, whether they have a text or not.
        texts: row and text of each post, always in the same order.
        encode: gives a vector to each text.
        total: number of texts, if it is known; for the lines of progress.

    Raises:
        MissingInputError: there is no text at all.
    """
    rest = iter(texts)
    first = next(rest, None)
    if first is None:
        raise MissingInputError(
            "Expected the texts of the posts of training pairs (got none): the table "
            "of posts is of another collection than the graphs; run the stage "
            "'ingestion'"
        )
    write_texts(path, rows, chain([first], rest), encode, total)
