r"""Two-stage ranking: candidates by structure, then structure and text together.

.. math::
    S_\text{final}(q, c) = \lambda \cos(f_q, f_c) + (1 - \lambda) \cos(t_q, t_c)
    \qquad (3)

with vectors :math:`f` of structure and :math:`t` of the surrounding text. A visual id
has one structure and as many texts as instances; it counts by its best instance.

::

    structure.f16     a row for each visual id, in the order of their first instances
    contexts.f16      different texts around formulas; none without a text model
    formulas.arrays   all instances, and the context of each (-1: none)
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray

from mathamr_kedro.base.hits import FormulaHits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import FormulaInstance, Post
from mathamr_kedro.base.types import FormulaId, PostId, VisualId
from mathamr_kedro.formula.graphs import build_shared_graph
from mathamr_kedro.model import current_compute
from mathamr_kedro.systems.base import Collection, Rankings
from mathamr_kedro.systems.formula_table import FormulaTable, choose_tree
from mathamr_kedro.systems.query import Query
from mathamr_kedro.systems.ssemb.config import SSEmbConfig
from mathamr_kedro.systems.ssemb.graphs import GraphTableBuilder, read_labels
from mathamr_kedro.systems.ssemb.network import StructureEncoder
from mathamr_kedro.systems.ssemb.training import LABELS, WEIGHTS
from mathamr_kedro.systems.vector_rows import VectorRows, write_rows
from mathamr_kedro.systems.weights import load_weights
from mathamr_kedro.text import SentenceEncoder, explain_absence, find_text_model

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTree

logger = logging.getLogger(__name__)

_LENGTH = 1024
"""Characters of a context, as in the paper."""
_STEP = 512
"""Between the starts of two windows."""
_STRUCTURE, _CONTEXTS, _FORMULAS = "structure", "contexts", "formulas.arrays"
_CANDIDATES = 500_000
"""Visual ids that the first stage keeps, by structure only; as in the paper."""
_TREES_AT_ONCE, _TEXTS_AT_ONCE = 2048, 512


class Contexts(NamedTuple):
    r"""Texts of one post, which SemEmb encodes.

    ::

        post      Let $p$ be a prime. … so $\sqrt p$ is irrational, since …
        windows   |─────────── 1,024 ────────────|
                            |─────────── 1,024 ────────────|   starts: multiples of 512
                                          |──────── …

    A formula has the window whose middle is nearest to it; so formulas close to each
    other share a text, and a post that is short has one text for all.
    """

    by_formula: dict[FormulaId, str]
    beginning: str
    """For formulas whose place is not known, as in a comment."""

    @classmethod
    def read(cls, post: Post | Query) -> Contexts:
        """Return what is around each formula of a text, LaTeX between dollars."""
        parts: list[str] = []
        places: dict[FormulaId, int] = {}
        end = length = 0
        for mention in sorted(post.formula_map, key=lambda m: m.start):
            latex = f"${mention.latex}$"
            parts += [post.text[end : mention.start], latex]
            length += mention.start - end
            places.setdefault(mention.formula_id, length + len(latex) // 2)
            length += len(latex)
            end = mention.end
        text = "".join([*parts, post.text[end:]])
        found = {key: _cut(text, place) for key, place in places.items()}
        return cls(found, _cut(text, 0))

    def find(self, formula_id: FormulaId) -> str:
        """Return the text of a formula."""
        return self.by_formula.get(formula_id, self.beginning)


def _cut(text: str, place: int) -> str:
    """Return the window of a text whose middle is nearest to a place."""
    start = find_window(place, len(text), _LENGTH, _STEP)
    return text[start : start + _LENGTH]


def find_window(place: int, size: int, length: int, step: int) -> int:
    """Return where the window of a text starts whose middle is nearest to a place.

    Windows have a length, and a step between the starts of two of them.

    >>> [find_window(place, 1000, 400, 200) for place in (0, 250, 350, 999)]
    [0, 0, 200, 600]
    """
    last = max(0, -(-(size - length) // step))  # number of the last window
    nearest = round((place - length / 2) / step)
    return step * min(max(nearest, 0), last)


class TreeEncoder:
    """StructEmb, trained: operator trees to vectors of length 1."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self._vocabulary = read_labels(folder / LABELS)
        self._model = StructureEncoder(dimension, len(self._vocabulary))
        load_weights(self._model, folder / WEIGHTS)
        self._device = current_compute().choose_device()
        self._model.to(self._device).eval()

    @torch.inference_mode()
    def encode(self, trees: Sequence[FormulaTree]) -> NDArray[np.float32]:
        """(N, k) vectors of trees."""
        builder = GraphTableBuilder()
        for tree in trees:
            builder.add(build_shared_graph(tree))
        batch = builder.finish(self._vocabulary).take(np.arange(len(trees)))
        vectors = F.normalize(self._model(batch.to(self._device)), dim=1)
        found: NDArray[np.float32] = vectors.cpu().numpy()
        return found


def build_index(
    config: SSEmbConfig, sources: Collection, model: Path, folder: Path
) -> Mapping[str, Any]:
    """Encode a tree of each visual id and, if there is a text model, all contexts."""
    encoder = TreeEncoder(model, config.model.dimension)
    instances: list[FormulaInstance] = []
    trees = _gather_trees(sources, instances)
    size = write_rows(folder / _STRUCTURE, trees, encoder.encode, _TREES_AT_ONCE)
    contexts = np.full(len(instances), -1, dtype=np.int64)
    texts = _open_text_model(config.search.text_model)
    if texts is not None:
        stream = report_progress(
            _read_contexts(sources, instances, contexts), "texts encoded for ssemb"
        )
        size += write_rows(folder / _CONTEXTS, stream, texts.encode, _TEXTS_AT_ONCE)
    size += FormulaTable.write(folder / _FORMULAS, instances, context=contexts)
    count = int(contexts.max(initial=-1)) + 1
    return {"instances": len(instances), "texts": count, "bytes": size}


def _gather_trees(
    sources: Collection, instances: list[FormulaInstance]
) -> Iterator[FormulaTree]:
    """Yield an operator tree of each visual id that has one; list the instances."""
    with_tree: set[VisualId] = set()
    without: set[VisualId] = set()
    for formula in report_progress(sources.formulas(), "formulas indexed by ssemb"):
        if formula.visual_id in without:
            continue
        if formula.visual_id not in with_tree:
            tree = choose_tree(sources.trees_of(formula), "opt")
            if tree is None:
                without.add(formula.visual_id)
                continue
            with_tree.add(formula.visual_id)
            yield tree
        instances.append(formula)
    if without:
        logger.warning(
            "ssemb: %d visual ids without operator tree are never found", len(without)
        )


def _read_contexts(
    sources: Collection,
    instances: Sequence[FormulaInstance],
    contexts: NDArray[np.int64],
) -> Iterator[str]:
    """Yield the different texts of each post; note which instance has which."""
    of_post: dict[PostId, list[int]] = {}
    for number, formula in enumerate(instances):
        of_post.setdefault(formula.post_id, []).append(number)
    count = 0
    for post in sources.posts():
        if post.post_id not in of_post:
            continue
        known, texts = Contexts.read(post), dict[str, int]()
        for number in of_post[post.post_id]:
            text = known.find(instances[number].formula_id)
            if text.strip():
                contexts[number] = texts.setdefault(text, count + len(texts))
        count += len(texts)
        yield from texts


def _open_text_model(name: str) -> SentenceEncoder | None:
    absence = explain_absence(name)
    if absence is not None:
        logger.warning("ssemb: structure only, no texts. %s", absence)
        return None
    return SentenceEncoder(
        find_text_model(name), str(current_compute().choose_device())
    )


_Query: TypeAlias = tuple[NDArray[np.float32] | None, NDArray[np.float32] | None]
"""Structure and text of a topic as vectors; ``None``: no operator tree, no texts."""


class FormulaSearch(Rankings):
    """Ranks formulas for topics: by both halves, by each of them, along the curve."""

    def __init__(
        self, config: SSEmbConfig, sources: Collection, model: Path, folder: Path
    ) -> None:
        self._encoder = TreeEncoder(model, config.model.dimension)
        self._table = FormulaTable(folder / _FORMULAS)
        self._structure = VectorRows(folder / _STRUCTURE)
        self._visuals = np.arange(len(self._structure.rows)).astype(str).astype(object)
        self._texts, name = None, config.search.text_model
        if (folder / _CONTEXTS).with_suffix(".arrays").is_file():
            self._contexts = VectorRows(folder / _CONTEXTS)
            self._texts = _open_text_model(name)
        elif explain_absence(name) is None:
            logger.warning(
                "ssemb: structure only, no texts. The index was built without %s; to "
                "have them, delete %r and run the stage 'indexing'", name, str(folder),
            )  # fmt: skip
        self._known: dict[Query, _Query] = {}
        weights = {"ssemb": config.search.structure_weight}
        if self._texts is not None:
            weights |= {"ssemb/structure": 1.0, "ssemb/text": 0.0}
            weights |= {f"ssemb/lambda_{w:g}": w for w in config.search.curve}
        rankers = {n: partial(self._search, w) for n, w in weights.items()}
        super().__init__({"formulas": rankers})

    def _search(
        self, weight: float, topics: Sequence[Query], depth: int
    ) -> list[FormulaHits]:
        """Return the best formulas for each topic, with lambda of Eq. 3."""
        return [self._score(self._encode(topic), depth, weight) for topic in topics]

    def _score(self, query: _Query, depth: int, weight: float) -> FormulaHits:
        asked, text = query
        if asked is None:
            return FormulaHits([], np.zeros(0), [], [])
        ((found, similar),) = self._structure.find([asked], _CANDIDATES, self._visuals)
        structure = np.full(len(self._visuals), -np.inf)
        structure[found] = similar
        final = structure[self._table.visuals]
        rows = np.flatnonzero(final > -np.inf)
        final = final[rows]
        if text is not None:
            context = self._table.numbers["context"][rows]
            texts, place = np.unique(context, return_inverse=True)
            has_text = texts >= 0
            semantic = np.zeros(len(texts))
            semantic[has_text] = self._contexts.score(text, texts[has_text])
            final = weight * final + (1 - weight) * semantic[place]
        return self._table.rank(rows, final, depth)

    def _encode(self, topic: Query) -> _Query:
        if topic not in self._known:  # several rankers are asked the same
            tree = choose_tree(topic.trees, "opt")
            vectors = self._encoder.encode([tree]) if tree is not None else None
            text = None
            if self._texts is not None:
                context = Contexts.read(topic).find(topic.asked_formula.formula_id)
                text = self._texts.encode([context])
            self._known[topic] = vectors, text
        return self._known[topic]


open_index = FormulaSearch
