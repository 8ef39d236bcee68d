"""Time AMR parsing by ``builtin`` on posts that ingestion has written.

Prints CPU milliseconds per post and where they go, and posts per second of the runner
with its processes (wall time, so only meaningful on an idle machine).

    kedro run --pipeline ingestion --env pool
    python benchmarks/amr_speed.py --data data/pool
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mathamr_kedro.amr.builtin.syntax import parse_sentences
from mathamr_kedro.amr.chunking import split_chunks
from mathamr_kedro.amr.documents import parse_documents
from mathamr_kedro.amr.graphs import AMRGraph
from mathamr_kedro.amr.merging import merge_graphs
from mathamr_kedro.amr.parsers import ParserSettings, make_parser
from mathamr_kedro.amr.penman_io import format_graph
from mathamr_kedro.amr.texts import ParsedText, ParseTexts
from mathamr_kedro.datasets.sharded_table import ShardedTableDataset
from mathamr_kedro.workers import Partition, WorkerSettings, run_partitions


def read_texts(data: Path, count: int) -> list[str]:
    """Return the texts of ``count`` posts spread evenly over the collection."""
    folder = data / "02_intermediate" / "posts"
    table = ShardedTableDataset(filepath=str(folder), record="Post").load()
    texts = table.to_pandas(["text"])["text"].tolist()
    step = max(1, len(texts) // count)
    return texts[::step][:count]


def measure(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result and the CPU seconds it took."""
    started = time.process_time()
    result = function()
    return result, time.process_time() - started


def time_steps(texts: list[str]) -> dict[str, float]:
    """Return CPU seconds of the steps from text to PENMAN, one after another."""
    parser = make_parser(ParserSettings())
    chunks, chunking = measure(
        lambda: [chunk for text in texts for chunk in split_chunks(text)]
    )
    sentences = [sentence for chunk in chunks for sentence in chunk.sentences]
    _, syntax = measure(lambda: [len(tokens) for tokens in parse_sentences(sentences)])
    graphs, parsing = measure(
        lambda: [
            graph
            for start in range(0, len(chunks), 64)
            for graph in parser.parse_chunks(chunks[start : start + 64])
            if isinstance(graph, AMRGraph)
        ]
    )
    _, writing = measure(lambda: [format_graph(merge_graphs([g])) for g in graphs])
    _, whole = measure(lambda: parse_documents(texts, parser))
    return {
        "sentences and chunks": chunking,
        "dependency parse (spaCy)": syntax,
        "graphs from the parse": parsing - syntax,
        "merge and write": writing,
        "texts to graphs, as a whole": whole + writing,
    }


def time_runner(texts: list[str], workers: int) -> tuple[float, float, int]:
    """Return wall and CPU seconds of the runner, start-up left out, and graphs."""
    size = 100
    parts = [Partition(str(n), texts[n : n + size]) for n in range(0, len(texts), size)]
    settings = WorkerSettings(workers=workers)
    warm = [Partition(f"warm {n}", texts[:1]) for n in range(workers)]
    found = run_partitions(ParseTexts(ParserSettings()), [*warm, *parts], settings)
    for _ in warm:
        next(found)
    started, used = time.perf_counter(), time.process_time()
    results = [result for part in found for result in part.results]
    wall = time.perf_counter() - started
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = children.ru_utime + children.ru_stime + time.process_time() - used
    return wall, cpu, sum(isinstance(r, ParsedText) for r in results)


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=Path("data/pool"))
    parser.add_argument("--posts", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    texts = read_texts(options.data, options.posts)
    steps = time_steps(texts)
    print(f"{len(texts)} posts, CPU ms per post")
    for name, seconds in steps.items():
        print(f"  {name:28} {1000 * seconds / len(texts):8.2f}")
    whole = steps["texts to graphs, as a whole"]
    rate = len(texts) / whole
    print(f"{rate:.0f} posts per CPU second; on two idle cores {2 * rate:.0f} posts/s")
    wall, cpu, graphs = time_runner(texts, options.workers)
    print(
        f"runner, {options.workers} processes: {len(texts) / wall:.0f} posts/s wall; "
        f"CPU {1000 * cpu / len(texts):.1f} ms per post with start-up; "
        f"{graphs} graphs of {len(texts)}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
