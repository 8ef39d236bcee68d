"""Measure searches over smaller vectors side by side: codes and graphs.

The vectors of a finished run, as they are or as models of a larger collection, by
MaxSim, one query at a time, e.g.::

    python -m benchmarks.quantised_search --env pool --data-root data
    python -m benchmarks.quantised_search --env pool --data-root data --posts 1000000 \
        --dtype float16 --skip float32 edge --threads 2

A collection is made larger by posts that repeat its own with noise, so that every post
has many near ones: harder than a real collection of that size. Recall is that of the
first row; where posts are as they were, nDCG' and MAP' of the judged topics are
computed from 1000 answers.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.search_collection import read_queries
from mathamr_kedro.base.arrays import TextColumn
from mathamr_kedro.base.hits import Hits
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.evaluation.metrics import evaluate_run
from mathamr_kedro.pipelines.evaluation import EvaluationConfig
from mathamr_kedro.project.catalog import open_catalog
from mathamr_kedro.runs import list_topic_sets
from mathamr_kedro.trec import Run
from mathamr_kedro.vectors import (
    EngineConfig,
    ExactIndex,
    GraphRange,
    PostEntry,
    PostVectors,
    SearchMode,
    StoreWriter,
    VectorStore,
    open_index,
)
from mathamr_kedro.vectors.scan import ScanType

TYPES = frozenset({"answer", "document"})
HNSW = SearchMode(exact=False, hnsw_ef=128)
PER_SHARD = 4096
Search = Callable[[Sequence[PostEntry], int], list[Hits]]


@dataclass
class Row:
    """One way to search, opened."""

    search: Search
    num_bytes: Callable[[], int]
    """Of what a search looks at: in memory; of ``edge`` all files on disk."""
    close: Callable[[], None]
    note: str = ""


def grow(
    posts: PostVectors, count: int, noise: float, rng: np.random.Generator
) -> Iterator[PostVectors]:
    """Yield batches of posts: the given ones, then copies of them, moved by noise.

    All vectors of a copy are moved alike: what is equal in a post stays equal.
    Copies have no formulas of their own to return, so that building an index of posts
    is all that is measured.
    """
    places = np.arange(count) % len(posts)
    for a in range(0, count, PER_SHARD):
        chosen = posts.take(places[a : a + PER_SHARD])
        drawn = rng.standard_normal((len(chosen), posts.width), dtype=np.float32)
        drawn *= noise / np.sqrt(posts.width)
        drawn[: max(0, len(posts) - a)] = 0.0  # the posts themselves
        vectors = chosen.vectors + np.repeat(drawn, chosen.nodes.lengths, axis=0)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        names = (str(10_000_000 + i) for i in range(a, a + len(chosen)))
        yield PostVectors(
            TextColumn.of(names),
            chosen.post_types,
            RaggedVectors(vectors, chosen.ptr, chosen.nodes.columns),
            chosen.formula_ids,
            chosen.visual_ids,
            np.zeros(len(chosen.returnable), dtype=np.bool_),
        )


def open_store(
    options: argparse.Namespace, store: VectorStore, folder: Path
) -> VectorStore:
    """Return the store of the run, or one of as many posts as asked for."""
    if not options.posts:
        return store
    posts = store.read(list(store.keys()))
    posts = posts.take(np.flatnonzero(posts.is_post))
    rng = np.random.default_rng(0)
    with StoreWriter(folder, "grown", posts.width, options.dtype) as grown:
        first = 0
        for batch in grow(posts, options.posts, options.noise, rng):
            grown.write(batch, GraphRange("posts", first, first + len(batch)))
            first += len(batch)
        grown.complete()
    return VectorStore(folder)


def scan(store: VectorStore, kind: ScanType) -> Callable[[Path], Row]:
    """Return how the engine ``exact`` is opened."""

    def make(_: Path) -> Row:
        index = ExactIndex(store, scan=kind)

        def search(queries: Sequence[PostEntry], depth: int) -> list[Hits]:
            matrices = [q.vectors for q in queries]
            return index.search_maxsim(matrices, depth, types=TYPES)

        return Row(search, lambda: index.size().post_bytes, index.close)

    return make


def choose(store: VectorStore, candidates: int) -> Callable[[Path], Row]:
    """Return how ``exact`` finds candidates by their documents, then by MaxSim."""

    def make(_: Path) -> Row:
        index = ExactIndex(store, scan="int8")

        def search(queries: Sequence[PostEntry], depth: int) -> list[Hits]:
            return index.search_reranked(queries, candidates, depth, types=TYPES)

        return Row(search, lambda: index.size().post_bytes, index.close)

    return make


def walk(store: VectorStore, candidates: int) -> Callable[[Path], Row]:
    """Return how ``edge`` is opened: a walk over documents, then MaxSim of the best."""

    def make(folder: Path) -> Row:
        index = open_index(EngineConfig("edge"), store, folder)
        has_graph = any(folder.rglob("graph.bin")) or any(folder.rglob("links*.bin"))
        note = "" if has_graph else "too few posts for a graph: scanned"

        def search(queries: Sequence[PostEntry], depth: int) -> list[Hits]:
            return index.search_reranked(queries, candidates, depth, HNSW, TYPES)

        return Row(search, lambda: index.size().post_bytes, index.close, note)

    return make


def list_rows(
    options: argparse.Namespace, store: VectorStore
) -> dict[str, Callable[[Path], Row]]:
    """Return what is compared; the first row is the yardstick."""
    few = options.candidates
    rows = {
        "float32": scan(store, "float32"),
        "int8": scan(store, "int8"),
        f"documents, {few} candidates": choose(store, few),
        f"documents, {10 * few} candidates": choose(store, 10 * few),
        "edge hnsw": walk(store, few),
    }
    skipped = tuple(options.skip)
    return {n: r for n, r in rows.items() if not skipped or not n.startswith(skipped)}


def measure(row: Row, queries: Sequence[PostEntry], depth: int) -> dict[str, Any]:
    """Search one query at a time; return the medians of CPU and wall time, and hits."""
    row.search(queries[:1], depth)  # packs, and reads what is mapped
    cpu, wall, hits = [], [], []
    for query in queries:
        c, w = time.process_time(), time.perf_counter()
        hits += row.search([query], depth)
        cpu.append(1e3 * (time.process_time() - c))
        wall.append(1e3 * (time.perf_counter() - w))
    return {
        "cpu": statistics.median(cpu),
        "wall": statistics.median(wall),
        "rate": 1e3 * len(wall) / sum(wall),
        "hits": hits,
    }


def overlap(truth: Sequence[Hits], hits: Sequence[Hits], depth: int) -> float:
    """Return the mean share of the true ``depth`` best that was found."""
    shares = [
        len(set(a.ids[:depth]) & set(b.ids[:depth])) / min(depth, len(a.ids))
        for a, b in zip(truth, hits, strict=True)
    ]
    return statistics.mean(shares)


class Judges:
    """Scores rankings of the posts of a run by its judgments."""

    def __init__(self, catalog: Any) -> None:
        self._config = EvaluationConfig.read(catalog.load("params:evaluation"))
        tables = (catalog.load(n).records() for n in ("topics", "judgments"))
        sets = list_topic_sets(
            *tables, self._config.topic_sets, catalog.load("visual_index")
        )
        self._sets = [s for s in sets if s.task == 1 and s.qrels.grades]

    def score(self, queries: Sequence[PostEntry], hits: Sequence[Hits]) -> list[float]:
        """Return nDCG' and MAP', means over all judged topics."""
        lists = {
            q.key: dict(zip(h.ids, h.scores.tolist(), strict=True))
            for q, h in zip(queries, hits, strict=True)
        }
        totals, topics = np.zeros(2), 0
        for each in self._sets:
            run = each.choose(Run.from_scores("mine", lists))
            protocol = self._config.choose_protocol(1)
            scored = evaluate_run(run, each.qrels, protocol)
            means = [scored.mean("nDCG'"), scored.mean("MAP'")]
            totals += len(each.qrels.grades) * np.array(means)
            topics += len(each.qrels.grades)
        return (totals / max(1, topics)).tolist()


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", default="pool")
    parser.add_argument("--data-root", default=None)
    parser.add_argument("--posts", type=int, default=0, help="0: those of the run")
    parser.add_argument("--noise", type=float, default=0.5, help="length of it")
    parser.add_argument("--dtype", default="float32", help="of larger stores")
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--candidates", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--skip", nargs="*", default=[], help="first words of rows")
    parser.add_argument("--folder", type=Path, help="of larger stores, to be kept")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    catalog = open_catalog(options.env, options.data_root)
    source = catalog.load("mathamr_plus.index").vectors.posts
    topics = read_queries(catalog)
    asked = topics[: options.queries]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        grown = options.folder or folder / "vectors"
        known = grown.exists()
        store = VectorStore(grown) if known else open_store(options, source, grown)
        vectors = sum(shard.vectors for shard in store.shards)
        print(
            f"{len(store):,} posts of {vectors / len(store):.1f} vectors of "
            f"{store.width} ({store.dtype} on disk), {len(asked)} queries of "
            f"{statistics.mean(len(q.vectors) for q in asked):.1f} vectors, top "
            f"{options.depth}, {options.threads} threads"
        )
        judges = None if options.posts else Judges(catalog)
        compare(options, store, asked, topics, judges, folder)


def compare(
    options: argparse.Namespace,
    store: VectorStore,
    asked: Sequence[PostEntry],
    topics: Sequence[PostEntry],
    judges: Judges | None,
    folder: Path,
) -> None:
    """Open one row after another and print its figures beside those of the first."""
    print(
        "| search | B/post | smaller | CPU ms | wall ms | queries/s | faster (CPU) | "
        "recall@10 | @100 | nDCG' | MAP' | opened, CPU s |\n" + "|---" * 12 + "|"
    )
    first: dict[str, Any] = {}
    for name, make in list_rows(options, store).items():
        started = time.process_time()
        row = make(folder / "edge")
        found = measure(row, asked, options.depth)
        opened = time.process_time() - started - 1e-3 * found["cpu"] * len(asked)
        size = row.num_bytes() / len(store)
        first = first or found | {"size": size}
        scores = ["", ""]
        if judges is not None:
            means = judges.score(topics, row.search(topics, 1000))
            scores = [f"{mean:.4f}" for mean in means]
        recall = [overlap(first["hits"], found["hits"], k) for k in (10, 100)]
        print(
            f"| {name} | {size:,.0f} | {first['size'] / size:.1f} | {found['cpu']:.1f} "
            f"| {found['wall']:.1f} | {found['rate']:.1f} "
            f"| {first['cpu'] / found['cpu']:.2f} | {recall[0]:.4f} | {recall[1]:.4f} "
            f"| {' | '.join(scores)} | {opened:.1f} | {row.note}",
            flush=True,
        )
        row.close()
        del row
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"largest resident memory {peak:.1f} GB, files mapped into memory included")


if __name__ == "__main__":
    main()
