"""From queries to ranked lists: ten ways to find posts, one to find formulas.

==========  ================================================  =======================
retrieval   what is compared (thesis 3.5.2)                   search
==========  ================================================  =======================
single      document vector with document vector              exact or hnsw
rerank      the same for candidates, then MaxSim of these     exact or hnsw, then exact
maxsim      MaxSim over all vectors                           exact or hnsw, which
                                                              walks once or per vector
combined    both of single and maxsim, standardised, added    as these (not in the
                                                              thesis)
==========  ================================================  =======================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.corpus import QueryParts
from mathamr_kedro.graph import SENTENCE, find_owner
from mathamr_kedro.systems.base import TASK_1_TYPES
from mathamr_kedro.vectors.post_vectors import PostEntry, Vectors
from mathamr_kedro.vectors.protocol import (
    HnswWalks,
    PostTypes,
    SearchMode,
    VectorIndex,
    check_post_types,
    document_vector,
)

if TYPE_CHECKING:
    from mathamr_kedro.vectors import EngineConfig


@dataclass(frozen=True)
class Strategy:
    """How posts are found for Task 1."""

    retrieval: Literal["single", "rerank", "maxsim", "combined"] = "maxsim"
    search: Literal["exact", "hnsw"] = "exact"
    candidates: int = 1000
    """The ``k`` of ``rerank``: 1000 and 5000 in Tables 4.15 and 4.16; of ``combined``:
    from each of the two lists."""
    document_weight: float = 1.0
    """Of ``combined``: what document vectors count beside MaxSim, which counts 1."""
    hnsw_ef: int = 128
    """Thesis 3.5.2."""
    hnsw_walks: HnswWalks = "one"
    """Of ``maxsim`` by ``hnsw``: ``per_vector`` as in the thesis (3.5.2), each vector
    of a query separately; or ``one`` for all of them together."""
    depth: int = 1000
    """Posts returned; ARQMath counts 1000."""
    post_types: tuple[str, ...] = TASK_1_TYPES
    """Types of post that may be returned; empty: all. Task 1 asks for answers."""
    name: str = ""
    """In tables and run files; by default what it does, e.g. ``rerank-5000-hnsw``."""
    with_question: float = 0.0
    """Beyond the thesis: share of MaxSim over an answer and its question together."""
    with_document: float = 0.0
    """Beyond the thesis: weight of the similarity of document vectors beside MaxSim,
    both as they are; ``combined`` standardises them, and has ``document_weight``."""
    sentence_weight: float = 1.0
    """Beyond the thesis: of a query's sentences in the mean of MaxSim; formulas and
    the document have 1."""
    query_parts: QueryParts = "all"
    """What of a topic is asked: only its words or only its formulas have graphs of
    their own (``amr_parsing.query_parts``)."""

    def __post_init__(self) -> None:
        check_range(self, "candidates", "hnsw_ef", "depth", least=1)
        check_range(self, "document_weight", "with_document", least=0)
        check_range(self, "with_question", least=0, most=1)
        check_range(self, "sentence_weight", above=0)
        if self.document_weight != 1 and self.retrieval != "combined":
            raise ConfigurationError(
                f"Expected retrieval 'combined' for document_weight "
                f"{self.document_weight!r} (got {self.retrieval!r})"
            )
        if self.hnsw_walks != "one" and (
            self.search != "hnsw" or self.retrieval not in ("maxsim", "combined")
        ):
            raise ConfigurationError(
                "Expected retrieval 'maxsim' or 'combined' and search 'hnsw' for "
                "hnsw_walks "
                f"{self.hnsw_walks!r} (got {self.retrieval!r} and {self.search!r})"
            )
        check_post_types(self.types)
        self._check_weights()
        if not self.name:
            object.__setattr__(self, "name", self._describe())

    def _check_weights(self) -> None:
        if self.mixes and self.retrieval == "single":
            raise ConfigurationError(
                "Expected retrieval 'maxsim', 'rerank' or 'combined' for "
                "with_question, with_document and sentence_weight (got 'single'): they "
                "change MaxSim"
            )
        if self.with_document and self.retrieval == "combined":
            raise ConfigurationError(
                "Expected document_weight for retrieval 'combined' (got with_document "
                f"{self.with_document!r}, which is for 'maxsim' and 'rerank')"
            )

    def check_engine(self, engine: EngineConfig) -> None:
        """Refuse an engine that cannot search like this.

        Raises:
            ConfigurationError: an HNSW graph is asked for that it does not build.
        """
        if self.search != "hnsw":
            return
        space = "all" if self.retrieval == "maxsim" else "doc"
        if engine.engine == "exact":
            remedy = "indexing.engine.engine 'edge' or 'server'"
        elif not getattr(engine.hnsw, f"{space}_m"):
            remedy = f"indexing.engine.hnsw.{space}_m 16"
        else:
            return
        raise ConfigurationError(
            f"Expected HNSW graphs in the index for {self.retrieval!r} by 'hnsw' (got "
            f"engine {engine.engine!r} without); choose {remedy}, or search 'exact'"
        )

    @property
    def needs_documents(self) -> bool:
        """Whether posts need a document vector."""
        return self.retrieval != "maxsim" or self.with_document > 0

    @property
    def mixes(self) -> bool:
        """Whether scores are more than MaxSim."""
        is_weighted = self.sentence_weight != 1
        return self.with_question > 0 or self.with_document > 0 or is_weighted

    def _describe(self) -> str:
        """Return the name of what it does.

        >>> Strategy("rerank", "hnsw", candidates=5000).name
        'rerank-5000-hnsw'
        >>> Strategy("maxsim", "hnsw", hnsw_walks="per_vector").name
        'maxsim-hnsw-per-vector'
        >>> Strategy("combined", document_weight=0.5).name
        'combined-1000-exact-document-0.5'
        >>> Strategy(with_question=0.5, sentence_weight=0.3).name
        'maxsim-exact-question-0.5-sentence-0.3'
        """
        has_candidates = self.retrieval in ("rerank", "combined")
        middle = f"-{self.candidates}" if has_candidates else ""
        end = "-per-vector" if self.hnsw_walks == "per_vector" else ""
        if self.document_weight != 1:
            end += f"-document-{self.document_weight:g}"
        weights = {
            "question": self.with_question,
            "document": self.with_document,
            "sentence": self.sentence_weight if self.sentence_weight != 1 else 0,
        }
        end += "".join(f"-{part}-{w:g}" for part, w in weights.items() if w)
        end += "" if self.query_parts == "all" else f"-{self.query_parts}"
        return f"{self.retrieval}{middle}-{self.search}{end}"

    def weigh(self, query: PostEntry) -> NDArray[np.float64]:
        """Return the weights of a query's vectors in the mean of MaxSim."""
        is_sentence = np.asarray(query.kinds) == SENTENCE
        weights = np.where(is_sentence, self.sentence_weight, 1.0)
        found: NDArray[np.float64] = weights / weights.sum()
        return found

    @property
    def mode(self) -> SearchMode:
        """How candidates are found."""
        return SearchMode(self.search == "exact", self.hnsw_ef, self.hnsw_walks)

    @property
    def types(self) -> PostTypes:
        """Types that may be returned."""
        return frozenset(self.post_types) or None


def find_posts(
    index: VectorIndex, queries: Sequence[PostEntry], strategy: Strategy
) -> list[Hits]:
    """Return the best posts for each query by one comparison (Task 1).

    Scores made of several are those of
    :func:`~mathamr_kedro.systems.mathamr_plus.search_posts`.
    """
    if not queries:
        return []
    depth, mode, types = strategy.depth, strategy.mode, strategy.types
    if strategy.retrieval == "single":
        documents = [document_vector(q) for q in queries]
        return index.search_documents(documents, depth, mode, types)
    if strategy.retrieval == "rerank":
        return index.search_reranked(queries, strategy.candidates, depth, mode, types)
    return index.search_maxsim([q.vectors for q in queries], depth, mode, types)


def find_formulas(
    index: VectorIndex,
    queries: Sequence[Vectors],
    depth: int = 1000,
) -> list[FormulaHits]:
    """Return the best formulas for each query, each visual id once (Task 2).

    A visual id has the rank of its best instance. Only formulas on the list of
    returnable ones are returned; one of a comment names the post it belongs to.
    """
    results: dict[int, FormulaHits] = {}
    waiting = list(range(len(queries)))
    fetch = 2 * depth
    while waiting:
        found = index.search_formulas([queries[i] for i in waiting], fetch)
        again = []
        for i, hits in zip(waiting, found, strict=True):
            best = hits.first_instances().top(depth)
            owners = [find_owner(key) for key in best.post_ids]
            results[i] = replace(best, post_ids=owners)
            if len(results[i]) < depth and len(hits) == fetch:
                again.append(i)
        waiting, fetch = again, 4 * fetch
    return [results[i] for i in range(len(queries))]
