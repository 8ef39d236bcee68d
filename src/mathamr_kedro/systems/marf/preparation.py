"""From a collection to the files that the training reads."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import TrainingPair
from mathamr_kedro.base.types import PostId
from mathamr_kedro.systems.base import Collection
from mathamr_kedro.systems.marf.config import ModelConfig
from mathamr_kedro.systems.marf.context_encoder import ContextEncoder
from mathamr_kedro.systems.marf.items import Item
from mathamr_kedro.systems.marf.post_shards import PostShards
from mathamr_kedro.systems.marf.vocabulary import TokenVocabulary
from mathamr_kedro.text import find_text_model

_AT_ONCE = 256
_ONE = float(2**64)


class Preparation:
    """Pairs of a collection, its posts as tokens, and the context encoder.

    Args:
        sources: the collection.
        folder: to write to.
        config: what decides the weights.
    """

    def __init__(self, sources: Collection, folder: Path, config: ModelConfig) -> None:
        self._sources, self._folder, self._config = sources, folder, config

    def run(self) -> dict[str, Any]:
        """Write everything; return counts.

        Raises:
            MissingInputError: the context encoder is not there; the message says how
                to get it.
        """
        model = find_text_model(self._config.context)
        pairs = self._choose_pairs()
        wanted = {key for pair in pairs for key in pair}
        formulas = (f for item in self._read(wanted, "counted") for f in item.formulas)
        vocabulary = TokenVocabulary.count(
            formulas, self._config.vocabulary, self._config.max_formula_tokens
        )
        vocabulary.save(self._folder)
        context = ContextEncoder(model)
        row_of = self._write_posts(wanted, vocabulary, context)
        counts = self._write_pairs(pairs, row_of)
        context.save(self._folder / "context")
        return {**counts, "posts": len(row_of), "tokens": len(vocabulary)}

    def _choose_pairs(self) -> list[TrainingPair]:
        """Return all pairs, or some that do not depend on their order."""
        found = self._sources.pairs()
        limit = self._config.max_pairs
        return nsmallest(limit, found, key=_hash_pair) if limit else list(found)

    def _read(self, wanted: set[PostId], done: str) -> Iterator[Item]:
        posts = (p for p in self._sources.posts() if p.post_id in wanted)
        for post in report_progress(posts, f"posts {done} for marf", total=len(wanted)):
            yield Item.of_post(post, self._config.formulas_of_a_post)

    def _write_posts(
        self,
        wanted: set[PostId],
        vocabulary: TokenVocabulary,
        context: ContextEncoder,
    ) -> dict[PostId, int]:
        """Write the shards; return the row of each post."""
        row_of: dict[PostId, int] = {}
        items = self._read(wanted, "written")
        shard = 0
        while batch := list(islice(items, PostShards.posts_per_shard)):
            texts = [
                ids
                for start in range(0, len(batch), _AT_ONCE)
                for ids in context.split(
                    [item.text for item in batch[start : start + _AT_ONCE]],
                    self._config.max_tokens,
                )
            ]
            formulas = [[vocabulary.number(f) for f in i.formulas] for i in batch]
            posts = list(zip(texts, formulas, strict=True))
            PostShards.write(self._folder, shard, posts)
            row_of |= {item.key: len(row_of) + n for n, item in enumerate(batch)}
            shard += 1
        return row_of

    def _write_pairs(
        self, pairs: list[TrainingPair], row_of: dict[PostId, int]
    ) -> dict[str, int]:
        known = [pair for pair in pairs if row_of.keys() >= set(pair)]
        rows = np.array(
            [[row_of[pair.question_id], row_of[pair.answer_id]] for pair in known],
            dtype=np.int64,
        ).reshape(-1, 2)
        share = self._config.validation_share
        is_held_out: NDArray[np.bool_] = np.array(
            [_hash(pair.question_id) < share * _ONE for pair in known], dtype=np.bool_
        )
        PostShards.write_pairs(self._folder, rows[~is_held_out], rows[is_held_out])
        return {
            "pairs": int((~is_held_out).sum()),
            "validation_pairs": int(is_held_out.sum()),
            "pairs_without_posts": len(pairs) - len(known),
        }


def _hash_pair(pair: TrainingPair) -> int:
    return _hash(f"{pair.question_id} {pair.answer_id}")


def _hash(text: str) -> int:
    """Return a number below 2**64 that looks drawn, and is the same every time."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())
