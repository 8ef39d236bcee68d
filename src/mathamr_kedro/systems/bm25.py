"""BM25 as systems: which terms of posts or formulas are compared.

===============  ==========================================  ===============
system           what it compares                            finds
===============  ==========================================  ===============
bm25             words of the text and tokens of LaTeX       posts, formulas
bm25_question    the same of an answer and its question      posts
bm25_fields      the same, names and titles, sections, and   posts
                 the words by which others cite a statement
bm25_graph       nodes and edges of the math graphs          posts
bm25_tuples      tuples of both formula trees                formulas
bm25_slt         patterns of the layout tree                 formulas
bm25_opt         patterns of the operator tree               formulas
bm25_ngrams      runs of one to three tokens of LaTeX        formulas
===============  ==========================================  ===============

An index holds eight bytes for each different term of a document. Formulas that look the
same are the same: the one with the first id of each visual id is indexed.

Questions are indexed after what Task 1 may return, whose statistics count for all.
Posts that are added, replaced or deleted later (:meth:`Bm25Index.update`) are a second,
small index with the same statistics; ``bm25_graph`` does not find them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.hits import FormulaHits, Hits, merge_hits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import FormulaInstance, Post
from mathamr_kedro.base.types import FormulaId, PostId
from mathamr_kedro.formula import FormulaTrees
from mathamr_kedro.systems.base import (
    TASK_1_TYPES,
    Collection,
    FormulaTerms,
    PostTerms,
    PostTypes,
    System,
    TextIndex,
    choose_instances,
    load_formulas,
    name_formulas,
    save_formulas,
)
from mathamr_kedro.systems.changes import Changes
from mathamr_kedro.systems.query import Query, Target, TreeLookup, WordShare
from mathamr_kedro.text import (
    TermIndex,
    list_graph_terms,
    list_ngrams,
    list_patterns,
    list_tuples,
    pair_terms,
    split_latex,
    split_text,
)

_NAME_WEIGHT = 3
"""How often a name or title counts (docs/results/benchmark.md)."""

_TYPES, _MORE = "types.json", "questions"
_RETURNED, _OTHERS = TASK_1_TYPES, ("question",)

Documents: TypeAlias = Iterator[tuple[str, list[str]]]
"""Ids with their terms."""
TypedDocuments: TypeAlias = Iterable[tuple[PostId, str, list[str]]]
"""Ids of posts with their types and terms."""


class Bm25(System):
    """BM25 over one kind of terms."""

    VERSION = 2

    def __init__(self, name: str) -> None:
        self.name = name
        finds: list[Target] = []
        self.index_reads: tuple[str, ...] = ()
        if name in get_args(PostTerms):
            finds.append("posts")
            self.index_reads += ("graphs",) if name == "bm25_graph" else ("posts",)
            self.index_reads += ("statements",) if name == "bm25_fields" else ()
        if name in get_args(FormulaTerms):
            finds.append("formulas")
            self.index_reads += ("formulas", "trees_of")
        self.finds = frozenset(finds)

    def index(self, data: Collection, model: Path, folder: Path) -> Mapping[str, Any]:
        """Read the terms of all posts, or formulas, and write the index."""
        counts: dict[str, Any] = {}
        for target in sorted(self.finds):
            part = folder / target
            part.mkdir()
            if target == "formulas":
                formulas = FormulaTermIndex.build(self.name, data)
                formulas.save(part)
                counts[target] = len(formulas)
                continue
            posts = PostTermIndex(_read_posts(self.name, data, _RETURNED))
            others = PostTermIndex(_read_posts(self.name, data, _OTHERS), posts)
            posts.save(part)
            (part / _MORE).mkdir()
            others.save(part / _MORE)
            counts[target] = len(posts)
        files = [file for file in folder.rglob("*") if file.is_file()]
        return {**counts, "bytes": sum(file.stat().st_size for file in files)}

    def open(self, data: Collection, model: Path, folder: Path) -> Bm25Index:
        """Return the index; its files are read when it is first asked."""
        return Bm25Index(self.name, self.finds, data, folder)


class Bm25Index(TextIndex):
    """Ranks posts and formulas by their terms."""

    def __init__(
        self, name: str, finds: frozenset[Target], data: Collection, folder: Path
    ) -> None:
        super().__init__(name, finds)
        self._data, self._folder = data, folder
        self._terms: dict[PostId, tuple[Post, list[str]]] = {}
        """Of posts that were added, and what belongs to them: read once."""

    def rank(
        self,
        queries: Sequence[Query],
        depth: int,
        ranking: str | None = None,
        types: PostTypes = None,
    ) -> Sequence[Hits]:
        """Return what shares terms with each query."""
        if queries and queries[0].target == "formulas":
            return self._formulas.rank(queries, depth)
        found = []
        for query in queries:
            terms = _query_terms(self._name, query)
            lists = [
                part.search_types(terms, depth, types or _RETURNED)
                for part in self._posts
            ]
            found.append(merge_hits(lists, depth))
        return found

    def explain_words(self, query: Query, key: PostId) -> tuple[WordShare, ...]:
        """Return what the words of a query add to the score of a post."""
        if query.target == "formulas" or self._name == "bm25_graph":
            return ()
        pairs = pair_terms(query.text, query.formula_map)
        shares: dict[str, float] = {}
        for part in self._posts:
            if part.finds(key):
                found = part.explain([term for term, _ in pairs], key)
                for (_, word), share in zip(pairs, found, strict=True):
                    shares[word] = shares.get(word, 0.0) + share
        best = sorted(shares.items(), key=lambda pair: -pair[1])
        return tuple(WordShare(*pair) for pair in best if pair[1] > 0)

    def bound_score(self, query: Query) -> float:
        """Return what no post's score for a query reaches."""
        return self._posts[0].bound(_query_terms(self._name, query))

    def count_word(self, word: str) -> int:
        """Return how many posts have a word."""
        (term,) = split_text(word, ())
        return sum(part.count(term) for part in self._posts)

    def warm_up(self) -> None:
        """Read its files."""
        for target in self._finds:
            _ = self._posts if target == "posts" else self._formulas

    @cached_property
    def _formulas(self) -> FormulaTermIndex:
        return FormulaTermIndex.load(self._name, self._folder / "formulas")

    def update(self, changes: Changes) -> None:
        """Find what was added or replaced after indexing, and not what was deleted."""
        super().update(changes)
        self.__dict__.pop("_posts", None)

    @cached_property
    def _indexed(self) -> tuple[PostTermIndex, PostTermIndex]:
        """What Task 1 may return, and questions."""
        folder = self._folder / "posts"
        return PostTermIndex.load(folder), PostTermIndex.load(folder / _MORE)

    @cached_property
    def _posts(self) -> list[PostTermIndex]:
        """The same without what was changed since, and that."""
        changed: TypedDocuments = ()
        if self._changes and self._name != "bm25_graph":
            changed = self._read_changed()
        new = PostTermIndex(changed, self._indexed[0])
        for part in self._indexed:
            part.hide(self._changes.keys.union(new.ids))
        return [*self._indexed, new]

    def _read_changed(self) -> TypedDocuments:
        """Return what was added, and the answers to questions that were changed."""
        changes, questions = self._changes, self._indexed[1].places
        posts = dict(changes.added)
        changed = {key for key in changes.keys if key in questions}
        asked = {p.parent_id for p in posts.values()} & questions.keys()
        keys = {*posts}
        if changed or asked:
            for post in self._data.posts():
                key, answers = post.post_id, post.parent_id in changed
                if (answers or key in asked) and key not in changes.keys:
                    posts[key] = post
                    keys.update([key] if answers else [])
        data = Collection(posts=posts.values)
        types = _RETURNED + _OTHERS
        read = _read_posts(self._name, data, types, self._list_terms)
        found = [row for row in read if row[0] in keys]
        self._terms = {key: self._terms[key] for key in posts if key in self._terms}
        return found

    def _list_terms(self, post: Post) -> list[str]:
        known = self._terms.get(post.post_id)
        if known is None or known[0] != post:
            known = post, _list_terms(self._name, post)
            self._terms[post.post_id] = known
        return known[1]


class PostTermIndex(TermIndex):
    """Posts of several types by their terms; ``like``: whose statistics count."""

    def __init__(
        self, posts: TypedDocuments, like: PostTermIndex | None = None
    ) -> None:
        self._types: list[str] = []
        self._hidden: frozenset[PostId] = frozenset()
        self._allowed: dict[tuple[str, ...], NDArray[np.bool_]] = {}
        super().__init__(self._read(posts), like)

    def _read(self, posts: TypedDocuments) -> Documents:
        for key, post_type, terms in posts:
            self._types.append(post_type)
            yield key, terms

    def hide(self, keys: frozenset[PostId]) -> None:
        """Return some posts no more, and all others."""
        self._hidden, self._allowed = keys, {}

    def finds(self, key: PostId) -> bool:
        """Tell whether a post may be returned."""
        return key in self.places and key not in self._hidden

    def search_types(
        self, terms: Sequence[str], depth: int, types: tuple[str, ...]
    ) -> Hits:
        """Return the best posts of some types."""
        if types not in self._allowed:
            rows = zip(self.ids, self._types, strict=True)
            shown = [t in types and key not in self._hidden for key, t in rows]
            self._allowed[types] = np.array(shown, dtype=np.bool_)
        if not self._allowed[types].any():
            return Hits.rank([], [])
        return self.search(terms, depth, self._allowed[types])

    def save(self, folder: Path) -> None:
        """Write the index to a folder."""
        super().save(folder)
        (folder / _TYPES).write_text(json.dumps(self._types), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what :meth:`save` wrote."""
        found = super().load(folder)
        found._types = json.loads((folder / _TYPES).read_text(encoding="utf-8"))
        return found


class FormulaTermIndex:
    """Formulas by their terms, one of each visual id."""

    def __init__(
        self,
        system: str,
        formulas: Mapping[FormulaId, FormulaInstance],
        index: TermIndex,
    ) -> None:
        self._system, self._formulas, self._index = system, formulas, index

    @classmethod
    def build(cls, system: str, data: Collection) -> FormulaTermIndex:
        """Read the formulas that may be returned."""
        chosen = choose_instances(data.formulas())
        documents = _read_formulas(system, chosen, data.trees_of)
        return cls(system, chosen, TermIndex(documents))

    def __len__(self) -> int:
        return len(self._index)

    def rank(self, queries: Sequence[Query], depth: int) -> list[FormulaHits]:
        """Return the formulas that share terms with that of each query."""
        return [
            name_formulas(
                self._index.search(
                    _formula_terms(self._system, query.asked_formula, query.trees),
                    depth,
                ),
                self._formulas,
            )
            for query in queries
        ]

    def save(self, folder: Path) -> None:
        """Write the index to a folder."""
        self._index.save(folder)
        save_formulas(folder, self._formulas.values())

    @classmethod
    def load(cls, system: str, folder: Path) -> FormulaTermIndex:
        """Read what :meth:`save` wrote."""
        return cls(system, load_formulas(folder), TermIndex.load(folder))


def _read_posts(
    system: str,
    data: Collection,
    types: tuple[str, ...],
    list_terms: Callable[[Post], list[str]] | None = None,
) -> TypedDocuments:
    """Yield the posts of some types with their terms.

    Args:
        system: which terms.
        data: with the posts.
        types: of post.
        list_terms: gives the terms of a post by itself.
    """
    total = data.count(types)
    if system == "bm25_graph":
        records = (r for r in data.graphs() if r.post_type in types)
        told = report_progress(records, "graphs read for bm25_graph", total=total)
        for record in told:
            terms = list_graph_terms(record.graph)
            yield record.graph_id, record.post_type, terms
        return
    list_terms = list_terms or partial(_list_terms, system)
    questions: dict[str, list[str]] = {}
    if system != "bm25" and "answer" in types:
        questions = {
            p.post_id: list_terms(p) for p in data.posts() if p.post_type == "question"
        }
    fields: dict[str, list[str]] = {}
    if system == "bm25_fields":
        fields = {
            s.post_id: split_text(f"{s.section}\n{s.contexts}", ())
            for s in data.statements()
        }
    posts = (p for p in data.posts() if p.post_type in types)
    for post in report_progress(posts, f"posts read for {system}", total=total):
        terms = list_terms(post) + questions.get(post.parent_id or "", [])
        yield post.post_id, post.post_type, terms + fields.get(post.post_id, [])


def _read_formulas(
    system: str, chosen: Mapping[FormulaId, FormulaInstance], trees_of: TreeLookup
) -> Documents:
    needs_trees = system not in ("bm25", "bm25_ngrams")
    told = report_progress(
        chosen.items(), f"formulas read for {system}", total=len(chosen)
    )
    for key, formula in told:
        trees = trees_of(formula) if needs_trees else None
        yield key, _formula_terms(system, formula, trees)


def _list_terms(system: str, post: Post) -> list[str]:
    return _titled_terms(post) if system == "bm25_fields" else _text_terms(post)


def _text_terms(text: Post | Query) -> list[str]:
    return split_text(text.text, text.formula_map)


def _titled_terms(post: Post) -> list[str]:
    """Return the terms of a text; those of its title or name count more."""
    end = len(post.title)
    title = [mention for mention in post.formula_map if mention.end <= end]
    return _text_terms(post) + split_text(post.text[:end], title) * (_NAME_WEIGHT - 1)


def _query_terms(system: str, query: Query) -> list[str]:
    if system != "bm25_graph":
        return _text_terms(query)
    return list_graph_terms(query.graph) if query.graph is not None else []


def _formula_terms(
    system: str, formula: FormulaInstance, trees: FormulaTrees | None
) -> list[str]:
    if system == "bm25":
        return split_latex(formula.latex)
    if system == "bm25_ngrams":
        return list_ngrams(formula.latex)
    if trees is None:
        return []
    if system == "bm25_slt":
        return list_patterns(trees.slt)
    if system == "bm25_opt":
        return list_patterns(trees.opt, window=2)
    return list_tuples(trees)
