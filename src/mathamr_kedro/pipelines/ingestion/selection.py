"""Which posts all tables of the stage are about, and which of them make pairs."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from mathamr_kedro.base.checksums import checksum
from mathamr_kedro.base.records import Failure, TrainingPair
from mathamr_kedro.base.shards import (
    EndOfShards,
    Shard,
    ShardItem,
    ShardPairs,
    StartOfShards,
)
from mathamr_kedro.base.types import PostId
from mathamr_kedro.corpus import (
    Collection,
    PostChoice,
    SubsetCollection,
    Threads,
)
from mathamr_kedro.corpus.raw import make_failure
from mathamr_kedro.datasets import ShardedTable
from mathamr_kedro.pipelines.ingestion.parameters import IngestionConfig

logger = logging.getLogger(__name__)


def choose_posts(
    collection: Collection, parameters: Mapping[str, Any]
) -> Iterator[ShardItem]:
    """Choose the posts of the judged subset; without one the table is empty."""
    config = IngestionConfig.read(parameters)
    if config.subset is None:
        yield EndOfShards(checksum("chosen", "all"))
        return
    raw = collection.checksum("posts", "formulas", "qrels")
    made_from = checksum("chosen", raw, asdict(config.subset), config.pairs)
    start = StartOfShards(made_from)
    yield start
    if not start.finished:
        rows, counts = PostChoice(collection, config.subset).choose(config.pairs)
        numbers = ", ".join(f"{name} {n:,}" for name, n in counts.items())
        logger.info("judged subset: %s", numbers)
        yield Shard("chosen", made_from, rows, {"written": len(rows), **counts})
    yield EndOfShards(made_from)


def open_subset(
    collection: Collection, chosen_posts: ShardedTable, parameters: Mapping[str, Any]
) -> Collection:
    """Return the collection as the stage reads it: whole, or its chosen posts."""
    subset = IngestionConfig.read(parameters).subset
    if subset is None:
        return collection
    rows = chosen_posts.records()
    return SubsetCollection(collection, rows, chosen_posts.checksum, subset)


def pair_posts(
    collection: Collection,
    posts: ShardedTable,
    statement_links: ShardedTable,
    chosen_posts: ShardedTable,
    parameters: Mapping[str, Any],
) -> ShardPairs:
    """Pair questions with answers for training; note threads that are not whole.

    By ``pairs: links``, a statement is paired with each one that its proof cites.
    """
    config = IngestionConfig.read(parameters)
    answers = config.pairs
    collection = open_subset(collection, chosen_posts, parameters)
    if answers == "judged":
        yield from _pair_judged(collection, posts)
        return
    columns = Threads.COLUMNS
    threads = Threads(
        values
        for table in posts.tables(columns)
        for values in zip(*(table[c].to_pylist() for c in columns), strict=True)
    )
    found = (
        itertools.starmap(TrainingPair, statement_links.records())
        if answers == "links"
        else threads.pairs(answers)
    )
    pairs = list(filter(collection.keeps_pair, found))
    # Threads of a subset are not meant to be whole.
    problems = list(threads.problems()) if config.subset is None else []
    links = [statement_links.checksum] if answers == "links" else []
    made_from = checksum("pairs", posts.checksum, answers, *links)
    yield (
        Shard.of_rows("threads", made_from, problems),
        Shard.of_rows("pairs", made_from, pairs),
    )
    yield EndOfShards(made_from), EndOfShards(made_from)


def _pair_judged(collection: Collection, posts: ShardedTable) -> ShardPairs:
    """Pair queries with the documents that judgments for training call relevant."""
    made_from = checksum("pairs", posts.checksum, collection.checksum("pairs"))
    known: set[PostId] = set()
    for table in posts.tables(["post_id"]):
        known.update(table["post_id"].to_pylist())
    pairs, problems = [], []
    for found in collection.pairs():
        if isinstance(found, Failure):
            problems.append(found)
        elif known.issuperset(found):
            pairs.append(found)
        else:
            detail = f"not among the posts: {', '.join(sorted({*found} - known))}"
            place, reason = f"query {found.question_id}", "pair_without_post"
            problems.append(
                make_failure("pairs", place, reason, detail, found.answer_id)
            )
    yield (
        Shard.of_rows("judgments", made_from, problems),
        Shard.of_rows("pairs", made_from, pairs),
    )
    yield EndOfShards(made_from), EndOfShards(made_from)
