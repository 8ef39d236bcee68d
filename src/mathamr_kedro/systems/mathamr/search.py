r"""Formulas by the cosines of their contexts, a run reranked by them, and both fused.

::

    bm25_slt            17  4  90                  a run: of BM25, or any run file
    mathamr/rerank       4 17  90                  its formulas by cosine of contexts
    mathamr                                        score-weighted RRF of the two

.. math:: \text{score}(f) = \sum_{r \in \{\text{run}, \text{rerank}\}}
    \frac{s_r(f)}{60 + \text{rank}_r(f)}

Scores :math:`s_r` of each list are scaled to 0 ... 1. Formulas of a sentence share its
vector; of formulas that look the same the best counts::

    index/
      formulas.arrays       all that are compared, and the text of each
      0.f16 ... all.f16     a row for each text, by model
      posts/                of Task 1
        posts.json          answers, and the rows of their questions
        0.f16 ... all.f16   a row for each post, by model
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.hits import FormulaHits, Hits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.base.types import FormulaId, TopicId, VisualId
from mathamr_kedro.evaluation.metrics import sort_as_trec_eval
from mathamr_kedro.systems.base import (
    TASK_1_TYPES,
    Collection,
    FormulaTerms,
    Ranker,
    Rankings,
    choose_instances,
)
from mathamr_kedro.systems.bm25 import FormulaTermIndex
from mathamr_kedro.systems.folds import ALL
from mathamr_kedro.systems.formula_table import FormulaTable
from mathamr_kedro.systems.fusion import Fusion
from mathamr_kedro.systems.mathamr.config import MathAMRConfig, SearchConfig
from mathamr_kedro.systems.mathamr.contexts import Contexts
from mathamr_kedro.systems.mathamr.encoder import TextEncoder
from mathamr_kedro.systems.mathamr.training import FOLDS
from mathamr_kedro.systems.query import Query, Target
from mathamr_kedro.systems.vector_rows import VectorRows, write_rows
from mathamr_kedro.trec import read_run

logger = logging.getLogger(__name__)


_NAME, _FORMULAS = "mathamr", "formulas.arrays"
_AT_ONCE = 4096
"""Texts that are encoded before their vectors are written."""
_POSTS, _ANSWERS = "posts", "posts.json"
_LONGEST = 512
"""Tokens of a post: it is longer than the sentence of a formula."""


def build_index(
    config: MathAMRConfig, sources: Collection, model: Path, folder: Path
) -> Mapping[str, Any]:
    """Write the contexts of formulas, and encode them by each model."""
    contexts = Contexts(config.model.representation, sources)
    chosen = _choose_formulas(sources.formulas(), config.search.instances)
    row_of: dict[FormulaId, int] = {}
    texts: dict[str, int] = {}
    for key, text in _list_texts(contexts, chosen):
        if key in chosen and key not in row_of:  # the first text of each counts
            row_of[key] = texts.setdefault(text, len(texts))
    rows = np.array([row_of[key] for key in chosen], dtype=np.int64)
    size = FormulaTable.write(folder / _FORMULAS, list(chosen.values()), text=rows)
    models = sorted(path.parent for path in model.glob("*/config.json"))
    for found in models:
        encoder = TextEncoder(found, config.model.max_length)
        size += _write_vectors(folder / found.name, encoder, list(texts))
    if 1 in config.search.tasks:
        size += index_posts(contexts, sources, models, folder / _POSTS)
    return {
        "formulas": len(chosen),
        "texts": len(texts),
        "models": len(models),
        "bytes": size,
    }


def _choose_formulas(
    formulas: Iterable[FormulaInstance], instances: int
) -> dict[FormulaId, FormulaInstance]:
    """Keep those with the first ids of each visual id; 0 keeps all."""
    kept: dict[VisualId, list[FormulaInstance]] = {}
    for formula in formulas:
        found = kept.setdefault(formula.visual_id, [])
        found.append(formula)
        if instances and len(found) > instances:
            found.remove(max(found, key=lambda f: (len(f.formula_id), f.formula_id)))
    return {f.formula_id: f for found in kept.values() for f in found}


def _list_texts(
    contexts: Contexts, chosen: Mapping[FormulaId, FormulaInstance]
) -> Iterator[tuple[FormulaId, str]]:
    for found in contexts.of_posts():
        yield from found.items()
    for key, formula in chosen.items():  # those that have no context
        yield key, contexts.write_alone(formula)


def _write_vectors(path: Path, encoder: TextEncoder, texts: Sequence[str]) -> int:
    title = f"texts encoded by model {path.name}"
    stream = report_progress(texts, title, total=len(texts))
    return write_rows(path, stream, encoder.encode, _AT_ONCE)


def open_index(
    config: MathAMRConfig, sources: Collection, model: Path, folder: Path
) -> Rankings:
    """Return rankings of formulas, the best form, then its parts; and of posts."""
    search = ContextSearch(config, sources, model, folder)
    rankers: dict[str, Ranker] = {}
    for name, first in open_first_stages(config.search, sources).items():
        is_own = name == config.search.first_stage
        suffix = "" if is_own else f"_{name}"
        rankers[_NAME if is_own else f"{_NAME}/rrf{suffix}"] = search.fuse(first)
        rankers[f"{_NAME}/rerank{suffix}"] = search.rerank(first)
        rankers[f"{_NAME}/{name}"] = first
    rankers[f"{_NAME}/cosine" if _NAME in rankers else _NAME] = search.rank
    found: dict[Target, dict[str, Ranker]] = {"formulas": rankers}
    if 1 in config.search.tasks:
        posts = PostStrings(search.contexts, model, folder / _POSTS)
        found["posts"] = {_NAME: posts.rank}
    return Rankings(found)


class FoldModels:
    """The models of all folds, and the vectors of an index by each."""

    def __init__(self, model: Path, folder: Path, length: int) -> None:
        folds = (model / FOLDS).read_text(encoding="utf-8")
        self._fold_of: dict[TopicId, str] = json.loads(folds)
        self._open = cache(lambda name: TextEncoder(model / name, length))
        self._vectors = cache(lambda name: VectorRows(folder / name))

    def encode(
        self, topic: TopicId, text: str
    ) -> tuple[NDArray[np.float32], VectorRows]:
        """Encode a text by the model that did not learn from a topic."""
        name = self._fold_of.get(topic, ALL)
        return self._open(name).encode([text]), self._vectors(name)


class ContextSearch:
    """Searches formulas by the cosines of their contexts."""

    def __init__(
        self, config: MathAMRConfig, sources: Collection, model: Path, folder: Path
    ) -> None:
        self.contexts = Contexts(config.model.representation, sources)
        self._depth = config.search.depth
        self._table = FormulaTable(folder / _FORMULAS)
        self._models = FoldModels(model, folder, config.model.max_length)

    def rank(self, topics: Sequence[Query], depth: int) -> list[FormulaHits]:
        """Return the best formulas for topics."""
        every = np.arange(len(self._table))
        return self._rank(topics, [every] * len(topics), depth)

    def rerank(self, first: Ranker) -> Ranker:
        """Return what ranks the formulas of a run by their cosines."""
        return lambda topics, depth: self._rerank(
            topics, first(topics, self._depth), depth
        )

    def fuse(self, first: Ranker) -> Ranker:
        """Return what fuses a run with its reranking."""

        def rank(topics: Sequence[Query], depth: int) -> list[Hits]:
            lists = first(topics, self._depth)
            again = self._rerank(topics, lists, self._depth)
            fusion = Fusion("score_rrf", depth=depth)
            return [fusion.fuse(pair) for pair in zip(lists, again, strict=True)]

        return rank

    def _rerank(
        self, topics: Sequence[Query], lists: Sequence[Hits], depth: int
    ) -> list[FormulaHits]:
        among = [self._table.find_visuals(hits.judged_ids) for hits in lists]
        if among and all(len(rows) == len(self._table) for rows in among):
            logger.warning(
                "mathamr: the run that is reranked holds all %d formulas of the index, "
                "so that it chooses nothing and its cosines order all of them; lower "
                "systems.mathamr.search.depth (%d)", len(self._table), self._depth,
            )  # fmt: skip
        return self._rank(topics, among, depth)

    def _rank(
        self, topics: Sequence[Query], among: Sequence[NDArray[np.int64]], depth: int
    ) -> list[FormulaHits]:
        """Rank some rows of the table for each topic."""
        hits = []
        for topic, rows in zip(topics, among, strict=True):
            text = self.contexts.write_query(topic)
            query, vectors = self._models.encode(topic.key, text)
            texts = self._table.numbers["text"][rows]
            different, place = np.unique(texts, return_inverse=True)
            # 1 but for the rounding to halves
            halves = vectors.rows.vectors[different].astype(np.float32)
            cosines = vectors.score(query, different) / np.linalg.norm(halves, axis=1)
            hits.append(self._table.rank(rows, cosines[place], depth))
        return hits


def open_first_stages(config: SearchConfig, sources: Collection) -> dict[str, Ranker]:
    """Return what ranks formulas first, by name; the own one before those of files.

    Raises:
        MissingInputError, MalformedInputError: a run file is missing, or holds no
            formula of the collection.
    """
    runs = {config.first_stage: config.first_stage, **config.runs}
    terms = get_args(FormulaTerms)
    return {
        name: (_open_terms if run in terms else _open_run)(run, sources)
        for name, run in runs.items()
        if run != "none"
    }


def _open_terms(system: str, sources: Collection) -> Ranker:
    """BM25; the collection is read when it is first asked."""
    build = cache(lambda: FormulaTermIndex.build(system, sources))
    return lambda topics, depth: build().rank(topics, depth)


def _open_run(path: str, sources: Collection) -> Ranker:
    """A run from a file; formulas that the collection lacks are skipped."""
    run = read_run(path)
    formulas = {f.visual_id: f for f in choose_instances(sources.formulas()).values()}
    visual_of = {visual: visual for visual in formulas}
    if run.holds_instances:
        visual_of = {f.formula_id: f.visual_id for f in sources.formulas()}
    lists: dict[TopicId, dict[VisualId, float]] = {}
    for topic, hits in run.lists.items():
        best = lists.setdefault(topic, {})
        for document, score in sort_as_trec_eval(Hits(hits.ids, hits.scores)):
            if document in visual_of:
                best.setdefault(visual_of[document], score)
    if not any(lists.values()):
        raise MalformedInputError(
            f"Expected formulas of this collection in the run {path!r}, by formula or "
            "visual id (got none) (systems.mathamr.search.runs)"
        )

    def rank(topics: Sequence[Query], depth: int) -> list[FormulaHits]:
        return [name(lists.get(topic.key, {}), depth) for topic in topics]

    def name(best: Mapping[VisualId, float], depth: int) -> FormulaHits:
        visuals = list(best)[:depth]
        found = [formulas[visual] for visual in visuals]
        return FormulaHits(
            [f.formula_id for f in found],
            np.array([best[visual] for visual in visuals], dtype=np.float64),
            visuals,
            [f.post_id for f in found],
        )

    return rank


def index_posts(
    contexts: Contexts, sources: Collection, models: Sequence[Path], folder: Path
) -> int:
    """Encode questions and answers by each model; return the bytes."""
    folder.mkdir()
    texts = dict(contexts.write_posts())
    posts = [p for p in sources.posts() if p.post_id in texts]
    posts = [p for p in posts if p.post_type in ("question", *TASK_1_TYPES)]
    rows = {post.post_id: row for row, post in enumerate(posts)}
    answers = {
        post.post_id: [row, rows.get(post.parent_id or "", row)]
        for row, post in enumerate(posts)
        if post.post_type in TASK_1_TYPES
    }
    write_text(folder / _ANSWERS, json.dumps(answers))
    strings = [texts[post.post_id] for post in posts]
    return sum(
        _write_vectors(folder / model.name, TextEncoder(model, _LONGEST), strings)
        for model in models
    )


class PostStrings:
    r"""Ranks posts by their strings (Task 1).

    The paper ranks formulas only; Appendix C of the thesis shows answers too and does
    not say how they were ranked. Here an answer is as near as its question and itself
    are, both as whole linearised graphs:

    .. math:: \text{score}(q, a) = \cos(q, \text{question}(a)) \cdot \cos(q, a)

    A document without a question is its own. Topics are searched by the model of the
    fold of their formula: topic B.301 asks for a formula of the post of A.301.
    """

    def __init__(self, contexts: Contexts, model: Path, folder: Path) -> None:
        self._contexts = contexts
        self._models = FoldModels(model, folder, _LONGEST)
        answers = json.loads((folder / _ANSWERS).read_text(encoding="utf-8"))
        self._ids = list(answers)
        rows = np.array(list(answers.values()), dtype=np.int64)
        self._rows: NDArray[np.int64] = rows.reshape(-1, 2)

    def rank(self, topics: Sequence[Query], depth: int) -> list[Hits]:
        """Return the best answers for topics."""
        found = []
        for topic in topics:
            of_formula = f"B{topic.key.removeprefix('A')}"
            text = self._contexts.write_topic(topic)
            query, vectors = self._models.encode(of_formula, text)
            cosines = vectors.score(query, np.arange(len(vectors.rows)))
            scores = np.maximum(cosines, 0.0)[self._rows].prod(1)
            found.append(Hits.rank(self._ids, scores).top(depth))
        return found
