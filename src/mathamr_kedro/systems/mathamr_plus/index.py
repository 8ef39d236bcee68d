"""The index of MathAMR+: vectors of posts and formulas, asked by several strategies."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain

import numpy as np

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus import QueryParts, name_part
from mathamr_kedro.graph import DOCUMENT
from mathamr_kedro.systems.base import Index, PostTypes
from mathamr_kedro.systems.changes import Changes
from mathamr_kedro.systems.mathamr_plus.query_encoder import QueryEncoder
from mathamr_kedro.systems.mathamr_plus.strategies import (
    Strategy,
    find_formulas,
    find_questions,
    search_posts,
)
from mathamr_kedro.systems.query import Query, Target, Term
from mathamr_kedro.systems.registry import OWN
from mathamr_kedro.systems.updates import AddedPosts
from mathamr_kedro.vectors import (
    BuiltIndex,
    PostEntry,
    PostReader,
    UpdatedIndex,
    VectorIndex,
    VectorStore,
)
from mathamr_kedro.vectors.protocol import document_vector

logger = logging.getLogger(__name__)


def list_terms(
    strategy: Strategy,
    query: PostEntry,
    key: PostId,
    store: PostReader,
    question_of: Mapping[PostId, PostId],
) -> tuple[Term, ...]:
    """Return what the score of a post is the sum of.

    Empty if it depends on a part of the query.
    """
    if strategy.query_parts != "all":
        return ()
    share, weight = strategy.with_question, strategy.with_document
    keys = [key, question_of.get(key, key) if share else key]
    posts = list(store.read(keys).entries())
    if strategy.retrieval == "single":
        return _compare_documents(query, posts[:1], [1.0])
    terms: list[Term] = []
    near = [query.vectors.astype("f8") @ p.vectors.T.astype("f8") for p in posts]
    for row, part in enumerate(strategy.weigh(query).tolist()):
        places = [int(found[row].argmax()) for found in near]
        best = [float(f[row, place]) for f, place in zip(near, places, strict=True)]
        own, beside = (1 - share) * part, share * part
        if best[1] <= best[0]:  # the question has nothing nearer
            own, beside = part, 0.0
        for owner, place, similarity, part_of in zip(
            keys, places, best, (own, beside), strict=True
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


class MathAMRPlusIndex(Index):
    """Ranks posts by one of several strategies, and formulas by their vectors.

    Args:
        index: where to search.
        strategies: by the names of their rankings; the first is the system's own.
        read_parents: gives posts with what they answer; called when a strategy first
            needs it.
        topics: the vectors of topics, and of their parts.
        encoder: encodes a part of a typed query, and posts that were added.
        device: that searches.
    """

    def __init__(
        self,
        index: BuiltIndex,
        strategies: Mapping[str, Strategy],
        read_parents: Callable[[], Iterable[tuple[PostId, PostId]]] = tuple,
        topics: VectorStore | None = None,
        encoder: QueryEncoder | None = None,
        device: str = "cpu",
    ) -> None:
        self._built, self.strategies = index, dict(strategies)
        self.index: VectorIndex = index
        """The same as posts were changed since."""
        self._read_parents, self.topics = read_parents, topics
        self._encoder, self.device = encoder, device
        self._changes = Changes()

    def list_rankings(self, target: Target) -> Sequence[str]:
        """Return the names of the strategies; formulas are found in one way."""
        return list(self.strategies) if target == "posts" else [OWN]

    def prepare(
        self, queries: Sequence[Query], ranking: str | None = None
    ) -> list[Query]:
        """Return the queries with their vectors; those without are skipped."""
        part = self._find_strategy(ranking).query_parts
        if queries and queries[0].target == "formulas":
            part = "all"
        found = [replace(q, entry=self._find_entry(q, part)) for q in queries]
        missing = [query.key for query in found if query.entry is None]
        if missing and len(missing) == len(queries) and part != "all":
            raise MissingInputError(
                f"No topic has vectors of only its {part}; run the stages from "
                f"amr_parsing to indexing with amr_parsing.query_parts [{part}] "
                "(conf/<env>/parameters/amr_parsing.yml), or drop query_parts from "
                "the strategy"
            )
        if missing:
            logger.warning(
                "%s topics have no vectors%s and count as 0, e.g. %s",
                len(missing),
                "" if part == "all" else f" of only their {part}",
                ", ".join(missing[:3]),
            )
        return [query for query in found if query.entry and _has_formula(query)]

    def rank(
        self,
        queries: Sequence[Query],
        depth: int,
        ranking: str | None = None,
        types: PostTypes = None,
    ) -> Sequence[Hits]:
        """Return the best posts by a strategy, or the best formulas."""
        if queries and queries[0].target == "formulas":
            vectors = [_entry(q).formula(q.asked_formula.formula_id) for q in queries]
            return find_formulas(self.index, vectors, depth)
        strategy = self._find_strategy(ranking)
        if types is not None:
            strategy = replace(strategy, post_types=types)
        questions = self._questions if strategy.with_question else {}
        entries = [_entry(query) for query in queries]
        return search_posts(self.index, strategy, questions, entries, depth)

    def find_depth(self, ranking: str) -> int:
        """Return the depth of a strategy that adds further scores to MaxSim."""
        strategy = self.strategies.get(ranking, Strategy())
        return strategy.depth if strategy.mixes else 0

    def explain(
        self, query: Query, key: str, ranking: str | None = None
    ) -> tuple[Term, ...]:
        """Return the best partner of each query vector, with its weight in the score.

        Empty if only a part of the query or formulas are asked for.
        """
        if query.target == "formulas":
            return ()
        strategy = self._find_strategy(ranking)
        questions = self._questions if strategy.with_question else {}
        return list_terms(strategy, _entry(query), key, self.index.posts, questions)

    def update(self, changes: Changes) -> None:
        """Find what was added or replaced after indexing, and not what was deleted.

        Posts are encoded, unless an encoder did that before; without one, those that
        have no vectors are not found.
        """
        self._changes, self.index = changes, self._built
        self.__dict__.pop("_questions", None)
        if changes:
            encoder = self._encoder
            load = None if encoder is None else lambda: encoder.encode_post
            added = self._added.update(changes, load)
            self.index = UpdatedIndex(
                self._built, added, changes.deleted, changes.added
            )

    def verify(self) -> None:
        """Read the vectors whole."""
        for store in (self._built.posts, self.topics):
            if isinstance(store, VectorStore):
                store.check()

    def use_encoder(self, encoder: QueryEncoder) -> None:
        """Encode parts of typed queries, and posts that were added."""
        self._encoder = encoder

    def close(self) -> None:
        """Close the files of the index."""
        self._built.close()

    def _find_strategy(self, ranking: str | None) -> Strategy:
        if ranking is None or ranking not in self.strategies:
            return next(iter(self.strategies.values()), Strategy())
        return self.strategies[ranking]

    def _find_entry(self, query: Query, part: QueryParts) -> PostEntry | None:
        """Return the vectors of a query, or of one of its parts."""
        if query.entry is not None:
            if part == "all" or self._encoder is None:
                return query.entry
            return self._encoder.encode_part(query, part)
        key = name_part(query.key, part)
        if self.topics is None or key not in self.topics.places:
            return None
        (entry,) = self.topics.read([key]).entries()
        return entry._replace(key=query.key)

    @cached_property
    def _added(self) -> AddedPosts:
        return AddedPosts(self._built.posts)

    @cached_property
    def _questions(self) -> Mapping[PostId, PostId]:
        added = self._changes.added
        parents = [(p.post_id, p.parent_id) for p in added.values() if p.parent_id]
        known = ((post, q) for post, q in self._read_parents() if post not in added)
        return find_questions(chain(known, parents), self.index.posts)


def _entry(query: Query) -> PostEntry:
    assert query.entry is not None  # as `prepare` returned it
    return query.entry


def _has_formula(query: Query) -> bool:
    """Whether the formula that is asked for has a vector, if one is."""
    if query.formula is None:
        return True
    try:
        _entry(query).formula(query.formula.formula_id)
    except MalformedInputError as problem:
        logger.warning("topic %s counts as 0: %s", query.key, problem)
        return False
    return True
