"""Random batches from flat shards against graphs as blobs in SQLite, on one core.

    python -m benchmarks.loading [--shards FOLDER]

Without ``--shards``, random graphs of the thesis' sizes are written to a temporary
folder. Speeds are per second of CPU time; the page cache is warm in both cases.
"""

from __future__ import annotations

import argparse
import io
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch_geometric.data import Batch

from benchmarks.random_graphs import RandomGraphs, write_random_shards
from mathamr_kedro.graph import GraphShards
from mathamr_kedro.integrations import to_pyg


def write_blobs(path: Path, shards: GraphShards, count: int) -> int:
    """Write graphs as the thesis stores them: one serialised Data object each."""
    database = sqlite3.connect(path)
    database.execute("PRAGMA journal_mode=OFF")
    database.execute("create table graphs (id integer primary key, data blob)")
    size = 0
    for i in range(count):
        buffer = io.BytesIO()
        torch.save(to_pyg(shards.graph(i), shards.schema), buffer)
        size += buffer.tell()
        database.execute("insert into graphs values (?, ?)", (i, buffer.getvalue()))
    database.commit()
    database.close()
    return size


def load_blobs(database: sqlite3.Connection, ids: np.ndarray) -> Batch:
    """Load a batch from SQLite as PyG does."""
    query = "select data from graphs where id = ?"
    rows = (database.execute(query, (int(i),)).fetchone()[0] for i in ids)
    return Batch.from_data_list(
        [torch.load(io.BytesIO(row), weights_only=False) for row in rows]
    )


def measure(load: Callable[[np.ndarray], object], pool: int, batch: int) -> float:
    """Graphs per second of CPU time, over about two seconds."""
    rng = np.random.default_rng(0)
    batch = min(batch, pool)
    load(rng.choice(pool, batch, replace=False))
    graphs, started = 0, time.process_time()
    while time.process_time() - started < 2:
        load(rng.choice(pool, batch, replace=False))
        graphs += batch
    return graphs / (time.process_time() - started)


def main() -> None:
    """Print sizes and speeds of both stores."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shards", type=Path, help="folder of graph shards")
    parser.add_argument("--graphs", type=int, default=20_000, help="random graphs")
    parser.add_argument("--blobs", type=int, default=3_000, help="graphs in SQLite")
    parser.add_argument("--batch", type=int, default=64)
    args = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as name:
        folder = args.shards or Path(name) / "shards"
        if args.shards is None:
            write_random_shards(folder, args.graphs, RandomGraphs())
        shards = GraphShards(folder)
        count = min(args.blobs, len(shards))
        blob_size = write_blobs(Path(name) / "graphs.db", shards, count) / count
        size = sum(p.stat().st_size for p in folder.iterdir()) / len(shards)
        sizes = shards.arrays["sizes"].astype(np.int64)
        content = float((sizes[:, 0] - sizes[:, 2]).mean())
        database = sqlite3.connect(Path(name) / "graphs.db")
        slow = measure(lambda ids: load_blobs(database, ids), count, args.batch)
        fast = measure(shards.assemble, len(shards), args.batch)
        large = measure(shards.assemble, len(shards), 2048)
        database.close()
    print(f"{len(shards):,} graphs, {content:.1f} content nodes in the mean")
    print(f"{'store':<28}{'bytes/graph':>12}{'at 156 nodes':>14}{'graphs/s':>12}")
    at_156 = size * 156 / content
    print(f"{'SQLite, Data blobs':<28}{blob_size:>12,.0f}{'':>14}{slow:>12,.0f}")
    print(
        f"{f'flat shards, batch {args.batch}':<28}{size:>12,.0f}"
        f"{at_156:>14,.0f}{fast:>12,.0f}"
    )
    print(f"{'flat shards, batch 2048':<28}{'':>12}{'':>14}{large:>12,.0f}")
    print(f"flat shards load {fast / slow:.0f} times as fast")


if __name__ == "__main__":
    main()
