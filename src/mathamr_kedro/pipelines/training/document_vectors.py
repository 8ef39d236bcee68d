"""Vectors of texts by a sentence encoder, which document vectors learn from."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.graph import PreparedGraphs
from mathamr_kedro.graph.shards.texts import write_texts
from mathamr_kedro.pipelines.training.parameters import TrainingStageConfig
from mathamr_kedro.text import SentenceEncoder, find_text_model, restore_latex


class DocumentVectors:
    """The texts of all pairs, encoded when a training first asks for them.

    Encoding takes long, and a training needs it once.
    """

    def __init__(
        self, config: TrainingStageConfig, graphs: PreparedGraphs, posts: ShardedTable
    ) -> None:
        self._graphs, self._posts = graphs, posts
        self._device = str(config.compute.choose_device())
        self._model = find_text_model(config.text_model)

    @property
    def made_from(self) -> str:
        """What identifies the texts."""
        return self._posts.checksum

    def write(self, path: Path) -> None:
        """Write an ``.npy`` file with a row per graph, or resume; zeros for no text.

        Raises:
            MissingInputError: no post of a pair has a text.
        """
        encoder = SentenceEncoder(self._model, self._device)
        pairs = [self._graphs.train_pairs, self._graphs.validation_pairs]
        used = np.unique(np.concatenate(pairs)).astype(np.int64)
        texts, rows = self._restore_texts(used), len(self._graphs.posts)
        first = next(texts, None)
        if first is None:
            raise MissingInputError(
                "Expected the texts of the posts of training pairs (got none): the "
                "table of posts is of another collection than the graphs; run the "
                "stage 'ingestion'"
            )
        every = chain([first], texts)
        write_texts(path, rows, every, encoder.encode, len(used))

    def _restore_texts(self, used: NDArray[np.int64]) -> Iterator[tuple[int, str]]:
        """Yield position and text with LaTeX of some posts."""
        place = {self._graphs.posts.keys[p]: p for p in used.tolist()}
        for post in self._posts.records():
            if post.post_id in place:
                yield place[post.post_id], restore_latex(post.text, post.formula_map)
