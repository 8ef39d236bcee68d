"""Encode and search as many posts as ARQMath has, with the released encoder.

    python -m benchmarks.whole_collection --graphs PREPARED --folder FOLDER

Takes the posts of a folder of prepared graphs again and again, under other ids and with
a tenth of their nodes exchanged for one another, until there are enough; encodes them
to a store as the stage ``indexing`` does; opens the engine ``exact`` on it, and asks
posts of it as queries. Both sides of the search run: the GPU, and the same store
on the CPU, whose rankings must be the same.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import statistics
import time
from functools import partial
from pathlib import Path

import numpy as np
import torch

from mathamr_kedro.base.checksums import write_checksums
from mathamr_kedro.graph import (
    GraphSchema,
    GraphShards,
    PreparedGraphs,
    ReleasedEncoder,
    join_shards,
)
from mathamr_kedro.model.config import ComputeConfig
from mathamr_kedro.systems.mathamr_plus import EncodingConfig
from mathamr_kedro.systems.mathamr_plus.encoding import (
    CollectionGraphs,
    EncodeRanges,
    encode_collection,
)
from mathamr_kedro.vectors import StoreWriter, VectorStore
from mathamr_kedro.vectors.exact import ExactIndex
from mathamr_kedro.vectors.post_vectors import POST_TYPES, Vectors

DEPTH = 1000
EXCHANGED = 0.1


def main() -> None:
    """Parse the arguments, make the collection, encode, search."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", type=Path, required=True, help="prepared graphs")
    parser.add_argument("--folder", type=Path, required=True, help="to write to")
    parser.add_argument("--posts", type=int, default=1_370_000)
    parser.add_argument("--encoder", default="mathamr_plus")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--twins", type=int, default=2, help="queries on the CPU too")
    options = parser.parse_args()
    compute = ComputeConfig(device=options.device)
    print(f"device {compute.choose_device()}, torch {torch.__version__}")
    source = PreparedGraphs(options.graphs).posts
    graphs = repeat_graphs(source, options.folder, options.posts)
    store = encode_posts(graphs, options.folder, options.encoder, compute)
    search_posts(store, str(compute.choose_device()), options.twins)


def repeat_graphs(source: GraphShards, folder: Path, posts: int) -> Path:
    """Write graphs over and over until there are enough, each with an id of its own."""
    started = time.perf_counter()
    times = -(-posts // len(source))
    graphs = folder / "graphs"
    parts = [(source.folder, source.numbers)] * times
    join_shards(parts, graphs, source.schema)
    for name, length in (("keys", "key_length"), ("formula_id", "formula_id_length")):
        number_texts(graphs, name, length)
    types = np.full(times * len(source), POST_TYPES.index("answer"), dtype=np.uint8)
    np.save(graphs / "post_type.npy", types)
    exchange_nodes(graphs / "node_type.npy", source.schema, times)
    write_checksums(graphs)
    seconds = time.perf_counter() - started
    print(f"{len(GraphShards(graphs)):,} graphs written in {seconds:.0f} s")
    return graphs


def number_texts(graphs: Path, name: str, length: str) -> None:
    """Replace the ids of a column by running numbers."""
    known = np.load(graphs / f"{length}.npy")
    numbers = [str(i).encode() for i in range(1, len(known) + 1)]
    np.save(graphs / f"{name}.npy", np.frombuffer(b"".join(numbers), dtype=np.uint8))
    lengths = np.array(list(map(len, numbers)), dtype=known.dtype)
    np.save(graphs / f"{length}.npy", lengths)


def exchange_nodes(path: Path, schema: GraphSchema, times: int) -> None:
    """Let a tenth of the nodes of each repetition change places, so that posts differ.

    Virtual nodes stay where they are.
    """
    types = np.load(path, mmap_mode="r+")
    rng = np.random.default_rng(0)
    for part in np.split(types, times)[1:]:
        chosen = np.flatnonzero(rng.random(len(part), dtype=np.float32) < EXCHANGED)
        chosen = chosen[part[chosen] < schema.num_node_types]
        part[chosen] = part[rng.permutation(chosen)]
    types.flush()


def encode_posts(
    graphs: Path, folder: Path, encoder: str, compute: ComputeConfig
) -> VectorStore:
    """Encode all graphs to a store; say how long it took."""
    shards = GraphShards(graphs)
    model = ReleasedEncoder(encoder).folder
    function = EncodeRanges(model, partial(GraphShards, graphs), compute)
    loaded, _ = function.prepare()
    width = loaded.config.projection_dim
    config = EncodingConfig(posts_per_shard=32_768, compute=compute)
    vectors = folder / "vectors"
    shutil.rmtree(vectors, ignore_errors=True)
    started = time.perf_counter()
    with StoreWriter(vectors, encoder, width, "float16") as writer:
        encode_collection(writer, function, "posts", CollectionGraphs(shards), config)
        writer.complete()
    seconds = time.perf_counter() - started
    store = VectorStore(vectors)
    rows = sum(shard.vectors for shard in store.shards)
    size = sum(file.stat().st_size for file in vectors.iterdir())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"encoded {len(store):,} posts to {rows:,} vectors of {width} in {seconds:.0f} "
        f"s ({len(store) / seconds:,.0f} posts/s, with writing, checking and proving), "
        f"{size / 1e9:.1f} GB on disk, at most {peak:.1f} GB of memory, mapped files "
        "included"
    )
    return store


def search_posts(store: VectorStore, device: str, twins: int) -> None:
    """Ask posts as queries; compare some rankings with those of the CPU."""
    started = time.perf_counter()
    index = ExactIndex(store, device)
    queries = draw_queries(store, 81)
    (first,) = index.search_maxsim(queries[:1], DEPTH)
    seconds = time.perf_counter() - started
    print(f"opened and first query answered in {seconds:.1f} s")
    used = (
        f"{torch.cuda.max_memory_allocated() / 1e9:.1f} GB" if device != "cpu" else ""
    )
    for batch in (1, 8, 80):
        times = []
        for _ in range(7 if device != "cpu" else 1):
            started = time.perf_counter()
            index.search_maxsim(queries[1 : 1 + batch], DEPTH)
            times.append(time.perf_counter() - started)
        took = statistics.median(times)
        print(
            f"{batch:4d} queries at once: {1e3 * took:9.1f} ms, {batch / took:7.0f}/s"
        )
    print(f"memory of the device: {used}; the first query finds {first.ids[:3]}")
    if device != "cpu" and twins:
        compare_with_cpu(index, store, queries[:twins])


def draw_queries(store: VectorStore, count: int) -> list[Vectors]:
    """Take the vectors of some posts, the same every time."""
    rng = np.random.default_rng(0)
    keys = [str(i) for i in rng.choice(len(store), count, replace=False) + 1]
    return [entry.vectors for entry in store.read(keys).entries()]


def compare_with_cpu(
    index: ExactIndex, store: VectorStore, queries: list[Vectors]
) -> None:
    """Search the same store on the CPU: the slow twin."""
    found = index.search_maxsim(queries, DEPTH)
    started = time.perf_counter()
    twins = ExactIndex(store, "cpu").search_maxsim(queries, DEPTH)
    seconds = time.perf_counter() - started
    same = sum(
        hits.ids == others.ids for hits, others in zip(found, twins, strict=True)
    )
    worst = max(
        float(np.abs(np.subtract(a.scores, b.scores)).max())
        for a, b in zip(found, twins, strict=True)
    )
    print(
        f"the CPU ranks {same} of {len(queries)} alike (top {DEPTH}; scores differ by "
        f"at most {worst:.1e}), in {seconds:.0f} s with packing"
    )


if __name__ == "__main__":
    main()
