r"""Rankings of formulas: by cosine, a run reranked, and both fused.

::

    bm25_slt            17  4  90                  a run: of BM25, or a file of anybody
    mathamr/rerank       4 17  90                  its formulas by cosine of contexts
    mathamr                                        score-weighted RRF of the two

.. math:: \text{score}(f) = \sum_{r \in \{\text{run}, \text{rerank}\}}
    \frac{s_r(f)}{60 + \text{rank}_r(f)}

Scores :math:`s_r` of each list are scaled to 0 ... 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.types import TopicId
from mathamr_kedro.systems.base import Query, Ranker
from mathamr_kedro.systems.folds import ALL
from mathamr_kedro.systems.fusion import Fusion
from mathamr_kedro.systems.mathamr.contexts import Contexts
from mathamr_kedro.systems.mathamr.encoder import TextEncoder
from mathamr_kedro.systems.mathamr.formula_vectors import FormulaVectors

FirstStage: TypeAlias = Callable[[Sequence[Query], int], Sequence[Hits]]
"""Ranks formulas for topics, by visual ids."""

_Scores: TypeAlias = NDArray[np.float64]


class ContextSearch:
    """Searches formulas by the cosines of their contexts.

    Args:
        vectors: the index.
        contexts: writes queries.
        fold_of: the model of each topic; others have the one for all.
        models: folder of the models.
        max_length: of a text, in tokens.
    """

    def __init__(
        self,
        vectors: FormulaVectors,
        contexts: Contexts,
        fold_of: Mapping[TopicId, str],
        models: Path,
        max_length: int,
    ) -> None:
        self._vectors, self._contexts, self._fold_of = vectors, contexts, fold_of
        self._models, self._max_length = models, max_length
        self._encoders: dict[str, TextEncoder] = {}

    def rank(self, topics: Sequence[Query], depth: int) -> list[FormulaHits]:
        """Return the best formulas for topics."""
        scores = self._score(topics)
        return [self._vectors.rank(scores[t.key], depth) for t in topics]

    def rerank(self, first: FirstStage, deepest: int) -> Ranker:
        """Return what ranks the formulas of a run anew."""

        def rank(topics: Sequence[Query], depth: int) -> list[FormulaHits]:
            lists = first(topics, deepest)
            return self._rerank(topics, lists, depth)

        return rank

    def fuse(self, first: FirstStage, deepest: int) -> Ranker:
        """Return what fuses a run with its reranking."""

        def rank(topics: Sequence[Query], depth: int) -> list[Hits]:
            lists = first(topics, deepest)
            again = self._rerank(topics, lists, deepest)
            fusion = Fusion("score_rrf", depth=depth)
            return [fusion.fuse(pair) for pair in zip(lists, again, strict=True)]

        return rank

    def _rerank(
        self, topics: Sequence[Query], lists: Sequence[Hits], depth: int
    ) -> list[FormulaHits]:
        scores = self._score(topics)
        return [
            self._vectors.rank(scores[topic.key], depth, hits.judged_ids)
            for topic, hits in zip(topics, lists, strict=True)
        ]

    def _score(self, topics: Sequence[Query]) -> dict[TopicId, _Scores]:
        texts = {t.key: self._contexts.write_query(t) for t in topics}
        by_model: dict[str, list[TopicId]] = {}
        for topic in texts:
            by_model.setdefault(self._fold_of.get(topic, ALL), []).append(topic)
        found: dict[TopicId, _Scores] = {}
        for model, names in by_model.items():
            queries = self._open(model).encode([texts[name] for name in names])
            scores = self._vectors.score(model, queries)
            found.update(zip(names, scores, strict=True))
        return found

    def _open(self, model: str) -> TextEncoder:
        if model not in self._encoders:
            folder = self._models / model
            self._encoders[model] = TextEncoder(folder, self._max_length)
        return self._encoders[model]
