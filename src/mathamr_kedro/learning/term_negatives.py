"""Hard negatives by BM25: answers with the words and LaTeX of another question.

::

    miner = TermMiner(pairs, group_pairs(pairs, shards), terms, NegativesConfig(), 0)
    miner.mine(0)      # the wrong documents for pair 0 that share most terms with it

Which documents are wrong is decided by groups of pairs (:mod:`.negatives`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from mathamr_kedro.learning.negatives import NegativesConfig
from mathamr_kedro.learning.pairs import NOTHING, Positions, TrainingPairs


class TermMiner:
    """Finds documents of other groups that share terms with a question.

    Args:
        pairs: questions and documents.
        groups: of each pair; see :func:`~mathamr_kedro.learning.negatives.group_pairs`.
        terms: of each post by its position; a post without terms may be missing.
        config: how many, and from which pool.
        seed: draws the pool.
    """

    def __init__(
        self,
        pairs: TrainingPairs,
        groups: Positions,
        terms: Mapping[int, Sequence[str]],
        config: NegativesConfig,
        seed: int,
    ) -> None:
        self._pairs, self._groups, self._config = pairs, groups, config
        self._terms = terms
        # BM25 comes with a package that a machine for training need not have.
        from mathamr_kedro.text.bm25 import TermIndex  # noqa: PLC0415

        pool = pairs.draw_documents(config.pool, seed)
        documents = zip(pool, pairs.documents[pool], strict=True)
        self._index = TermIndex((str(n), terms.get(int(p), ())) for n, p in documents)
        self._sizes = np.bincount(groups[pool], minlength=int(groups.max()) + 1)

    def mine(self, number: int) -> Positions:
        """(kept,) positions of the negatives of one pair, the best first."""
        config, group = self._config, self._groups[number]
        wanted = config.skip + config.kept
        terms = self._terms.get(int(self._pairs.queries[number]), ())
        hits = self._index.search(terms, wanted + int(self._sizes[group]))
        found = np.array([int(key) for key in hits.ids], dtype=np.int64)
        wrong = found[self._groups[found] != group][config.skip : wanted]
        mined = np.full(config.kept, NOTHING, dtype=np.int64)
        mined[: len(wrong)] = self._pairs.documents[wrong]
        return mined
