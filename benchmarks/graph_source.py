"""Where benchmarks take their graphs from: prepared ones, or random ones."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.random_graphs import RandomGraphs, write_random_shards
from mathamr_kedro.graph import GraphShards, PreparedGraphs


def add_arguments(parser: argparse.ArgumentParser, graphs: int) -> None:
    """Add ``--prepared`` and ``--graphs``."""
    parser.add_argument("--prepared", type=Path, help="folder of prepared graphs")
    parser.add_argument(
        "--graphs", type=int, default=graphs, help="random graphs without --prepared"
    )


@contextmanager
def open_graphs(args: argparse.Namespace) -> Iterator[GraphShards]:
    """Open the given graphs of posts, or write random ones of the thesis' sizes."""
    if args.prepared is not None:
        yield PreparedGraphs(args.prepared).posts
        return
    with tempfile.TemporaryDirectory() as folder:
        write_random_shards(Path(folder) / "shards", args.graphs, RandomGraphs(seed=11))
        yield GraphShards(Path(folder) / "shards")
