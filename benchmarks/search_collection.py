"""Engines on the vectors of a collection that has been run."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from mathamr_kedro.project.catalog import open_catalog
from mathamr_kedro.systems.mathamr_plus import Encoder, open_vectors
from mathamr_kedro.vectors import (
    EngineConfig,
    ExactIndex,
    HnswConfig,
    PostEntry,
    SearchMode,
    VectorIndex,
    VectorStore,
    build_index,
    open_index,
)

DEPTH = 1000
HNSW = SearchMode(exact=False, hnsw_ef=128)


def measure_collection(env: str | None, data_root: str | None) -> bool:
    """Build an index as the stage does, and compare engines on all topics."""
    catalog = open_catalog(env, data_root)
    encoder: Encoder = catalog.load("mathamr_plus.model")
    vectors = open_vectors(encoder.vectors_folder)
    store, queries = vectors.posts, list_entries(vectors.topics)
    print(f"\ncollection of env {env}: {len(store)} posts, {len(queries)} topics")
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        build_index(EngineConfig("edge"), store, Path(folder))
        rate = len(store) / (time.perf_counter() - start)
    print(f"  edge built with {rate:,.0f} posts/s (wall time, two cores)")
    with tempfile.TemporaryDirectory() as folder:
        config = EngineConfig("edge", hnsw=HnswConfig(16, 16))
        build_index(config, store, Path(folder))
        index, truth = open_index(config, store, Path(folder)), ExactIndex(store)
        good = compare(index, truth, queries)
        index.close()
    return good and rate >= 2000


def list_entries(store: VectorStore) -> list[PostEntry]:
    """Return all vectors of a store."""
    return list(store.read(list(store.keys())).entries())


def compare(index: VectorIndex, truth: ExactIndex, queries: list[PostEntry]) -> bool:
    """Print equal rankings and the overlap of HNSW with exact search."""
    spaces = {
        "search_maxsim": [q.vectors for q in queries],
        "search_documents": [q.document() for q in queries],
        "search_formulas": [q.vectors[0] for q in queries if q.formula_ids],
    }
    good = True
    for name, arguments in spaces.items():
        equal, shares = 0, []
        for argument in arguments:
            (exact,) = getattr(truth, name)([argument], DEPTH)
            (edge,) = getattr(index, name)([argument], DEPTH)
            equal += exact.ids == edge.ids
            if name != "search_formulas":  # which has no graph
                (near,) = getattr(index, name)([argument], DEPTH, HNSW)
                shares.append(len(set(near.ids[:10]) & set(exact.ids[:10])) / 10)
        share = statistics.mean(shares or [1.0])
        print(
            f"  {name:17s} edge = exact: {equal}/{len(arguments)} rankings of {DEPTH}; "
            f"HNSW ef 128, top 10 in common: {share:.3f}"
        )
        good &= equal == len(arguments) and share >= 0.9
    return good
