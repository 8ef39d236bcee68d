"""From a collection and a trained model to an index, and from topics to ranked lists.

::

    index/task1/  ids.json            documents in the order of their numbers
                  pooled-*.arrays     means of tokens, for candidates
                  fused-*  context-*  formula-*    see token_index
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.files import write_text
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model import ComputeConfig
from mathamr_kedro.systems.base import Query
from mathamr_kedro.systems.marf.config import SearchConfig
from mathamr_kedro.systems.marf.items import Item
from mathamr_kedro.systems.marf.model import EncodedItems, MarfModel
from mathamr_kedro.systems.marf.token_index import TokenIndex

_IDS = "ids.json"
_ENCODED_AT_ONCE = 64

_Rows: TypeAlias = tuple[RaggedVectors[Tensor], list[int]]
"""Rows of vectors, and how many of them each item has."""


class ItemIndex:
    """Items of one task.

    Args:
        folder: of the index.
        model: that encodes.
        config: what is kept and how it is searched.
    """

    def __init__(self, folder: Path, model: MarfModel, config: SearchConfig) -> None:
        self._folder, self._model, self._config = folder, model, config
        device = ComputeConfig().choose_device()
        self._spaces = {
            kind: TokenIndex(folder, kind, device)
            for kind in ("pooled", "fused", *config.parts)
        }

    def write(self, items: Iterable[Item], noun: str) -> dict[str, int]:
        """Encode items and write them, shard by shard; return counts."""
        self._folder.mkdir(parents=True)
        stream = iter(report_progress(items, f"{noun} encoded by marf"))
        ids: list[str] = []
        size, rows, number = 0, 0, 0
        while shard := list(islice(stream, TokenIndex.documents_per_shard)):
            ids += [item.key for item in shard]
            for kind, (found, rows_of) in self._encode(shard).items():
                size += self._spaces[kind].write(number, found, rows_of)
                rows += sum(rows_of) if kind == "fused" else 0
            number += 1
        write_text(self._folder / _IDS, json.dumps(ids))
        return {noun: len(ids), f"{noun}_fused": rows, "bytes": size}

    def rankers(
        self, read: Callable[[Query], Item]
    ) -> Mapping[str, Callable[[Sequence[Query], int], list[Hits]]]:
        """Return what ranks items for topics, by kind of vectors.

        Args:
            read: returns a topic as an item.
        """
        ids = json.loads((self._folder / _IDS).read_text(encoding="utf-8"))
        kinds = [kind for kind in self._spaces if kind != "pooled"]
        return {kind: partial(self._rank, ids, kind, read) for kind in kinds}

    def _encode(self, items: Sequence[Item]) -> dict[str, _Rows]:
        """Return the rows of a shard by kind, in half precision."""
        parts: dict[str, list[_Rows]] = {kind: [] for kind in self._spaces}
        for start in range(0, len(items), _ENCODED_AT_ONCE):
            encoded = self._model.encode(items[start : start + _ENCODED_AT_ONCE])
            for kind, known in parts.items():
                rows, rows_of = _take_part(kind, encoded)
                known.append((rows.to("cpu", torch.float16), rows_of))
        return {
            kind: (
                RaggedVectors.join([rows for rows, _ in known]),
                [number for _, rows_of in known for number in rows_of],
            )
            for kind, known in parts.items()
        }

    def _rank(
        self,
        ids: Sequence[str],
        kind: str,
        read: Callable[[Query], Item],
        topics: Sequence[Query],
        depth: int,
    ) -> list[Hits]:
        found = []
        for topic in topics:
            query = self._model.encode([read(topic)])
            rows, _ = _take_part(kind, query)
            tokens = rows.vectors[: int(rows.ptr[1]) if len(rows) else 0]
            chosen = self._choose(query.pooled, kind, len(ids), depth)
            scores = self._spaces[kind].score(tokens, chosen)
            chosen, scores = chosen[np.isfinite(scores)], scores[np.isfinite(scores)]
            found.append(Hits.rank([ids[n] for n in chosen], scores).top(depth))
        return found

    def _choose(
        self, pooled: Tensor, kind: str, total: int, depth: int
    ) -> NDArray[np.int64]:
        """Return the documents that are scored; a formula alone has no text to ask."""
        every = np.arange(total, dtype=np.int64)
        number = max(self._config.candidates, depth)
        if kind == "formula" or not self._config.candidates or number >= total:
            return every
        near = self._spaces["pooled"].score(pooled, every)
        return np.argsort(-near, kind="stable")[:number]


def _take_part(kind: str, encoded: EncodedItems) -> _Rows:
    number = len(encoded.formulas_of)
    match kind:
        case "fused":
            return encoded.fused, encoded.fused_of
        case "formula":
            return encoded.formula, encoded.formulas_of
        case "context":
            return encoded.context, [1] * number
        case _:
            return RaggedVectors.one_each(encoded.pooled), [1] * number
