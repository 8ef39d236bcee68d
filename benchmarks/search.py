"""Measure search: exactness, speed of the engines, building, graphs, GPU, text.

One part or several, e.g. ``python -m benchmarks.search speed build --posts 33771``;
the GPU's figures by ``python -m benchmarks.search gpu --device cuda``; typed queries
against the index of an environment by ``... query --env pool``, and the engines on its
vectors by ``... collection --env pool``. Times are CPU time of the process (all its
threads) and wall time; both sides of a comparison are measured in one run, on the same
vectors, one query at a time.
"""

from __future__ import annotations

import argparse
import functools
import statistics
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from itertools import islice
from pathlib import Path

import numpy as np
import torch

from benchmarks import search_data
from mathamr_kedro.vectors import (
    BuiltIndex,
    EngineConfig,
    ExactIndex,
    GraphRange,
    HnswConfig,
    PostEntry,
    PostParts,
    PostVectors,
    SearchMode,
    ServerConfig,
    StoreWriter,
    UpdatedIndex,
    VectorIndex,
    VectorStore,
    build_index,
    open_index,
)

ENCODER = "random"
PARTS = ("twin", "speed", "build", "graphs", "gpu", "query", "collection")
QUESTIONS = (
    r"why is $\sqrt2$ irrational",
    r"How do I show that $\sum_{n=1}^\infty \frac{1}{n^2}$ converges? The test by "
    r"integrals leads to $\int_1^\infty x^{-2} dx$, but I do not see why it is finite.",
    "Are there infinitely many primes?",
)


def measure(calls: Iterable[Callable[[], object]]) -> tuple[float, float]:
    """Return the median CPU and wall time of calls, in milliseconds."""
    cpu, wall = [], []
    for call in calls:
        c, w = time.process_time(), time.perf_counter()
        call()
        cpu.append(1e3 * (time.process_time() - c))
        wall.append(1e3 * (time.perf_counter() - w))
    return statistics.median(cpu), statistics.median(wall)


def make_store(folder: Path, posts: PostVectors, per_shard: int = 4000) -> VectorStore:
    """Write posts to a new store."""
    with StoreWriter(folder, ENCODER, posts.width) as writer:
        for a in range(0, len(posts), per_shard):
            last = min(a + per_shard, len(posts))
            writer.write(posts.take(np.arange(a, last)), GraphRange("posts", a, last))
        writer.complete()
    return VectorStore(folder)


def draw_trouble(name: str, rng: np.random.Generator) -> list[PostEntry]:
    """Draw posts of one kind of trouble."""
    posts = []
    for key in range(300):
        formulas = 0 if name == "zero formulas" else int(rng.integers(0, 9))
        sentences = 0 if name == "one vector" else int(rng.integers(1, 9))
        formulas = 0 if name == "one vector" else formulas
        rows = rng.standard_normal((formulas + sentences + 1, 32))
        if name == "duplicates" and key % 3 and key:
            posts.append(posts[-1]._replace(key=str(key)))
            continue
        ids = [f"{key}-{i}" for i in range(formulas)]
        kinds = [0] * formulas + [1] * sentences + [2]
        numbers = [*range(formulas), *range(sentences), 0]
        posts.append(PostEntry(str(key), "answer", rows, kinds, numbers, ids, ids))
    return posts


def check_twin(options: argparse.Namespace) -> bool:
    """Compare exact MaxSim with a double loop in float64."""
    print("\nexact MaxSim against a double loop in float64 (300 posts, 20 queries)")
    good = True
    for name in ("random", "one vector", "duplicates", "zero formulas"):
        rng = np.random.default_rng(5)
        posts = draw_trouble(name, rng)
        with tempfile.TemporaryDirectory() as folder:
            store = make_store(Path(folder), PostVectors.of(posts), 100)
            index = ExactIndex(store)
            same, worst = 0, 0.0
            for query in draw_trouble("random", rng)[:20]:
                matrix = query.vectors / np.linalg.norm(query.vectors, axis=1)[:, None]
                (hits,) = index.search_maxsim([matrix.astype(np.float32)], 1000)
                order, scores = loop_over(store, matrix.astype(np.float32))
                same += hits.ids == order
                worst = max(worst, float(np.abs(hits.scores - scores).max()))
        good &= same == 20 and worst < 1e-6
        print(f"  {name:14s} {same}/20 rankings equal, largest difference {worst:.1e}")
    return good


def loop_over(store: VectorStore, query: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return all posts in the true order, and their scores."""
    scores = {}
    for post in store.read(list(store.keys())).entries():
        total = 0.0
        for q in query.astype(np.float64):
            total += max(float(q @ d) for d in post.vectors.astype(np.float64))
        scores[post.key] = total / len(query)
    order = sorted(scores, key=lambda k: (-round(scores[k], 9), len(k), k))
    return order, np.array([scores[k] for k in order])


def compare_engines(options: argparse.Namespace) -> bool:
    """Measure exact MaxSim of three engines on the same posts."""
    from qdrant_client import QdrantClient

    from mathamr_kedro.vectors.qdrant import QdrantIndex
    from mathamr_kedro.vectors.server import Server

    print(
        f"\nexact MaxSim, {options.posts} posts x 16 vectors x 32, one query at a "
        f"time, {torch.get_num_threads()} threads: CPU ms (wall ms) a query"
    )
    warnings.filterwarnings("ignore", "Local mode|Payload indexes")
    posts = search_data.draw_posts(options.posts)
    queries = [q.vectors for q in search_data.draw_queries(options.queries)]
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(Path(folder) / "vectors", posts)
        exact = ExactIndex(store)
        small = ExactIndex(store, scan="int8")
        edge = build(EngineConfig("edge"), store, Path(folder) / "edge")
        engines: dict[str, VectorIndex] = {
            "exact float32": exact,
            "exact int8": small,
            "edge": edge,
            "edge, 5000 changed": change(edge, store, 5000),
        }
        if options.local:
            client, hnsw = QdrantClient(":memory:"), HnswConfig()
            server = Server(client)
            server.build("mine", store, hnsw, ServerConfig())
            found = server.open("mine")
            local = QdrantIndex(found, store, hnsw, Path(folder))
            engines["client, local mode"] = local
        times = {name: time_engine(engine, queries) for name, engine in engines.items()}
        for name, (ten, thousand) in times.items():
            print(
                f"  {name:20s} top 10 {ten[0]:8.2f} ({ten[1]:8.2f})   top 1000 "
                f"{thousand[0]:8.2f} ({thousand[1]:8.2f})"
            )
        good = True
        for name, least in (("edge", 1.0), ("client, local mode", 14.0)):
            if name in times:
                ratios = [
                    times[name][i][0] / times["exact float32"][i][0] for i in (0, 1)
                ]
                good &= min(ratios) >= least
                print(
                    f"  exact is {ratios[0]:.1f} / {ratios[1]:.1f} times faster than "
                    f"{name} (top 10 / 1000; asked for {least:g})"
                )
        same = sum(
            exact.search_maxsim([q], 1000)[0].ids
            == edge.search_maxsim([q], 1000)[0].ids
            for q in queries
        )
        print(f"  edge and exact: {same}/{len(queries)} rankings of 1000 are equal")
        edge.close()
    return good and same == len(queries)


def build(config: EngineConfig, store: VectorStore, folder: Path) -> BuiltIndex:
    """Build an index and open it."""
    folder.mkdir()
    build_index(config, store, folder)
    return open_index(config, store, folder)


def change(base: BuiltIndex, store: VectorStore, count: int) -> UpdatedIndex:
    """Replace some posts of an index by themselves, as if they had been changed."""
    posts = store.read(list(islice(store.keys(), count)))
    parts = PostParts([posts], store.encoder, store.width, store.dtype)
    return UpdatedIndex(base, parts, ())


def time_engine(engine, queries: list[np.ndarray]) -> list[tuple[float, float]]:
    """Return CPU and wall time for 10 and for 1000 results, after one warm-up."""
    times = []
    for depth in (10, 1000):
        engine.search_maxsim(queries[:1], depth)
        times.append(
            measure(
                [lambda q=q, d=depth: engine.search_maxsim([q], d) for q in queries]
            )
        )
    return times


def measure_building(options: argparse.Namespace) -> bool:
    """Measure how fast stores and indexes are built, and how large they are."""
    count = options.posts
    posts = search_data.draw_posts(count)
    print(f"\nbuilding, {count} posts, {len(posts.formula_ids)} formulas")
    plain, graphs = EngineConfig("edge", hnsw=HnswConfig(0)), EngineConfig("edge")
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        stages: dict[str, Callable[[], object]] = {
            "store of vectors": lambda: make_store(root / "vectors", posts),
            "exact, in memory": lambda: warm(ExactIndex(VectorStore(root / "vectors"))),
            "edge without graphs": lambda: build(
                plain, VectorStore(root / "vectors"), root / "plain"
            ).close(),
            "edge, graph on doc": lambda: build(
                graphs, VectorStore(root / "vectors"), root / "edge"
            ).close(),
            "edge, opened again": lambda: open_index(
                graphs, VectorStore(root / "vectors"), root / "edge"
            ).close(),
            "edge, read whole": lambda: open_index(
                graphs, VectorStore(root / "vectors"), root / "edge", verify=True
            ).close(),
        }
        rates = {}
        for name, stage in stages.items():
            c, w = time.process_time(), time.perf_counter()
            stage()
            c, w = time.process_time() - c, time.perf_counter() - w
            rates[name] = count / c
            print(
                f"  {name:20s} {c:7.2f} CPU s, {w:7.2f} wall s: {count / c:9.0f} posts "
                "per CPU second"
            )
        for name in ("vectors", "plain", "edge"):
            files = [f for f in (root / name).rglob("*") if f.is_file()]
            size = 512 * sum(f.stat().st_blocks for f in files)  # files have holes
            print(f"  {name} on disk: {size / 1e6:.1f} MB, {size / count:.0f} B a post")
    return rates["edge without graphs"] >= 2000


def warm(index: ExactIndex) -> None:
    """Search once in every space, so that all are packed."""
    query = search_data.draw_queries(1)[0]
    index.search_maxsim([query.vectors], 10)
    index.search_documents([query.document()], 10)
    index.search_formulas([query.document()], 10)
    print(f"  packed vectors in memory: {sum(index.size()[2:4]) / 1e6:.1f} MB")


def measure_graphs(options: argparse.Namespace) -> bool:
    """Measure the overlap of HNSW searches with exact ones."""
    count = options.graph_posts
    centres = search_data.draw_centres(32)
    print(f"\nHNSW (ef 128, m 16) against exact, {count} posts of crowded vectors")
    posts = search_data.draw_posts(count, centres=centres)
    queries = search_data.draw_queries(options.queries, centres=centres)
    config = EngineConfig("edge", hnsw=HnswConfig(16, 16))
    build_graphs_at_once()
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(Path(folder) / "vectors", posts)
        start = time.process_time()
        index = build(config, store, Path(folder) / "edge")
        print(f"  built in {time.process_time() - start:.1f} CPU s")
        truth = ExactIndex(store)
        good = True
        for depth in (10, 100, 1000):
            shares = [overlap(index, truth, q, depth) for q in queries]
            cells = []
            for i, name in enumerate(("maxsim", "doc")):
                column = [s[i] for s in shares]
                share = statistics.mean(s for s, _ in column)
                cpu = statistics.median(t for _, t in column)
                cells.append(f"{name} {share:.3f} ({cpu:.2f} CPU ms)")
                good &= share >= 0.9
            print(f"  asked for {depth:4d}: top 10 in common: {', '.join(cells)}")
        index.close()
    return good


def build_graphs_at_once() -> None:
    """Let small collections have graphs, which Qdrant scans by default."""
    from mathamr_kedro.vectors.edge import qe

    optimizers = qe.EdgeOptimizersConfig(indexing_threshold=1)
    qe.EdgeConfig = functools.partial(qe.EdgeConfig, optimizers=optimizers)


def overlap(index, truth, query: PostEntry, depth: int) -> list[tuple[float, float]]:
    """Return the share of the true top 10 found, and CPU time, in each space."""
    mode, document = SearchMode(exact=False, hnsw_ef=128), query.document()
    results = []
    for search, argument in (
        ("search_maxsim", query.vectors),
        ("search_documents", document),
    ):
        c = time.process_time()
        (found,) = getattr(index, search)([argument], depth, mode)
        c = 1e3 * (time.process_time() - c)
        (true,) = getattr(truth, search)([argument], 10)
        results.append((len(set(found.ids[:10]) & set(true.ids)) / 10, c))
    return results


def measure_gpu(options: argparse.Namespace) -> bool:
    """Measure exact searches on a GPU."""
    from benchmarks.search_gpu import measure_formulas, measure_posts

    good = measure_posts(options.device, options.gpu_posts, options.tilings)
    return measure_formulas(options.device, options.gpu_formulas) and good


def time_queries(options: argparse.Namespace) -> bool:
    """Measure searches by text in a project, from typing to reasons in words."""
    from mathamr_kedro.project.search import open_search

    c, w = time.process_time(), time.perf_counter()
    searcher = open_search(options.env, options.data_root)
    c, w = time.process_time() - c, time.perf_counter() - w
    print(
        f"\ntyped queries, env {options.env}: opened in {c:.2f} CPU s, {w:.2f} wall s"
    )
    first = measure([lambda: searcher.search(QUESTIONS[0])])
    print(f"  first query {first[0]:.0f} CPU ms ({first[1]:.0f} wall ms)")
    slowest = 0.0
    for question in QUESTIONS:
        cpu, wall = measure([lambda q=question: searcher.search(q)] * 5)
        slowest = max(slowest, wall)
        print(f"  {cpu:6.0f} CPU ms ({wall:6.0f} wall ms)  {question[:50]}")
    searcher.close()
    return slowest < 2000


def compare_on_collection(options: argparse.Namespace) -> bool:
    """Compare engines on the vectors of a collection."""
    from benchmarks.search_collection import measure_collection

    return measure_collection(options.env, options.data_root)


RUN = {
    "twin": check_twin,
    "speed": compare_engines,
    "build": measure_building,
    "graphs": measure_graphs,
    "gpu": measure_gpu,
    "query": time_queries,
    "collection": compare_on_collection,
}


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument(
        "parts", nargs="*", choices=[*PARTS, []], help="what to measure"
    )
    parser.add_argument("--posts", type=int, default=33_771, help="thesis 4.4.1")
    parser.add_argument("--graph-posts", type=int, default=4000)
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument(
        "--tilings", action="store_true", help="gpu: also time the kernel's tilings"
    )
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--local", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--device", default="cpu", help="for the part gpu: cuda")
    parser.add_argument("--gpu-posts", type=int, default=1_365_254, help="thesis 4.5")
    parser.add_argument("--gpu-formulas", type=int, default=21_947_328)
    parser.add_argument(
        "--env", help="for the parts query and collection: an environment"
    )
    parser.add_argument("--data-root", help="for the same parts")
    options = parser.parse_args()
    if unknown := set(options.parts).difference(PARTS):
        parser.error(f"no part {min(unknown)!r}")
    torch.set_num_threads(options.threads)
    parts = options.parts or [
        p for p in PARTS if p not in ("gpu", "query", "collection")
    ]
    results = {part: RUN[part](options) for part in parts}
    for part, good in results.items():
        print(f"{part}: {'reached' if good else 'NOT reached'}")
    raise SystemExit(not all(results.values()))


if __name__ == "__main__":
    main()
