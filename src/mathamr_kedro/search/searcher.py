"""Asking an index: text in, posts and reasons out; what is loaded stays warm."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeAlias

from mathamr_kedro.base.formatting import shorten
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.records import CleanText, FormulaInstance, Post
from mathamr_kedro.base.types import FormulaId, PostId
from mathamr_kedro.formula import (
    PatternMatch,
    compare_trees,
    mark_formulas,
    write_latex,
)
from mathamr_kedro.graph import (
    FORMULA,
    POST_TYPES,
    MathGraph,
    name_entry,
    read_placeholder,
)
from mathamr_kedro.search.answers import (
    Answer,
    FindTexts,
    FoundTexts,
    ResultFilter,
)
from mathamr_kedro.search.closeness import (
    describe_closeness,
    list_features,
    measure_closeness,
)
from mathamr_kedro.search.explanation import (
    Explanation,
    Match,
    Node,
    explain,
    list_nodes,
)
from mathamr_kedro.search.operators import read_operators
from mathamr_kedro.search.reasons import drop_formulas, list_reasons
from mathamr_kedro.search.responses import FoundPost
from mathamr_kedro.search.statements import Statements
from mathamr_kedro.search.views import show_answer, show_pattern, show_result
from mathamr_kedro.search.wording import Wording, check_wording
from mathamr_kedro.systems.base import PostTypes
from mathamr_kedro.systems.bm25 import Bm25Index
from mathamr_kedro.systems.ensemble import Ensemble
from mathamr_kedro.systems.found import Found
from mathamr_kedro.systems.mathamr_plus import MathAMRPlusIndex, QueryEncoder
from mathamr_kedro.systems.query import Query, ScorePart, Target, Term, TreeLookup
from mathamr_kedro.vectors import PostEntry, PostReader

_FILTER_DEPTH = 300
"""Best posts among which a filter chooses."""

FindTopic: TypeAlias = Callable[[str], Query | None]
"""The id of a topic to a query; ``None``: it is none."""
FindGraph: TypeAlias = Callable[[PostId], MathGraph | None]
"""The id of a post to its math graph."""
FindInstances: TypeAlias = Callable[
    [Collection[FormulaId]], Mapping[FormulaId, FormulaInstance]
]
"""Ids to the formulas of the collection that exist."""


class Lookups(NamedTuple):
    """Posts, formulas and texts of the results."""

    texts: FindTexts
    """Gives the texts of posts."""
    graph: FindGraph = lambda key: None
    """Gives the graphs of posts."""
    instances: FindInstances = lambda ids: {}
    """Gives formulas."""
    trees_of: TreeLookup = lambda formula: None
    """Gives their trees."""
    statements: Statements = Statements()
    """What is known of statements."""
    topic: FindTopic = lambda text: None
    """Gives topics as queries."""
    words: Callable[[], Bm25Index | None] = lambda: None
    """Gives the index of words."""


class Searcher:
    """Searches by text, by formula or by example, with any system.

    Args:
        systems: who can be asked.
        vectors: the index of MathAMR+, whose vectors say what matches what.
        encoder: prepares what was typed.
        lookups: tells of what was found.
        catch_up: takes what was changed since it was opened; ``False``: the stages
            have run again, and it must be opened again.
    """

    def __init__(
        self,
        systems: Ensemble,
        vectors: MathAMRPlusIndex,
        encoder: QueryEncoder,
        lookups: Lookups,
        catch_up: Callable[[], bool] = lambda: True,
    ) -> None:
        self.systems, self._vectors, self._encoder = systems, vectors, encoder
        self.lookups, self._catch_up = lookups, catch_up

    @property
    def store(self) -> PostReader:
        """The vectors; what is not among them is never returned."""
        return self._vectors.index.posts

    def search(
        self,
        text: str,
        top: int = 10,
        post_types: Sequence[str] | None = None,
        system: str | None = None,
        keep: ResultFilter | None = None,
    ) -> Answer:
        """Find posts for words with formulas between dollars.

        Args:
            text: the question; operators in it choose among results
                (:mod:`~mathamr_kedro.search.operators`).
            top: how many posts.
            post_types: types of post or kinds of statement, such as ``lemma``; those of
                the system if ``None``.
            system: who ranks; the default if ``None``.
            keep: which of the best posts to return; all if ``None``.

        Raises:
            ConfigurationError: there is no such type, kind or system.
        """
        asked = read_operators(text)
        query, keep = self._read_text(asked.text), asked.restrict(keep)
        if post_types is None:
            post_types = asked.kinds or None
        depth = top if keep is None else max(top, _FILTER_DEPTH)
        found = self._rank(query, depth, post_types, system)
        warnings: list[str] = []
        if keep is not None:
            hits = found.hits
            texts = FoundTexts.read(self.lookups.texts, hits.ids)
            kept = texts.list_kept(hits.ids, keep)[:top]
            found = replace(found, hits=hits.take(kept))
            if asked.has_filter and not kept:
                told = f"none of the best {depth} posts has what {text!r} asks for"
                near = ", ".join(asked.list_near_tags(texts.values()))
                warnings.append(f"{told}; tags like it: {near}" if near else told)
        plain = drop_formulas(query.text)
        if "$" in plain or text.count("$") % 2:
            warnings.append("nothing closes a '$': it was read as if it were not there")
        words, wording = self.lookups.words(), Wording()
        if words is not None:
            wording = check_wording(text, plain, words.count_word)
        warnings += wording.warnings
        return self._describe(found, warnings, wording.did_you_mean)

    def rank(
        self, text: str, top: int = 1000, post_types: Sequence[str] | None = None
    ) -> tuple[Hits, tuple[str, ...]]:
        """Return only ids and scores, and warnings; arguments as :meth:`search`."""
        query = self._encoder.read_text(text)
        return self._rank(query, top, post_types).hits, query.warnings

    def search_formula(
        self,
        latex: str,
        top: int = 10,
        system: str | None = None,
        keep: ResultFilter | None = None,
    ) -> Answer:
        """Find posts by their formula that is most like a given one."""
        query = self.read(latex, is_formula=True)
        return self._search_formula(query, top, system, keep)

    def search_like(
        self, post_id: PostId, top: int = 10, post_types: Sequence[str] | None = None
    ) -> Answer:
        """Find posts similar to one of the index, without that one, or for a topic."""
        query = self.lookups.topic(post_id) or self._read_query(post_id)
        if query.target == "formulas":
            return self._search_formula(query, top)
        found = self._rank(query, top + 1, post_types)
        others = [i for i, key in enumerate(found.hits.ids) if key != post_id]
        return self._describe(replace(found, hits=found.hits.take(others).top(top)))

    def explain(
        self,
        query: Query | str,
        post_id: PostId,
        post_types: Sequence[str] | None = None,
        system: str | None = None,
    ) -> Explanation:
        """Say what the score of a post is the sum of, and what it has in common.

        All nodes of the query are compared with all nodes of the post (Figure 4.1).

        Args:
            query: what was read; or words with formulas between dollars, or the id of
                a topic.
            post_id: a post of the index.
            post_types: as in the search.
            system: as in the search.
        """
        if not isinstance(query, str):
            types, _ = _split_types(post_types)
            found = self.systems.find(query, 0, system, types)
            return self.explain_found(found, post_id)
        asked = self.lookups.topic(query) or self.read(query)
        explained = self.explain(asked, post_id, post_types, system)
        return replace(explained, query_key=shorten(query, 60))

    def explain_found(self, found: Found, post_id: PostId) -> Explanation:
        """Say the same of a search that was done, as :class:`Answer` holds it."""
        query, (post,) = found.query, self._read([post_id])
        texts = FoundTexts.read(self.lookups.texts, [post_id])
        text, question = texts.get(post_id), texts.question_of(post_id)
        if isinstance(found.hits, FormulaHits):
            parts, terms = self._explain_formula(found, post_id)
        else:
            parts = found.explain(post_id)
            terms = self._match(query, post_id, parts)
        return replace(
            explain(_entry(query), post, query.written, _clean(text)),
            parts=parts,
            terms=terms,
            reasons=list_reasons(query, text, question, self.lookups.trees_of),
        )

    def read(self, text: str, is_formula: bool = False) -> Query:
        """Return words with formulas, or one formula, as a query."""
        if is_formula:
            return self._encoder.read_formula(write_latex(text))
        return self._read_text(read_operators(text).text)

    def _read_text(self, text: str) -> Query:
        return self._encoder.read_text(mark_formulas(text))

    def warm_up(self, target: Target = "formulas", system: str | None = None) -> None:
        """Load what a system, or the default one of a target, needs."""
        self.systems.warm_up(target, system)

    def catch_up(self) -> bool:
        """Take what was changed since; ``False``: it must be opened again."""
        return self._catch_up()

    def close(self) -> None:
        """Release the index."""
        self._vectors.close()

    def _rank(
        self,
        query: Query,
        top: int,
        post_types: Sequence[str] | None,
        system: str | None = None,
    ) -> Found:
        """Return the best posts that the store has, of some types or kinds."""
        types, kinds = _split_types(post_types)
        wanted = self.lookups.statements.find_posts(kinds)
        known, limit = self.store, len(self.store)
        fetch = top if wanted is None else 4 * top
        while True:
            # What is fused or mixed is cut before it is filtered: cut it later.
            depth = 0 if wanted is None else fetch
            found = self.systems.find(query, fetch, system, types, depth)
            places = [
                i
                for i, key in enumerate(found.hits.ids)
                if key in known and (wanted is None or key in wanted)
            ]
            if wanted is None or len(places) >= top or fetch >= limit:
                return replace(found, hits=found.hits.take(places).top(top))
            fetch = min(8 * fetch, limit)

    def _rank_formulas(self, query: Query, hits: FormulaHits, top: int) -> FormulaHits:
        """Return the best formulas, the first of each post; instances come first."""
        if query.pattern is not None:
            known = self.lookups.instances(hits.ids)
            matches = [self._match_pattern(query, known.get(key)) for key in hits.ids]
            ranks = [2 if m is None else 0 if m.is_whole else 1 for m in matches]
            hits = hits.take(sorted(range(len(hits)), key=ranks.__getitem__))
        first: dict[PostId, int] = {}
        for place, post in enumerate(hits.post_ids):
            if post in self.store:
                first.setdefault(post, place)
        return hits.take(list(first.values())[:top])

    def _match_pattern(
        self, query: Query, formula: FormulaInstance | None
    ) -> PatternMatch | None:
        """Return how a formula is an instance of a query with variables."""
        if query.pattern is None or formula is None:
            return None
        trees = self.lookups.trees_of(formula)
        return query.pattern.match(trees.opt) if trees is not None else None

    def _measure_same(
        self, query: Query, formula: FormulaInstance | None
    ) -> float | None:
        """Return how much of a formula without query variables is as in another."""
        if query.pattern is not None or query.trees is None or formula is None:
            return None
        trees = self.lookups.trees_of(formula)
        if trees is None:
            return None
        return round(compare_trees(query.trees.opt, trees.opt).share, 4)

    def _read_query(self, post_id: PostId) -> Query:
        (entry,) = self._read([post_id])
        post = self.lookups.texts([post_id]).get(post_id)
        return Query(
            post_id,
            post.text if post else "",
            post.formula_map if post else (),
            read_graph=partial(self.lookups.graph, post_id),
            entry=entry,
        )

    def _search_formula(
        self,
        query: Query,
        top: int,
        system: str | None = None,
        keep: ResultFilter | None = None,
    ) -> Answer:
        depth = top if keep is None else max(top, _FILTER_DEPTH)
        found = self.systems.find(query, 0, system)
        assert isinstance(found.hits, FormulaHits)
        hits = self._rank_formulas(query, found.hits, depth)
        if keep is not None:
            keys = _name_texts(hits, self.lookups.instances(hits.ids))
            texts = FoundTexts.read(self.lookups.texts, keys)
            hits = hits.take(texts.list_kept(keys, keep)[:top])
        return self._describe_formulas(replace(found, hits=hits), hits)

    def _describe_formulas(self, found: Found, hits: FormulaHits) -> Answer:
        query, formulas = found.query, self.lookups.instances(hits.ids)
        keys = _name_texts(hits, formulas)
        texts = FoundTexts.read(self.lookups.texts, keys)
        asked, results = _find_node(query), []
        for place, (formula, score) in enumerate(hits):
            key, instance = keys[place], formulas.get(formula)
            node = _find_formula(texts.get(key), formula, instance)
            matches = [Match(asked, node, score, 1.0)]
            parts = found.explain(hits.visual_ids[place])
            result = show_result(place + 1, score, key, texts, matches, parts)
            pattern = show_pattern(self._match_pattern(query, instance))
            same = self._measure_same(query, instance)
            results.append(replace(result, pattern=pattern, same=same))
        return Answer(
            show_answer(query, results, _tell_unmatched(query, results)), found
        )

    def _explain_formula(
        self, found: Found, post_id: PostId
    ) -> tuple[tuple[ScorePart, ...], tuple[Match, ...]]:
        """Return what the score of the best formula of a post is the sum of."""
        query, hits = found.query, found.hits
        assert isinstance(hits, FormulaHits)
        own = [place for place, key in enumerate(hits.post_ids) if key == post_id]
        best = self._rank_formulas(query, hits.take(own), 1)
        if not len(best):
            return (), ()
        ((formula, score),) = best
        instances = self.lookups.instances([formula])
        (key,) = _name_texts(best, instances)
        text = self.lookups.texts([key]).get(key)
        node = _find_formula(text, formula, instances.get(formula))
        match = Match(_find_node(query), node, score, 1.0)
        return found.explain(best.visual_ids[0]), (match,)

    def _read(self, keys: Sequence[PostId]) -> list[PostEntry]:
        return list(self.store.read(keys).entries())

    def _describe(
        self,
        found: Found,
        warnings: Sequence[str] = (),
        did_you_mean: str | None = None,
    ) -> Answer:
        query, ids = found.query, found.hits.ids
        texts = FoundTexts.read(self.lookups.texts, ids)
        notes = self.lookups.statements.describe(ids)
        words = self.lookups.words()
        bound = words.bound_score(query) if words is not None else 0.0
        results = []
        posts = zip(self._read(ids), found.hits, strict=True)
        for rank, (post, (key, score)) in enumerate(posts, start=1):
            parts = found.explain(key)
            # whichever system found it
            nearest = explain(_entry(query), post).match_parts()
            result = show_result(
                rank, score, key, texts, nearest, parts, notes.get(key)
            )
            features = list_features(parts, bound, query.known)
            if features is not None:
                close = measure_closeness(features)
                word = describe_closeness(close)
                result = replace(result, closeness=close, close=word)
            results.append(result)
        return Answer(show_answer(query, results, warnings, did_you_mean), found)

    def _match(
        self, query: Query, post_id: PostId, parts: Sequence[ScorePart]
    ) -> tuple[Match, ...]:
        """Return the terms of the score of a post as matches, the largest first."""
        terms = _find_terms(parts)
        owners = list(dict.fromkeys(term.owner for term in terms))
        texts = self.lookups.texts(owners)
        nodes = {
            post.key: list_nodes(post, _clean(texts.get(post.key)))
            for post in self._read(owners)
        }
        mine = list_nodes(_entry(query), query.written)
        matches = [
            Match(
                mine[t.row],
                nodes[t.owner][t.partner],
                t.similarity,
                t.weight,
                t.owner != post_id,
                t.note,
            )
            for t in terms
        ]
        return tuple(sorted(matches, key=lambda match: -match.share))


def _find_terms(parts: Sequence[ScorePart]) -> Sequence[Term]:
    leaves = (leaf for part in parts for leaf in part.leaves())
    return next((leaf.terms for leaf in leaves if leaf.terms), ())


def _split_types(names: Sequence[str] | None) -> tuple[PostTypes, list[str]]:
    """Return types of post, and kinds of statement; no types but kinds: the usual."""
    types = [name for name in names or () if name in POST_TYPES]
    kinds = [name for name in names or () if name not in POST_TYPES]
    return None if names is None or (kinds and not types) else tuple(types), kinds


def _entry(query: Query) -> PostEntry:
    assert query.entry is not None  # typed queries, topics and posts have vectors
    return query.entry


def _clean(post: Post | None) -> CleanText | None:
    return None if post is None else CleanText(post.text, post.formula_map)


def _find_node(query: Query) -> Node:
    """Return the node of the formula that is asked for."""
    entry, asked = _entry(query), query.asked_formula.formula_id
    nodes = list_nodes(entry, query.written)
    formulas = [node for node in nodes if node.kind == FORMULA]
    return formulas[entry.formula_ids.index(asked)]


def _find_formula(
    text: Post | None, formula: FormulaId, instance: FormulaInstance | None
) -> Node:
    """Return the node of a formula that was found; one of another text is its first."""
    mentions = text.formula_map if text is not None else ()
    latex = instance.latex if instance is not None else ""
    found = [m for m in mentions if m.formula_id == formula] or [
        m for m in mentions if m.latex == latex
    ]
    if not found:
        return Node(FORMULA, 0, f"${latex}$" if latex else "")
    number = read_placeholder(found[0].placeholder) or 0
    return Node(FORMULA, number, f"${found[0].latex}$")


def _name_texts(
    hits: FormulaHits, found: Mapping[FormulaId, FormulaInstance]
) -> list[PostId]:
    """Return the key of the text of each formula: of its post, or of a comment."""
    comments = [found[key].comment_id if key in found else None for key in hits.ids]
    return [
        name_entry(post_id, comment) if comment else post_id
        for post_id, comment in zip(hits.post_ids, comments, strict=True)
    ]


def _tell_unmatched(query: Query, results: Sequence[FoundPost]) -> list[str]:
    """Warn if no formula is an instance of a query with variables."""
    if query.pattern is None or any(result.pattern for result in results):
        return []
    return [
        f"no formula that was compared is an instance of {query.pattern.latex}; these "
        "are the most similar ones"
    ]
