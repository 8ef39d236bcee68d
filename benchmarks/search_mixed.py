"""Searches by more than MaxSim: answers with their questions, and both scores at once.

Each is measured against its slow twin in one run, on the same vectors: those of a
collection that has been run, or random ones of the pool's sizes.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import search_data
from benchmarks.slow_mixing import search_slowly
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.systems.mathamr_plus import Strategy, find_questions
from mathamr_kedro.systems.mathamr_plus.strategies import (
    Questions,
    find_posts,
    search_posts,
)
from mathamr_kedro.vectors import PostEntry, VectorStore
from mathamr_kedro.vectors.exact import ExactIndex

DEPTH, AT_ONCE = 1000, 32
POSTS, WIDTH, EVERY = 7393, 128, 3
"""Of the pool; every third random post is a question."""
RELEASED = Strategy(with_question=0.5, with_document=0.2, sentence_weight=0.3)
BOTH = Strategy("combined", depth=DEPTH, post_types=("answer", "document"))


class World(NamedTuple):
    """Vectors of posts, queries, and who answers whom."""

    store: VectorStore
    queries: list[PostEntry]
    questions: Questions


def open_world(env: str | None, data_root: str | None) -> World:
    """Read the vectors of a collection; its topics are the queries."""
    from mathamr_kedro.project.catalog import open_catalog

    catalog = open_catalog(env, data_root)
    topics, store = catalog.load("mathamr_plus.index").vectors
    names = sorted(name for name in topics.places if name.startswith("A."))
    tables = catalog.load("posts").tables(["post_id", "parent_id"])
    queries = list(topics.read(names).entries())
    return World(store, queries, find_questions(tables, store.places))


def draw_world(folder: Path, make_store: Callable[..., VectorStore]) -> World:
    """Draw posts around common centres; a third of them are questions."""
    centres = search_data.draw_centres(WIDTH)
    posts = search_data.draw_posts(POSTS, WIDTH, centres=centres)
    types = np.ones(POSTS, dtype=np.uint8)
    types[::EVERY] = 0
    store = make_store(folder, replace(posts, post_types=types), 2000)
    keys = np.array(list(posts.keys), dtype=np.object_)
    asked, answers = keys[::EVERY], keys[np.arange(POSTS) % EVERY > 0]
    pairs = zip(answers, np.resize(asked, len(answers)), strict=True)
    queries = search_data.draw_queries(2 * AT_ONCE, WIDTH, centres=centres)
    return World(store, queries, Questions(pairs))


def measure_mixed(world: World, count: int, device: str) -> bool:
    """Print queries per second of both searches, before and after."""
    queries = world.queries[:count]
    index = ExactIndex(world.store, device)
    print(
        f"\n{len(world.store)} posts of {world.store.width} dimensions, {len(queries)} "
        f"queries, {AT_ONCE} at once, {device}: queries/s (per CPU second)"
    )

    def ask(search: Callable[..., list[Hits]]) -> Callable[..., list[Hits]]:
        return lambda some: search(index, RELEASED, world.questions, some, DEPTH)

    pairs = {
        "answers with their questions": (ask(search_slowly), ask(search_posts)),
        "both scores, standardised": (
            lambda some: combine_slowly(index, some),
            lambda some: search_posts(index, BOTH, {}, some, DEPTH),
        ),
    }
    good = True
    for name, (slow, fast) in pairs.items():
        before, old = time_search(slow, queries)
        after, new = time_search(fast, queries)
        same = sum(a.ids == b.ids for a, b in zip(old, new, strict=True))
        apart = max(
            float(np.abs(a.scores - b.scores).max())
            for a, b in zip(old, new, strict=True)
        )
        print(
            f"  {name:30s} slow twin {before[0]:6.1f} ({before[1]:6.1f})   search "
            f"{after[0]:6.1f} ({after[1]:6.1f})   {same}/{len(queries)} rankings of "
            f"{DEPTH} equal, scores within {apart:.0e}"
        )
        good &= same == len(queries) and after[1] > before[1]
    return good


def time_search(
    search: Callable[[Sequence[PostEntry]], list[Hits]], queries: Sequence[PostEntry]
) -> tuple[tuple[float, float], list[Hits]]:
    """Return queries per wall and CPU second, after one warm-up, and the lists."""
    search(queries[:1])
    cpu, wall, hits = time.process_time(), time.perf_counter(), []
    for a in range(0, len(queries), AT_ONCE):
        hits += search(queries[a : a + AT_ONCE])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return (len(queries) / wall, len(queries) / cpu), hits


def combine_slowly(index: ExactIndex, queries: Sequence[PostEntry]) -> list[Hits]:
    """Combine two searches, with the vectors of all candidates from the store."""
    lists = [
        find_posts(index, queries, replace(BOTH, retrieval=name, depth=BOTH.candidates))
        for name in ("maxsim", "single")
    ]
    results = []
    for query, *both in zip(queries, *lists, strict=True):
        union = list({key for hits in both for key in hits.ids})
        posts = index.posts.read(union)
        similar = query.vectors.astype(np.float64) @ posts.vectors.T.astype(np.float64)
        nearest = np.maximum.reduceat(similar, posts.ptr[:-1], axis=1).mean(0)
        whole = posts.vectors[posts.document_rows].astype(np.float64) @ query.document()
        total = sum((s - s.mean()) / s.std() for s in (nearest, whole))
        results.append(Hits.rank(union, total).top(DEPTH))
    return results


def run_mixed(
    env: str | None,
    data_root: str | None,
    count: int,
    device: str,
    make_store: Callable[..., VectorStore],
) -> bool:
    """Measure on a collection if one is named, otherwise on random posts."""
    if env is not None:
        return measure_mixed(open_world(env, data_root), count, device)
    with tempfile.TemporaryDirectory() as folder:
        return measure_mixed(draw_world(Path(folder), make_store), count, device)
