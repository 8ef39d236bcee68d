r"""From a collection and a trained model to an index, and from topics to ranked lists.

A document has one row of tokens for each formula that its text was fused with; its
score is the mean of theirs (Algorithm 1):

.. math::
    s(q, d) = \frac{1}{m} \sum_{j=1}^m \mathrm{MaxSim}(E_q, E_{d_j})

::

    index/task1/  items.arrays    where the rows of each document start, by kind
                  ids.json        documents in the order of their numbers
                  pooled.f16      means of tokens, for candidates
                  fused.f16  context.f16  formula.f16
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.arrays import read_arrays, spread_ranges, write_arrays
from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.base.records import FormulaInstance
from mathamr_kedro.base.types import FormulaId
from mathamr_kedro.base.vocabulary import Vocabulary
from mathamr_kedro.model import current_compute
from mathamr_kedro.systems.base import (
    TASK_1_TYPES,
    Collection,
    Ranker,
    Rankings,
    choose_instances,
    name_formulas,
)
from mathamr_kedro.systems.marf.config import MarfConfig, ModelConfig, SearchConfig
from mathamr_kedro.systems.marf.networks import (
    ContextEncoder,
    encode_rows,
    pool_tokens,
    scale_tokens,
)
from mathamr_kedro.systems.marf.posts import (
    CONTEXT,
    VOCABULARY,
    Item,
    number_tokens,
    read_formula,
    read_post,
)
from mathamr_kedro.systems.marf.training import (
    FORMULA,
    FUSION,
    make_formula_encoder,
    make_fusion,
)
from mathamr_kedro.systems.query import Query, Target
from mathamr_kedro.systems.vector_rows import VectorRows, VectorWriter, take_batches
from mathamr_kedro.systems.weights import load_weights

_IDS, _ITEMS = "ids.json", "items.arrays"
_TARGETS: Mapping[int, Target] = {1: "posts", 2: "formulas"}
"""What each task returns."""
_ENCODED_AT_ONCE, _FUSED_AT_ONCE = 64, 32


class EncodedRows(NamedTuple):
    """Vectors of some items, all of length 1."""

    rows: RaggedVectors[Tensor]
    counts: list[int]
    """How many rows each item has."""


class MarfModel:
    """The model in a folder."""

    def __init__(self, folder: Path, config: ModelConfig) -> None:
        device = current_compute().choose_device()
        self._config = config
        self._vocabulary = Vocabulary.load(folder / VOCABULARY)
        self._context = ContextEncoder(folder / CONTEXT).to(device).eval()
        self._formula = make_formula_encoder(config, len(self._vocabulary))
        load_weights(self._formula, folder / FORMULA)
        self._formula.to(device).eval()
        self._fusion = make_fusion(config, self._context.width)
        load_weights(self._fusion, folder / FUSION)
        self._fusion.to(device).eval()

    @torch.no_grad()
    def encode(self, items: Sequence[Item]) -> dict[str, EncodedRows]:
        """Encode some items, at least one.

        Returns:
            ``pooled`` the mean of the tokens of each text, ``context`` its tokens,
            ``formula`` those of each formula (or their mean for passage scoring),
            ``fused`` those of the text with each formula, or as they are without any.
        """
        texts = [item.text for item in items]
        states = encode_rows(
            self._context, self._context.split(texts, self._config.max_tokens)
        )
        context, one_each = scale_tokens(states), [1] * len(items)
        pooled = RaggedVectors.one_each(pool_tokens(states))
        counts = [len(item.formulas) for item in items]
        # an item without a formula has one of no tokens for the fusion
        chosen = [formula for item in items for formula in item.formulas or ((),)]
        ids = [number_tokens(self._vocabulary, formula) for formula in chosen]
        given = torch.tensor([len(row) > 0 for row in ids], device=context.ptr.device)
        formula = encode_rows(self._formula, ids)
        real = formula.take(given.nonzero().flatten())
        if self._config.scoring == "passage":
            tokens = RaggedVectors.one_each(pool_tokens(real))
        else:
            tokens = scale_tokens(real)
        rows = [max(1, n) for n in counts]
        owner = torch.arange(len(items)).repeat_interleave(torch.tensor(rows))
        # each formula with the text of its item
        parts = [
            self._fusion.fuse(context.take(texts_of), found)
            for texts_of, found in zip(
                owner.to(context.ptr.device).split(_FUSED_AT_ONCE),
                formula.split(_FUSED_AT_ONCE),
                strict=True,
            )
        ]
        return {
            "pooled": EncodedRows(pooled, one_each),
            "context": EncodedRows(context, one_each),
            "formula": EncodedRows(tokens, counts),
            "fused": EncodedRows(RaggedVectors.join(parts), rows),
        }


def build_index(
    config: MarfConfig, sources: Collection, model: Path, folder: Path
) -> dict[str, int]:
    """Encode answers and formulas; their token vectors are the index."""
    loaded = MarfModel(model, config.model)
    counts = {"bytes": 0}
    for task in config.search.tasks:
        items: Iterable[Item]
        if task == 2:
            chosen = choose_instances(sources.formulas())
            items = (read_formula(formula) for formula in chosen.values())
        else:
            number = config.model.max_formulas
            posts = (p for p in sources.posts() if p.post_type in TASK_1_TYPES)
            items = (read_post(post, number) for post in posts)
        kinds = ("pooled", "fused", *config.search.parts)
        part = folder / f"task{task}"
        found = _write_items(part, loaded, kinds, items, _TARGETS[task])
        counts |= {**found, "bytes": counts["bytes"] + found["bytes"]}
    return counts


def _write_items(
    folder: Path,
    model: MarfModel,
    kinds: Sequence[str],
    items: Iterable[Item],
    noun: str,
) -> dict[str, int]:
    """Encode items and write their rows; return counts."""
    folder.mkdir(parents=True)
    writers = {kind: VectorWriter(folder / kind) for kind in kinds}
    counts: dict[str, list[int]] = {kind: [0] for kind in kinds}
    ids: list[str] = []
    stream = report_progress(items, f"{noun} encoded by marf")
    for some in take_batches(stream, _ENCODED_AT_ONCE):
        ids += [item.key for item in some]
        encoded = model.encode(some)
        for kind, writer in writers.items():
            writer.add(encoded[kind].rows)
            counts[kind] += encoded[kind].counts
    starts = {kind: np.cumsum(found) for kind, found in counts.items()}
    size = sum(writer.close() for writer in writers.values())
    size += write_arrays(folder / _ITEMS, starts)
    write_text(folder / _IDS, json.dumps(ids))
    fused = int(starts["fused"][-1])
    return {noun: len(ids), f"{noun}_fused": fused, "bytes": size}


def open_index(
    config: MarfConfig, sources: Collection, model: Path, folder: Path
) -> Rankings:
    """Return ``marf``, and its encoders as far as they are indexed."""
    loaded = MarfModel(model, config.model)
    read_formulas = cache(lambda: choose_instances(sources.formulas()))
    rankers: dict[Target, dict[str, Ranker]] = {}
    for task in config.search.tasks:
        items = ItemIndex(folder / f"task{task}", loaded, config.search, read_formulas)
        rankers[_TARGETS[task]] = {
            "marf" if kind == "fused" else f"marf/{kind}": partial(items.rank, kind)
            for kind in ("fused", *config.search.parts)
        }
    return Rankings(rankers)


class ItemIndex:
    """Items of one task."""

    def __init__(
        self,
        folder: Path,
        model: MarfModel,
        config: SearchConfig,
        read_formulas: Callable[[], Mapping[FormulaId, FormulaInstance]],
    ) -> None:
        self._model, self._candidates = model, config.candidates
        self._read_formulas = read_formulas
        self._ids: list[str] = json.loads((folder / _IDS).read_text(encoding="utf-8"))
        self._starts = read_arrays(folder / _ITEMS)
        kinds = ("pooled", "fused", *config.parts)
        self._spaces = {kind: VectorRows(folder / kind) for kind in kinds}

    def rank(self, kind: str, topics: Sequence[Query], depth: int) -> list[Hits]:
        """Return what is nearest to each topic, by a kind of vectors."""
        lists = []
        for topic in topics:
            asks_formula = topic.formula is not None
            item = (
                read_formula(topic.asked_formula)
                if asks_formula
                else read_post(topic, 1)
            )
            query = self._model.encode([item])
            chosen = self._choose(query["pooled"].rows, kind, depth)
            items, scores = self._score(kind, query[kind].rows, chosen)
            hits = Hits.rank([self._ids[n] for n in items], scores).top(depth)
            lists.append(
                name_formulas(hits, self._read_formulas()) if asks_formula else hits
            )
        return lists

    def _choose(
        self, pooled: RaggedVectors[Tensor], kind: str, depth: int
    ) -> NDArray[np.int64]:
        """Return the items that are scored; only a formula has no text to ask by."""
        every = np.arange(len(self._ids))
        number = max(self._candidates, depth)
        if kind == "formula" or not self._candidates or number >= len(every):
            return every
        near = self._spaces["pooled"].score(pooled.vectors.cpu().numpy(), every)
        return np.argsort(-near, kind="stable")[:number]

    def _score(
        self, kind: str, query: RaggedVectors[Tensor], chosen: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the items that have rows, and the mean score of their rows."""
        starts = self._starts[kind]
        counts = np.diff(starts)[chosen]
        chosen, counts = chosen[counts > 0], counts[counts > 0]
        if not len(query) or not len(chosen):
            return chosen[:0], np.zeros(0)
        tokens = query.take(query.ptr[:1])  # the first row, of the only item
        scores = self._spaces[kind].score(
            tokens.vectors.cpu().numpy(), spread_ranges(starts[chosen], counts)
        )
        sums = np.add.reduceat(scores, np.cumsum(counts) - counts)
        return chosen, sums / counts
