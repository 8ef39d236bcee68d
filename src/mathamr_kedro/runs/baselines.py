"""The baselines as systems: a collection in, a function that ranks topics out.

===============  ==========================================  ===============
system           what it compares                            finds
===============  ==========================================  ===============
bm25             words of the text and tokens of LaTeX       posts, formulas
bm25_question    the same of an answer and its question      posts
bm25_graph       nodes and edges of the math graphs          posts
bm25_tuples      tuples of both formula trees                formulas
bm25_slt         patterns of the layout tree                 formulas
bm25_opt         patterns of the operator tree               formulas
bm25_ngrams      runs of one to three tokens of LaTeX        formulas
minilm           a sentence encoder over text with LaTeX     posts, formulas
minilm_title     the same, and the title of the question     posts
minilm_question  the same, and the whole question            posts
===============  ==========================================  ===============

``mpnet``, ``mpnet_title`` and ``mpnet_question`` are the same with all-mpnet-base-v2,
``text``, ``text_title`` and ``text_question`` with any model in a folder
(:mod:`mathamr_kedro.text.models`).

BM25 holds four bytes for each term of the collection while it reads, and eight for each
different term of a document afterwards; a sentence encoder four bytes for each
dimension of each post or visual id (MiniLM 1.5 KB). All rankers of formulas hold one
instance of each visual id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast, get_args

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import FormulaInstance, Post, Topic
from mathamr_kedro.base.types import PostId, TopicId
from mathamr_kedro.graph import GraphRecord
from mathamr_kedro.runs.sentence_index import SentenceIndex
from mathamr_kedro.systems.protocol import TermSystem, TreeLookup
from mathamr_kedro.systems.queries import (
    choose_instances,
    find_query_formula,
    name_formulas,
)
from mathamr_kedro.systems.term_rankers import FormulaRanker, build_term_ranker
from mathamr_kedro.text import (
    TEXT_MODELS,
    TermIndex,
    list_graph_terms,
    restore_latex,
    split_text,
)

PostSystem: TypeAlias = Literal[
    "bm25", "bm25_question", "bm25_graph",
    "minilm", "minilm_title", "minilm_question", "mpnet", "mpnet_title",
    "mpnet_question", "text", "text_title", "text_question",
]  # fmt: skip
FormulaSystem: TypeAlias = Literal[TermSystem, "minilm", "mpnet", "text"]
POST_SYSTEMS: tuple[PostSystem, ...] = get_args(PostSystem)
FORMULA_SYSTEMS: tuple[FormulaSystem, ...] = get_args(FormulaSystem)

TASK_1_TYPES = ("answer", "document")
"""Types of post that Task 1 may return."""


PostRanker: TypeAlias = Callable[[Sequence[Topic], int], list[Hits]]
"""Ranks posts for topics, to a depth."""


@dataclass(frozen=True)
class PostSources:
    """What rankers of posts read; each is asked for again where it is needed twice."""

    posts: Callable[[], Iterable[Post]]
    graphs: Callable[[], Iterable[GraphRecord]] = tuple
    """Math graphs of the posts."""
    topic_graphs: Callable[[], Iterable[GraphRecord]] = tuple
    post_types: tuple[str, ...] = TASK_1_TYPES
    """Types of post that may be returned."""
    text_model: str | None = None
    """Folder of the model of ``text``, ``text_title`` and ``text_question``."""
    count: Callable[[tuple[str, ...]], int | None] = lambda types: None
    """Number of posts of some types, where it is known; for the lines of progress."""

    def chosen(self) -> Iterator[Post]:
        """Yield the posts that may be returned."""
        return (p for p in self.posts() if p.post_type in self.post_types)

    def read(self, system: str) -> Iterator[Post]:
        """Yield them and tell how far it is."""
        total = self.count(self.post_types)
        return report_progress(self.chosen(), f"posts read for {system}", total=total)


def build_post_ranker(system: PostSystem, sources: PostSources) -> PostRanker:
    """Read the collection once or twice; return what ranks posts for topics."""
    match system:
        case "bm25":
            index = TermIndex((p.post_id, _post_terms(p)) for p in sources.read(system))
            return lambda topics, depth: [
                index.search(_post_terms(topic), depth) for topic in topics
            ]
        case "bm25_question":
            return _rank_with_questions(sources)
        case "bm25_graph":
            return _rank_graphs(sources)
        case _:
            return _rank_sentences_of_posts(system, sources)


def build_formula_ranker(
    system: FormulaSystem,
    formulas: Iterable[FormulaInstance],
    trees_of: TreeLookup,
    text_model: str | None = None,
) -> FormulaRanker:
    """Return what ranks formulas for topics of Task 2.

    Formulas that look the same are the same to these systems: one of them, that with
    the first id, stands for all.

    Args:
        system: see above.
        formulas: the list of those that may be returned, the same for every system.
        trees_of: finds trees, for the systems that compare them.
        text_model: folder of the model of ``text``.
    """
    chosen = choose_instances(formulas)
    model = name_text_model(system, text_model)
    if model is not None:
        texts = ((key, formula.latex) for key, formula in chosen.items())
        rank = SentenceIndex(model, texts, total=len(chosen)).search
        return lambda topics, depth: [
            name_formulas(hits, chosen)
            for hits in rank([find_query_formula(t).latex for t in topics], depth)
        ]
    return build_term_ranker(cast(TermSystem, system), chosen, trees_of)


def name_text_model(system: str, text_model: str | None) -> str | None:
    """Return the model of a system that encodes sentences; ``None`` for the others.

    >>> name_text_model("mpnet_title", None), name_text_model("bm25", None)
    ('mpnet', None)

    Raises:
        ConfigurationError: ``text`` without the folder of a model.
    """
    name = system.removesuffix("_title").removesuffix("_question")
    if name == "text" and text_model is None:
        raise ConfigurationError(
            f"Expected evaluation.text_model, the folder of a model, for {system!r}"
        )
    if name == "text":
        return text_model
    return name if name in TEXT_MODELS else None


def _post_terms(post: Post | Topic) -> list[str]:
    return split_text(post.text, post.formula_map)


def _restore(post: Post | Topic) -> str:
    return restore_latex(post.text, post.formula_map)


def _restore_title(post: Post) -> str:
    """Return the title, with which the text of a question begins."""
    end = len(post.title)
    return restore_latex(post.text[:end], [m for m in post.formula_map if m.end <= end])


def _rank_with_questions(sources: PostSources) -> PostRanker:
    questions = {
        p.post_id: _post_terms(p) for p in sources.posts() if p.post_type == "question"
    }

    def terms(post: Post) -> list[str]:
        return _post_terms(post) + questions.get(post.parent_id or "", [])

    found = sources.read("bm25_question")
    index = TermIndex((p.post_id, terms(p)) for p in found)
    return lambda topics, depth: [index.search(_post_terms(t), depth) for t in topics]


def _rank_graphs(sources: PostSources) -> PostRanker:
    chosen = (r for r in sources.graphs() if r.post_type in sources.post_types)
    total = sources.count(sources.post_types)
    index = TermIndex(
        (record.graph_id, list_graph_terms(record.graph))
        for record in report_progress(chosen, "graphs read for bm25_graph", total=total)
    )

    def rank(topics: Sequence[Topic], depth: int) -> list[Hits]:
        queries: dict[TopicId, str] = {
            r.graph_id: r.graph for r in sources.topic_graphs()
        }
        graphs = [queries.get(t.topic_id) for t in topics]
        terms = [list_graph_terms(graph) if graph else [] for graph in graphs]
        return [index.search(found, depth) for found in terms]

    return rank


def _rank_sentences_of_posts(system: PostSystem, sources: PostSources) -> PostRanker:
    titles: dict[PostId, str] = {}
    if system.endswith(("_title", "_question")):
        restore = _restore_title if system.endswith("_title") else _restore
        questions = (p for p in sources.posts() if p.title)
        titles = {p.post_id: restore(p) for p in questions}
        parents = {p.post_id: p.parent_id or "" for p in sources.chosen()}
        titles = {key: titles[q] for key, q in parents.items() if q in titles}
    texts = ((p.post_id, _restore(p)) for p in sources.chosen())
    model = name_text_model(system, sources.text_model)
    assert model is not None  # the systems without one are ranked elsewhere
    total = sources.count(sources.post_types)
    rank = SentenceIndex(model, texts, titles, total).search
    return lambda topics, depth: rank([_restore(t) for t in topics], depth)
