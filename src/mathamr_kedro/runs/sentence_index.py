"""Texts by the vectors of a sentence encoder, searched exhaustively."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.text import SentenceEncoder, find_text_model
from mathamr_kedro.vectors import ExactSpace

_TEXTS_AT_ONCE = 2048


class SentenceIndex:
    """A vector of each text, or the sum of its vector and that of its title.

    Args:
        model: a known name, or a folder (:mod:`mathamr_kedro.text.models`).
        texts: ids and texts.
        titles: titles by id, of texts that have one.
        total: number of texts, where it is known; for the lines of progress.
    """

    def __init__(
        self,
        model: str,
        texts: Iterable[tuple[str, str]],
        titles: Mapping[str, str] | None = None,
        total: int | None = None,
    ) -> None:
        self._encoder = SentenceEncoder(find_text_model(model))
        self._space = ExactSpace()
        ids: list[str] = []
        done = self._add_texts(iter(texts), titles or {}, ids)
        name = f"texts encoded by {Path(model).name}"
        deque(report_progress(done, name, int, total=total), maxlen=0)
        self._ids: NDArray[np.object_] = np.array(ids, dtype=np.object_)

    def _add_texts(
        self,
        stream: Iterator[tuple[str, str]],
        titles: Mapping[str, str],
        ids: list[str],
    ) -> Iterator[int]:
        """Encode texts; yield each time how many more are done."""
        while batch := list(islice(stream, _TEXTS_AT_ONCE)):
            ids += [key for key, _ in batch]
            vectors = yield from self._encode(batch, titles)
            self._space.add(RaggedVectors.one_each(vectors))

    def _encode(
        self, batch: Sequence[tuple[str, str]], titles: Mapping[str, str]
    ) -> Generator[int, None, NDArray[np.float32]]:
        parts: list[tuple[NDArray[np.int64], NDArray[np.float32]]] = []
        for part in self._encoder.encode_batches([text for _, text in batch]):
            parts.append(part)
            yield len(part[0])
        vectors = np.empty((len(batch), parts[0][1].shape[1]), dtype=np.float32)
        for rows, found in parts:
            vectors[rows] = found
        titled = [n for n, (key, _) in enumerate(batch) if key in titles]
        if titled:
            vectors[titled] += self._encoder.encode(
                [titles[batch[n][0]] for n in titled]
            )
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors

    def search(self, questions: Sequence[str], depth: int) -> list[Hits]:
        """Return the best texts for each question."""
        if not len(self._ids) or not questions:
            return [Hits([], np.zeros(0)) for _ in questions]
        queries = [row[None] for row in self._encoder.encode(questions)]
        allowed = np.ones(len(self._ids), dtype=np.bool_)
        found = RaggedVectors.of(queries)
        return self._space.search(found, depth, allowed, self._ids.take)
