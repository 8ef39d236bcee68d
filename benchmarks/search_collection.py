"""Engines on the vectors of a collection that has been run."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path

from mathamr_kedro.project import open_catalog
from mathamr_kedro.vectors.edge import EdgeIndex
from mathamr_kedro.vectors.exact import ExactIndex
from mathamr_kedro.vectors.post_vectors import PostEntry
from mathamr_kedro.vectors.protocol import HnswConfig, SearchMode
from mathamr_kedro.vectors.store import VectorStore

DEPTH = 1000
HNSW = SearchMode(exact=False, hnsw_ef=128)


def measure_collection(env: str | None, data_root: str | None) -> bool:
    """Build an index as the stage does, and compare engines on all topics."""
    catalog = open_catalog(env, data_root)
    store = catalog.load("post_vectors").read(catalog.load("encoded_posts")["encoder"])
    queries = read_queries(catalog)
    print(f"\ncollection of env {env}: {len(store)} posts, {len(queries)} topics")
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        EdgeIndex.open(Path(folder), store).close()
        rate = len(store) / (time.perf_counter() - start)
    print(f"  edge built with {rate:,.0f} posts/s (wall time, two cores)")
    with tempfile.TemporaryDirectory() as folder:
        # Graphs over all spaces; Qdrant scans a collection this small by default.
        graphs = HnswConfig(16, 16, 16, full_scan_threshold=10)
        index, truth = EdgeIndex.open(Path(folder), store, graphs), ExactIndex(store)
        good = compare(index, truth, queries)
        index.close()
    return good and rate >= 2000


def read_queries(catalog) -> list[PostEntry]:
    """Return the vectors of all topics."""
    vectors: VectorStore = catalog.load("topic_vectors").read(
        catalog.load("encoded_topics")["encoder"]
    )
    return list(vectors.read(list(vectors.keys())).entries())


def compare(index: EdgeIndex, truth: ExactIndex, queries: list[PostEntry]) -> bool:
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
            (near,) = getattr(index, name)([argument], DEPTH, HNSW)
            equal += exact[0] == edge[0]
            shares.append(len(set(near[0][:10]) & set(exact[0][:10])) / 10)
        share = statistics.mean(shares)
        print(
            f"  {name:17s} edge = exact: {equal}/{len(arguments)} rankings of {DEPTH}; "
            f"HNSW ef 128, top 10 in common: {share:.3f}"
        )
        good &= equal == len(arguments) and share >= 0.9
    return good
