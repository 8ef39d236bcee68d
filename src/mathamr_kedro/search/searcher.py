"""Asking an index: text in, posts and reasons out; what is loaded stays warm."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeAlias

from mathamr_kedro.amr import MAX_CHUNK_TOKENS
from mathamr_kedro.graph import FORMULA, read_placeholder
from mathamr_kedro.hits import FormulaHits, Hits
from mathamr_kedro.records import CleanText, FormulaInstance, Post
from mathamr_kedro.search.answers import Answer, Result
from mathamr_kedro.search.engines.protocol import VectorIndex
from mathamr_kedro.search.explanation import (
    Captions,
    Explanation,
    Match,
    ScorePart,
    Term,
    caption_nodes,
    explain,
    restore_formulas,
)
from mathamr_kedro.search.post_vectors import PostEntry
from mathamr_kedro.search.queries import EncodedQuery, QueryEncoder
from mathamr_kedro.search.store import VectorStore
from mathamr_kedro.types import FormulaId, PostId

FindTexts: TypeAlias = Callable[[Collection[PostId]], Mapping[PostId, Post]]
"""Ids to the posts that are there; formulas beside the posts are texts too."""

FindTopic: TypeAlias = Callable[[str], EncodedQuery | None]
"""The id of a topic to its vectors; ``None``: it is none."""


FindInstances: TypeAlias = Callable[
    [Collection[FormulaId]], Mapping[FormulaId, FormulaInstance]
]
"""Ids to the formulas of the collection that are there."""


class _FindPosts(Protocol):
    """Ranks posts for a query, and says what their scores are the sum of."""

    def __call__(
        self, query: EncodedQuery, top: int, post_types: Sequence[str] | None = None
    ) -> Hits: ...

    def explain(
        self, query: EncodedQuery, key: str, post_types: Sequence[str] | None = None
    ) -> tuple[ScorePart, ...]: ...


class _FindFormulas(Protocol):
    """Ranks formulas for a query that is one, and says what gave how much."""

    @property
    def find_instances(self) -> FindInstances: ...

    def __call__(self, query: EncodedQuery, top: int) -> FormulaHits: ...

    def explain(self, query: EncodedQuery, key: str) -> tuple[ScorePart, ...]: ...


_SNIPPET = 160


class Searcher:
    """Searches an index by text, by formula or by example.

    Args:
        index: where to search.
        store: the vectors that the index was built from.
        encoder: makes queries comparable with them.
        find_texts: gives the texts of posts.
        find_posts: how posts are found, e.g. :class:`~mathamr_kedro.runs.PostSearch`.
        find_formulas: how formulas are, e.g.
            :class:`~mathamr_kedro.runs.FormulaSearch`.
        max_tokens: limit of a chunk when posts were parsed.
        find_topic: gives topics of the collection as queries.
    """

    def __init__(
        self,
        index: VectorIndex,
        store: VectorStore,
        encoder: QueryEncoder,
        find_texts: FindTexts,
        find_posts: _FindPosts,
        find_formulas: _FindFormulas,
        max_tokens: int = MAX_CHUNK_TOKENS,
        find_topic: FindTopic | None = None,
    ) -> None:
        self._index, self._store, self._encoder = index, store, encoder
        self._find_texts, self._find = find_texts, find_posts
        self._find_formulas = find_formulas
        self._max_tokens, self._find_topic = max_tokens, find_topic

    def search(
        self, text: str, top: int = 10, post_types: Sequence[str] | None = None
    ) -> Answer:
        """Find posts for words with formulas between dollars.

        Args:
            text: the question.
            top: how many posts.
            post_types: types of post to return; those of the system if ``None``.
        """
        query = self._encoder.encode_text(text)
        hits = self._find(query, top, post_types)
        return Answer(self._describe(query, hits, post_types), query.warnings)

    def rank(
        self, text: str, top: int = 1000, post_types: Sequence[str] | None = None
    ) -> tuple[Hits, tuple[str, ...]]:
        """Return ids and scores alone, and warnings; arguments as :meth:`search`."""
        query = self._encoder.encode_text(text)
        return self._find(query, top, post_types), query.warnings

    def search_formula(self, latex: str, top: int = 10) -> Answer:
        """Find posts by their formula that is most like a given one."""
        query = self._encoder.encode_formula(latex)
        return Answer(self._search_formula(query, top), query.warnings)

    def search_like(
        self, post_id: PostId, top: int = 10, post_types: Sequence[str] | None = None
    ) -> Answer:
        """Find posts similar to one of the index, without that one, or for a topic."""
        query = self._find_topic(post_id) if self._find_topic is not None else None
        query = query or self._read_query(post_id)
        if {*query.entry.kinds} == {FORMULA} and query.entry.post_type == "topic":
            return Answer(self._search_formula(query, top))  # of Task 2
        found = self._find(query, top + 1, post_types)
        hits = found.take([i for i, key in enumerate(found.ids) if key != post_id])
        return Answer(self._describe(query, hits.top(top), post_types))

    def explain(self, text: str, post_id: PostId) -> Explanation:
        """Compare all nodes of a query with all nodes of a post (Figure 4.1).

        Args:
            text: words with formulas between dollars, or the id of a topic.
            post_id: a post of the index.
        """
        query = self._find_topic(text) if self._find_topic is not None else None
        query = query or self._encoder.encode_text(text)
        entry = query.entry._replace(key=_shorten(text, 60))
        (post,) = self._read([post_id])
        captions = self._caption(post, self._find_texts([post_id]).get(post_id))
        found = explain(entry, post, query.captions, captions)
        is_formula = {*query.entry.kinds} == {FORMULA}
        if is_formula and query.entry.post_type == "topic" and text == query.entry.key:
            return found  # a topic of Task 2 asks for formulas
        parts = self._find.explain(query, post_id)
        return replace(found, parts=parts, terms=self._match(query, post.key, parts))

    def close(self) -> None:
        """Release the index."""
        self._index.close()

    def _read_query(self, post_id: PostId) -> EncodedQuery:
        (entry,) = self._read([post_id])
        text = self._find_texts([post_id]).get(post_id)
        clean = CleanText(text.text, text.formula_map) if text else CleanText("", ())
        return EncodedQuery(entry, self._caption(entry, text), clean=clean)

    def _search_formula(self, query: EncodedQuery, top: int) -> tuple[Result, ...]:
        hits = self._find_formulas(query, top)
        texts = self._read_texts(hits.post_ids)
        found = self._find_formulas.find_instances(hits.ids)
        (label, *_) = Explanation.label_nodes(query.entry, query.captions)
        results = []
        for rank, (formula, score) in enumerate(hits, start=1):
            post_id, visual = hits.post_ids[rank - 1], hits.visual_ids[rank - 1]
            text = texts.get(post_id)
            mentions = {m.formula_id: m for m in text.formula_map} if text else {}
            instance, mention = found.get(formula), mentions.get(formula)
            known = mention or instance
            name = f"F{read_placeholder(mention.placeholder)} " if mention else ""
            latex = f"${known.latex}$" if known else ""
            kind = "comment" if instance and instance.comment_id else ""
            match = Match(label, f"{name}{latex}", score, 1.0)
            results.append(
                Result(
                    rank,
                    post_id,
                    score,
                    kind or (text.post_type if text else ""),
                    self._give_title(text, texts),
                    latex if kind else _give_snippet(text),
                    (match,),
                    self._find_formulas.explain(query, visual),
                )
            )
        return tuple(results)

    def _read_texts(self, keys: Sequence[PostId]) -> Mapping[PostId, Post]:
        """Return the texts of posts, and of the questions that they answer."""
        texts = dict(self._find_texts(keys)) if keys else {}
        parents = {p.parent_id for p in texts.values() if p.parent_id is not None}
        return {**texts, **self._find_texts(parents - texts.keys())}

    def _read(self, keys: Sequence[PostId]) -> list[PostEntry]:
        return list(self._store.read(keys).entries())

    def _describe(
        self, query: EncodedQuery, hits: Hits, post_types: Sequence[str] | None
    ) -> tuple[Result, ...]:
        if not len(hits):
            return ()
        posts = self._read(hits.ids)
        texts = self._read_texts(hits.ids)
        describe = getattr(self._find, "describe", None)  # who knows statements
        statements = describe(hits.ids) if describe is not None else {}
        results = []
        scored = zip(posts, hits.scores.tolist(), strict=True)
        for rank, (post, score) in enumerate(scored, start=1):
            text = texts.get(post.key)
            parts = self._find.explain(query, post.key, post_types)
            result = Result(
                rank,
                post.key,
                score,
                post.post_type,
                self._give_title(text, texts),
                _give_snippet(text),
                self._match(query, post.key, parts),
                parts,
                statements.get(post.key),
            )
            results.append(result)
        return tuple(results)

    @staticmethod
    def _give_title(post: Post | None, texts: Mapping[PostId, Post]) -> str:
        parent = texts.get(post.parent_id or "") if post else None
        source = post if post is not None and post.title else parent
        return restore_formulas(source.title, source.formula_map) if source else ""

    def _caption(self, post: PostEntry, text: Post | None) -> Captions:
        if text is None:
            return {}
        return caption_nodes(text.text, text.formula_map, post.kinds, self._max_tokens)

    def _match(
        self, query: EncodedQuery, key: PostId, parts: Sequence[ScorePart]
    ) -> tuple[Match, ...]:
        """Put the terms of a score into words, the largest first."""
        terms: Sequence[Term] = next((p.terms for p in parts if p.terms), ())
        if not terms:
            return ()
        owners = list(dict.fromkeys(term.owner for term in terms))
        texts = self._find_texts(owners)
        labels = {
            post.key: Explanation.label_nodes(
                post, self._caption(post, texts.get(post.key))
            )
            for post in self._read(owners)
        }
        mine = Explanation.label_nodes(query.entry, query.captions)
        matches = [
            Match(
                mine[t.row] + (f" ({t.note})" if t.note else ""),
                ("" if t.owner == key else "question ") + labels[t.owner][t.partner],
                t.similarity,
                t.weight,
            )
            for t in terms
        ]
        return tuple(sorted(matches, key=lambda match: -match.share))


def _give_snippet(post: Post | None) -> str:
    return _shorten(restore_formulas(post.text, post.formula_map)) if post else ""


def _shorten(text: str, max_length: int = _SNIPPET) -> str:
    line = " ".join(text.split())
    return line if len(line) <= max_length else line[: max_length - 1] + "…"
