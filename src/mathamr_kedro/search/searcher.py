"""Asking an index from a terminal or a notebook: text in, posts and reasons out.

A :class:`Searcher` stays warm: parser, encoder and index are loaded once, and each
query costs milliseconds after that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Protocol, TypeAlias

from mathamr_kedro.amr import MAX_CHUNK_TOKENS
from mathamr_kedro.graph import (
    DOCUMENT,
    FORMULA,
    FORMULA_TYPE,
    GraphRecord,
    find_owner,
)
from mathamr_kedro.hits import Hits
from mathamr_kedro.records import CleanText, Post
from mathamr_kedro.search.answers import Answer, Keep, Result
from mathamr_kedro.search.engines.protocol import EXACT, VectorIndex
from mathamr_kedro.search.explanation import (
    Captions,
    Explanation,
    Match,
    caption_nodes,
    explain,
    restore_formulas,
)
from mathamr_kedro.search.post_vectors import PostEntry
from mathamr_kedro.search.queries import EncodedQuery, QueryEncoder
from mathamr_kedro.search.store import VectorStore
from mathamr_kedro.types import PostId

FindTexts: TypeAlias = Callable[[Collection[PostId]], Mapping[PostId, Post]]
"""Ids to the posts that are there; formulas beside the posts are texts too."""

FindTopic: TypeAlias = Callable[[str], EncodedQuery | None]
"""The id of a topic to its vectors; ``None``: it is none."""


class _FindPosts(Protocol):
    """Ranks posts for a query."""

    def __call__(
        self,
        query: EncodedQuery,
        top: int,
        post_types: Sequence[str] | None = None,
        system: str | None = None,
    ) -> Hits: ...


_SNIPPET = 160
_FILTER_DEPTH = 300
"""Best posts among which a filter chooses."""


class Searcher:
    """Searches an index by text, by formula or by example.

    Args:
        index: where to search.
        store: the vectors that the index was built from.
        encoder: makes queries comparable with them.
        find_texts: gives the texts of posts.
        find_posts: how posts are found, e.g. :class:`~mathamr_kedro.runs.PostSearch`.
        max_tokens: limit of a chunk when posts were parsed.
        find_topic: gives topics of the collection as queries.
        find_graph: gives the math graphs of posts.
    """

    def __init__(
        self,
        index: VectorIndex,
        store: VectorStore,
        encoder: QueryEncoder,
        find_texts: FindTexts,
        find_posts: _FindPosts,
        max_tokens: int = MAX_CHUNK_TOKENS,
        find_topic: FindTopic | None = None,
        find_graph: Callable[[PostId], GraphRecord | None] | None = None,
    ) -> None:
        self._index, self.store, self._encoder = index, store, encoder
        self.find_texts, self.find_posts = find_texts, find_posts
        self.max_tokens, self._find_topic = max_tokens, find_topic
        self._find_graph = find_graph

    def search(
        self,
        text: str,
        top: int = 10,
        post_types: Sequence[str] | None = None,
        system: str | None = None,
        keep: Keep | None = None,
    ) -> Answer:
        """Find posts for words with formulas between dollars.

        Args:
            text: the question.
            top: how many posts.
            post_types: types of post to return; those of the system if ``None``.
            system: how posts are found; as this was opened if ``None``.
            keep: which of the best posts to return; all if ``None``.
        """
        query = self._encoder.encode_text(text)
        depth = top if keep is None else max(top, _FILTER_DEPTH)
        hits = self.find_posts(query, depth, post_types, system)
        return self._describe(query, self._filter(hits, keep).top(top))

    def search_formula(
        self, latex: str, top: int = 10, keep: Keep | None = None
    ) -> Answer:
        """Find posts by their formula that is nearest to a given one."""
        query = self._encoder.encode_formula(latex)
        depth = top if keep is None else max(top, _FILTER_DEPTH)
        hits = self._filter(self._find_by_formula(query.entry, depth), keep)
        return self._describe(query, hits.top(top), (FORMULA,))

    def search_like(
        self, post_id: PostId, top: int = 10, post_types: Sequence[str] | None = None
    ) -> Answer:
        """Find posts similar to one of the index, without that one, or for a topic."""
        query = self._find_topic(post_id) if self._find_topic is not None else None
        query = query or self._read_query(post_id)
        if {*query.entry.kinds} == {FORMULA} and query.entry.post_type == "topic":
            hits = self._find_by_formula(query.entry, top)  # of Task 2
            return self._describe(query, hits, (FORMULA,))
        found = self.find_posts(query, top + 1, post_types)
        hits = found.take([i for i, key in enumerate(found.ids) if key != post_id])
        return self._describe(query, hits.top(top))

    def explain(self, text: str, post_id: PostId) -> Explanation:
        """Compare all nodes of a query with all nodes of a post (Figure 4.1).

        Args:
            text: words with formulas between dollars, or the id of a topic.
            post_id: a post of the index.
        """
        query = self._find_topic(text) if self._find_topic is not None else None
        query = query or self._encoder.encode_text(text)
        entry = query.entry._replace(key=_shorten(text, 60))
        return self.compare(query._replace(entry=entry), post_id)

    def encode(self, text: str, is_formula: bool = False) -> EncodedQuery:
        """Return words with formulas, or one formula, as a query."""
        encoder = self._encoder
        return encoder.encode_formula(text) if is_formula else encoder.encode_text(text)

    def compare(self, query: EncodedQuery, post_id: PostId) -> Explanation:
        """Compare all nodes of an encoded query with all nodes of a post."""
        (post,) = self._read([post_id])
        captions = self._caption(post, self.find_texts([post_id]).get(post_id))
        return explain(query.entry, post, query.captions, captions)

    def find_graph(self, post_id: PostId) -> GraphRecord | None:
        """Return the graph of a post; none is kept of a post that was added by hand."""
        return None if self._find_graph is None else self._find_graph(post_id)

    def close(self) -> None:
        """Release the index."""
        self._index.close()

    def _read_query(self, post_id: PostId) -> EncodedQuery:
        (entry,) = self._read([post_id])
        text = self.find_texts([post_id]).get(post_id)
        clean = CleanText(text.text, text.formula_map) if text else CleanText("", ())
        return EncodedQuery(entry, self._caption(entry, text), clean=clean)

    def _find_by_formula(self, query: PostEntry, top: int) -> Hits:
        """Return posts, each where its best formula stands, in it or in a comment."""
        vector = query.vectors[list(query.kinds).index(FORMULA)]
        fetch = 4 * top
        while True:
            (found,) = self._index.search_formulas([vector], fetch, EXACT)
            owners = [find_owner(key) for key in found.post_ids]
            first = {key: i for i, key in reversed(list(enumerate(owners)))}
            if len(first) >= top or len(found.post_ids) < fetch:
                best = found.take(sorted(first.values())[:top])
                return Hits(best.post_ids, best.scores)
            fetch *= 4

    def _read(self, keys: Sequence[PostId]) -> list[PostEntry]:
        return list(self.store.read(keys).entries())

    def _find_with_questions(self, ids: Sequence[PostId]) -> dict[PostId, Post]:
        texts = dict(self.find_texts(ids))
        parents = {p.parent_id for p in texts.values() if p.parent_id is not None}
        return {**texts, **self.find_texts(parents - texts.keys())}

    def _filter(self, hits: Hits, keep: Keep | None) -> Hits:
        """Return what may be returned; posts without a text are left out."""
        if keep is None:
            return hits
        texts = self._find_with_questions(hits.ids)
        posts = [texts.get(key) for key in hits.ids]
        kept = [
            i
            for i, post in enumerate(posts)
            if post is not None and keep(post, texts.get(post.parent_id or ""))
        ]
        return hits.take(kept)

    def _describe(
        self, query: EncodedQuery, hits: Hits, kinds: Collection[int] | None = None
    ) -> Answer:
        if not len(hits):
            return Answer((), query.warnings, query)
        posts = self._read(hits.ids)
        texts = self._find_with_questions(hits.ids)
        results = []
        for rank, (post, score) in enumerate(
            zip(posts, hits.scores.tolist(), strict=True), start=1
        ):
            text = texts.get(post.key)
            parent = texts.get(text.parent_id or "") if text else None
            is_post = post.post_type != FORMULA_TYPE
            result = Result(
                rank,
                find_owner(post.key),
                score,
                post.post_type if is_post or text is None else text.post_type,
                _give_title(text, parent),
                _shorten(restore_formulas(text.text, text.formula_map)) if text else "",
                self._match(query, post, self._caption(post, text), kinds),
            )
            results.append(result)
        keys = tuple(post.key for post in posts)
        return Answer(tuple(results), query.warnings, query, texts, keys)

    def _caption(self, post: PostEntry, text: Post | None) -> Captions:
        if text is None:
            return {}
        return caption_nodes(text.text, text.formula_map, post.kinds, self.max_tokens)

    def _match(
        self,
        query: EncodedQuery,
        post: PostEntry,
        captions: Captions,
        kinds: Collection[int] | None,
    ) -> tuple[Match, ...]:
        """Return the nearest sentence or formula for each part of the query.

        Args:
            query: its parts are compared, its document node is not.
            post: the post.
            captions: of the post.
            kinds: of nodes to look at on both sides; all but the document if ``None``.
        """
        found = explain(query.entry, post, query.captions, captions)
        mine, theirs = (
            [
                i
                for i, kind in enumerate(entry.kinds)
                if kind != DOCUMENT and (kinds is None or kind in kinds)
            ]
            for entry in (query.entry, post)
        )
        if not theirs:
            return ()
        similarity = found.similarity[:, theirs]
        best = similarity.argmax(1)
        return tuple(
            Match(
                found.query_labels[i],
                found.post_labels[theirs[best[i]]],
                float(similarity[i, best[i]]),
            )
            for i in mine
        )


def _give_title(post: Post | None, parent: Post | None) -> str:
    source = post if post is not None and post.title else parent
    return restore_formulas(source.title, source.formula_map) if source else ""


def _shorten(text: str, max_length: int = _SNIPPET) -> str:
    line = " ".join(text.split())
    return line if len(line) <= max_length else line[: max_length - 1] + "…"
