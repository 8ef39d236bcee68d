"""Where benchmarks take their graphs from: given shards, or random ones."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.random_graphs import RandomGraphs, write_random_shards
from mathamr_kedro.graph import GraphShards


def add_arguments(parser: argparse.ArgumentParser, graphs: int) -> None:
    """Add ``--shards`` and ``--graphs``."""
    parser.add_argument("--shards", type=Path, help="folder of graph shards")
    parser.add_argument(
        "--graphs", type=int, default=graphs, help="random graphs without --shards"
    )


@contextmanager
def open_graphs(args: argparse.Namespace) -> Iterator[GraphShards]:
    """Open the given shards, or write random graphs of the thesis' sizes."""
    if args.shards is not None:
        yield GraphShards(args.shards)
        return
    with tempfile.TemporaryDirectory() as folder:
        write_random_shards(Path(folder) / "shards", args.graphs, RandomGraphs(seed=11))
        yield GraphShards(Path(folder) / "shards")
