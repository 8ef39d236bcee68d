"""Hard negatives by BM25: mined shard by shard, put behind the training pairs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.records import MinedNegatives
from mathamr_kedro.base.shards import EndOfShards, Shard, ShardItem, StartOfShards
from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.graph import PreparedGraphs
from mathamr_kedro.learning.negatives import group_pairs
from mathamr_kedro.learning.pairs import Positions, TrainingPairs
from mathamr_kedro.learning.term_negatives import TermMiner
from mathamr_kedro.pipelines.training.parameters import TrainingStageConfig
from mathamr_kedro.text import split_text

_PAIRS_PER_SHARD = 1000
_DUPLICATE = "duplicate"


class TextNegatives:
    """Answers that share words and LaTeX with a question and do not belong to it."""

    def __init__(
        self,
        config: TrainingStageConfig,
        graphs: PreparedGraphs,
        posts: ShardedTable | None,
        post_links: ShardedTable | None,
    ) -> None:
        self._config, self._graphs = config, graphs
        self._posts, self._links = posts, post_links
        tables = [None if t is None else t.checksum for t in (posts, post_links)]
        self.made_from = checksum(
            asdict(config.negatives),
            config.seed,
            graphs.folder.name,
            graphs.made_from,
            *tables,
        )

    def mine(self) -> Iterator[ShardItem]:
        """Yield the negatives of all training pairs, in shards."""
        start = StartOfShards(self.made_from)
        yield start
        pairs = TrainingPairs.of_rows(self._graphs.train_pairs, self._graphs.posts)
        starts = range(0, len(pairs), _PAIRS_PER_SHARD)
        missing = [a for a in starts if f"pairs-{a:08d}" not in start.finished]
        if missing:
            yield from self._mine_missing(pairs, missing)
        yield EndOfShards(self.made_from)

    def add_to(
        self, rows: NDArray[np.int64], table: ShardedTable | None
    ) -> NDArray[np.int64]:
        """Put mined negatives behind the pairs, as the third column and later ones."""
        if table is None or table.made_from != self.made_from:
            raise MissingInputError(
                "Expected hard negatives of these graphs and parameters; run the node "
                "'training.mine_text_negatives'"
            )
        found = {(r.question_id, r.answer_id): r.negatives for r in table.records()}
        keys, position = self._graphs.posts.keys, self._graphs.posts.position
        listed = [found.get((keys[q], keys[a]), ()) for q, a in rows.tolist()]
        width = max(map(len, listed), default=0)
        columns = np.full((len(rows), width), -1, dtype=np.int64)
        for row, negatives in enumerate(listed):
            columns[row, : len(negatives)] = [position(key) for key in negatives]
        return np.concatenate([rows, columns], 1)

    def group(self, pairs: TrainingPairs) -> Positions:
        """Return the groups of pairs whose questions ask the same, by their links."""
        place = {self._graphs.posts.keys[q]: int(q) for q in {*pairs.queries.tolist()}}
        links = self._links.records() if self._links is not None else ()
        linked = [
            (place[link.post_id], place[link.related_post_id])
            for link in links
            if link.kind == _DUPLICATE
            and link.post_id in place
            and link.related_post_id in place
        ]
        return group_pairs(pairs, self._graphs.posts, linked)

    def _mine_missing(
        self, pairs: TrainingPairs, starts: Sequence[int]
    ) -> Iterator[Shard]:
        keys, config = self._graphs.posts.keys, self._config
        groups, terms = self.group(pairs), self._split_posts(pairs)
        miner = TermMiner(pairs, groups, terms, config.negatives, config.seed)
        for start in report_progress(
            starts, "shards of hard negatives", total=len(starts)
        ):
            rows = [
                MinedNegatives(
                    keys[pairs.queries[n]],
                    keys[pairs.documents[n]],
                    tuple(keys[p] for p in miner.mine(n) if p >= 0),
                )
                for n in range(start, min(start + _PAIRS_PER_SHARD, len(pairs)))
            ]
            yield Shard.of_rows(f"pairs-{start:08d}", self.made_from, rows)

    def _split_posts(self, pairs: TrainingPairs) -> dict[int, list[str]]:
        """Return the terms of the posts of all pairs, by position."""
        used = {*pairs.queries.tolist(), *pairs.documents.tolist()}
        place = {self._graphs.posts.keys[p]: p for p in used}
        return {
            place[post.post_id]: split_text(post.text, post.formula_map)
            for post in (self._posts.records() if self._posts is not None else ())
            if post.post_id in place
        }
