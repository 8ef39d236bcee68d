"""Asking an index: text in, posts and reasons out; what is loaded stays warm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from mathamr_kedro.amr import MAX_CHUNK_TOKENS
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import CleanText, FormulaInstance, Post
from mathamr_kedro.base.types import FormulaId, PostId
from mathamr_kedro.graph import FORMULA, GraphRecord, name_entry, read_placeholder
from mathamr_kedro.search.answers import Answer, FoundTexts, Keep, Result
from mathamr_kedro.search.explanation import (
    Captions,
    Explanation,
    Match,
    ScorePart,
    Term,
    caption_nodes,
    explain,
)
from mathamr_kedro.search.finders import (
    FindFormulas,
    FindPosts,
    FindTexts,
    FindTopic,
)
from mathamr_kedro.search.queries import EncodedQuery, QueryEncoder
from mathamr_kedro.vectors.post_vectors import PostEntry
from mathamr_kedro.vectors.protocol import VectorIndex
from mathamr_kedro.vectors.store import VectorStore

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
        find_posts: FindPosts,
        find_formulas: FindFormulas,
        max_tokens: int = MAX_CHUNK_TOKENS,
        find_topic: FindTopic | None = None,
    ) -> None:
        self._index, self.store, self._encoder = index, store, encoder
        self.find_texts, self.find_posts = find_texts, find_posts
        self.find_formulas = find_formulas
        self.max_tokens, self._find_topic = max_tokens, find_topic

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
        if keep is not None:
            texts = FoundTexts.read(self.find_texts, hits.ids)
            hits = hits.take(texts.list_kept(hits.ids, keep)[:top])
        return self._describe(query, hits, post_types, system)

    def rank(
        self, text: str, top: int = 1000, post_types: Sequence[str] | None = None
    ) -> tuple[Hits, tuple[str, ...]]:
        """Return ids and scores alone, and warnings; arguments as :meth:`search`."""
        query = self._encoder.encode_text(text)
        return self.find_posts(query, top, post_types), query.warnings

    def search_formula(
        self,
        latex: str,
        top: int = 10,
        system: str | None = None,
        keep: Keep | None = None,
    ) -> Answer:
        """Find posts by their formula that is most like a given one."""
        query = self._encoder.encode_formula(latex)
        return self._search_formula(query, top, system, keep)

    def search_like(
        self, post_id: PostId, top: int = 10, post_types: Sequence[str] | None = None
    ) -> Answer:
        """Find posts similar to one of the index, without that one, or for a topic."""
        query = self._find_topic(post_id) if self._find_topic is not None else None
        query = query or self._read_query(post_id)
        if {*query.entry.kinds} == {FORMULA} and query.entry.post_type == "topic":
            return self._search_formula(query, top)  # of Task 2
        found = self.find_posts(query, top + 1, post_types)
        hits = found.take([i for i, key in enumerate(found.ids) if key != post_id])
        return self._describe(query, hits.top(top), post_types)

    def explain(self, text: str, post_id: PostId) -> Explanation:
        """Compare all nodes of a query with all nodes of a post (Figure 4.1).

        Args:
            text: words with formulas between dollars, or the id of a topic.
            post_id: a post of the index.
        """
        query = self._find_topic(text) if self._find_topic is not None else None
        query = query or self._encoder.encode_text(text)
        entry = query.entry._replace(key=FoundTexts.shorten(text, 60))
        found = self.compare(query._replace(entry=entry), post_id)
        is_formula = {*query.entry.kinds} == {FORMULA}
        if is_formula and query.entry.post_type == "topic" and text == query.entry.key:
            return found  # a topic of Task 2 asks for formulas
        parts = self.find_posts.explain(query, post_id)
        return replace(found, parts=parts, terms=self._match(query, post_id, parts))

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
        return self.find_posts.find_graph(post_id)

    def close(self) -> None:
        """Release the index."""
        self._index.close()

    def _read_query(self, post_id: PostId) -> EncodedQuery:
        (entry,) = self._read([post_id])
        text = self.find_texts([post_id]).get(post_id)
        clean = CleanText(text.text, text.formula_map) if text else CleanText("", ())
        return EncodedQuery(entry, self._caption(entry, text), clean=clean)

    def _search_formula(
        self,
        query: EncodedQuery,
        top: int,
        system: str | None = None,
        keep: Keep | None = None,
    ) -> Answer:
        depth = top if keep is None else max(top, _FILTER_DEPTH)
        hits = self.find_formulas(query, depth, system)
        found = self.find_formulas.find_instances(hits.ids)
        keys = _name_texts(hits, found)
        texts = FoundTexts.read(self.find_texts, [*keys, *hits.post_ids])
        if keep is not None:
            kept = texts.list_kept(keys, keep)[:top]
            hits, keys = hits.take(kept), [keys[i] for i in kept]
        (label, *_) = Explanation.label_nodes(query.entry, query.captions)
        results = []
        for rank, (formula, score) in enumerate(hits, start=1):
            post_id, visual = hits.post_ids[rank - 1], hits.visual_ids[rank - 1]
            key = keys[rank - 1]
            text = texts.get(key)
            mentions = {m.formula_id: m for m in text.formula_map} if text else {}
            instance, mention = found.get(formula), mentions.get(formula)
            known = mention or instance
            latex = f"${known.latex}$" if known else ""
            kind = "comment" if key != post_id else ""
            number = read_placeholder(mention.placeholder) if mention else 0
            name = f"F{number} " if mention or kind else ""  # alone, it is the first
            match = Match(label, f"{name}{latex}", score, 1.0)
            pattern = self.find_formulas.match(query, instance) if instance else None
            results.append(
                Result(
                    rank,
                    post_id,
                    score,
                    kind or (text.post_type if text else ""),
                    texts.give_title(post_id),
                    texts.give_snippet(key) or latex,
                    (match,),
                    self.find_formulas.explain(query, visual, None, system),
                    pattern=pattern,
                )
            )
        warnings = (*query.warnings, *_tell_unmatched(query, results))
        return Answer(tuple(results), warnings, query, texts, tuple(keys))

    def _read(self, keys: Sequence[PostId]) -> list[PostEntry]:
        return list(self.store.read(keys).entries())

    def _describe(
        self,
        query: EncodedQuery,
        hits: Hits,
        post_types: Sequence[str] | None,
        system: str | None = None,
    ) -> Answer:
        if not len(hits):
            return Answer((), query.warnings, query)
        posts = self._read(hits.ids)
        texts = FoundTexts.read(self.find_texts, hits.ids)
        describe = getattr(self.find_posts, "describe", None)  # who knows statements
        statements = describe(hits.ids) if describe is not None else {}
        results = []
        scored = zip(posts, hits.scores.tolist(), strict=True)
        for rank, (post, score) in enumerate(scored, start=1):
            parts = self.find_posts.explain(query, post.key, post_types, system)
            result = Result(
                rank,
                post.key,
                score,
                post.post_type,
                texts.give_title(post.key),
                texts.give_snippet(post.key),
                self._match(query, post.key, parts),
                parts,
                statements.get(post.key),
            )
            results.append(result)
        found = tuple(results)
        return Answer(found, query.warnings, query, texts, tuple(hits.ids))

    def _caption(self, post: PostEntry, text: Post | None) -> Captions:
        if text is None:
            return {}
        return caption_nodes(text.text, text.formula_map, post.kinds, self.max_tokens)

    def _match(
        self, query: EncodedQuery, key: PostId, parts: Sequence[ScorePart]
    ) -> tuple[Match, ...]:
        """Put the terms of a score into words, the largest first."""
        terms: Sequence[Term] = next((p.terms for p in parts if p.terms), ())
        if not terms:
            return ()
        owners = list(dict.fromkeys(term.owner for term in terms))
        texts = self.find_texts(owners)
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


def _name_texts(
    hits: FormulaHits, found: Mapping[FormulaId, FormulaInstance]
) -> list[PostId]:
    """Return the key of the text of each formula: of its post, or of a comment."""
    comments = [found[key].comment_id if key in found else None for key in hits.ids]
    return [
        name_entry(post_id, comment) if comment else post_id
        for post_id, comment in zip(hits.post_ids, comments, strict=True)
    ]


def _tell_unmatched(query: EncodedQuery, results: Sequence[Result]) -> list[str]:
    """Say so where no formula is an instance of a query with variables."""
    if query.pattern is None or any(result.pattern for result in results):
        return []
    return [
        f"no formula that was compared is an instance of {query.pattern.latex}; these "
        "are the most similar ones"
    ]
