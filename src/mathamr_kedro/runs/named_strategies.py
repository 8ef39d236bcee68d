"""Strategies as systems: named, and perhaps with more than MaxSim in their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus import QueryParts
from mathamr_kedro.graph import DOCUMENT, SENTENCE
from mathamr_kedro.runs.baselines import TASK_1_TYPES
from mathamr_kedro.search import Strategy, Term
from mathamr_kedro.vectors import PostEntry, VectorStore
from mathamr_kedro.vectors.protocol import document_vector


@dataclass(frozen=True)
class NamedStrategy(Strategy):
    """A strategy as a system: with a name, and perhaps with more than MaxSim."""

    post_types: tuple[str, ...] = TASK_1_TYPES
    name: str = ""
    """By default that of the strategy, e.g. ``rerank-5000-hnsw``."""
    with_question: float = 0.0
    """Beyond the thesis: share of MaxSim over an answer and its question together."""
    with_document: float = 0.0
    """Beyond the thesis: weight of the similarity of document vectors beside MaxSim,
    both as they are; ``combined`` standardises them, and has ``document_weight``."""
    sentence_weight: float = 1.0
    """Beyond the thesis: of a query's sentences in the mean of MaxSim; formulas and
    the document have 1."""

    query_parts: QueryParts = "all"
    """What of a topic is asked: its words alone or its formulas alone have graphs of
    their own (``amr_parsing.query_parts``)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.name:
            strategy = Strategy(
                self.retrieval,
                self.search,
                self.candidates,
                self.document_weight,
                hnsw_walks=self.hnsw_walks,
            )
            parts = {
                "question": self.with_question,
                "document": self.with_document,
                "sentence": self.sentence_weight if self.sentence_weight != 1 else 0,
            }
            suffix = "".join(f"-{part}-{w:g}" for part, w in parts.items() if w)
            suffix += "" if self.query_parts == "all" else f"-{self.query_parts}"
            object.__setattr__(self, "name", strategy.name + suffix)
        if not 0 <= self.with_question <= 1:
            raise ConfigurationError(
                f"Expected with_question from 0 to 1 (got {self.with_question!r})"
            )
        if self.with_document < 0:
            raise ConfigurationError(
                f"Expected with_document of at least 0 (got {self.with_document!r})"
            )
        if self.sentence_weight <= 0:
            raise ConfigurationError(
                f"Expected a positive sentence_weight (got {self.sentence_weight!r})"
            )
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

    @classmethod
    def of(cls, strategy: Strategy) -> NamedStrategy:
        """Return a plain strategy as a system."""
        names = Strategy.__dataclass_fields__
        return cls(**{name: getattr(strategy, name) for name in names})

    @property
    def needs_documents(self) -> bool:
        """Whether posts need a document vector."""
        return super().needs_documents or self.with_document > 0

    @property
    def mixes(self) -> bool:
        """Whether scores are more than MaxSim."""
        is_weighted = self.sentence_weight != 1
        return self.with_question > 0 or self.with_document > 0 or is_weighted

    def weigh(self, query: PostEntry) -> NDArray[np.float64]:
        """Return the weights of a query's vectors in the mean of MaxSim."""
        is_sentence = np.asarray(query.kinds) == SENTENCE
        weights = np.where(is_sentence, self.sentence_weight, 1.0)
        found: NDArray[np.float64] = weights / weights.sum()
        return found

    def list_terms(
        self,
        query: PostEntry,
        key: PostId,
        store: VectorStore,
        question_of: Mapping[PostId, PostId],
    ) -> tuple[Term, ...]:
        """Return what the score of a post is the sum of (``mixtures``).

        Empty where it depends on the other candidates too, or on a part of the query.
        """
        if self.retrieval == "combined" or self.query_parts != "all":
            return ()
        share, weight = self.with_question, self.with_document
        keys = [key, question_of.get(key, key) if share else key]
        posts = list(store.read(keys).entries())
        if self.retrieval == "single":
            return _compare_documents(query, posts[:1], [1.0])
        terms: list[Term] = []
        near = [query.vectors.astype("f8") @ p.vectors.T.astype("f8") for p in posts]
        for row, part in enumerate(self.weigh(query).tolist()):
            places = [int(found[row].argmax()) for found in near]
            best = [float(f[row, place]) for f, place in zip(near, places, strict=True)]
            alone, beside = (1 - share) * part, share * part
            if best[1] <= best[0]:  # the question has nothing nearer
                alone, beside = part, 0.0
            for owner, place, similarity, part_of in zip(
                keys, places, best, (alone, beside), strict=True
            ):
                if part_of:
                    terms.append(Term(row, owner, place, similarity, part_of))
        if weight:
            both = [weight * (1 - share), weight * share]
            shares = both if keys[1] != key else [weight, 0.0]  # its own question
            terms += _compare_documents(query, posts, shares)
        return tuple(terms)


def _compare_documents(
    query: PostEntry, posts: Sequence[PostEntry], weights: Sequence[float]
) -> tuple[Term, ...]:
    row, mine = list(query.kinds).index(DOCUMENT), document_vector(query)
    return tuple(
        Term(
            row,
            post.key,
            list(post.kinds).index(DOCUMENT),
            float(mine.astype(np.float64) @ document_vector(post)),
            weight,
            "document vectors",
        )
        for post, weight in zip(posts, weights, strict=True)
        if weight
    )
