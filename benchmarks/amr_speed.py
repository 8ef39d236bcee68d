"""What AMR parsing by ``builtin`` keeps and costs, on posts that ingestion has written.

Prints the share of posts with a valid connected graph, the share of placeholders with a
node of their own, posts per second of the runner with its processes (wall time, so only
meaningful on an idle machine), and CPU milliseconds per post and where they go.

    kedro run --pipelines ingestion --env pool
    python -m benchmarks.amr_speed --data data/pool             # 500 posts
    python -m benchmarks.amr_speed --data data/pool --posts 0   # all of them
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from mathamr_kedro.amr import (
    PLACEHOLDER,
    AMRGraph,
    BuiltinConfig,
    ParsedText,
    ParseFailure,
    ParseTexts,
    format_graph,
    parse_documents,
    read_graph,
    split_chunks,
)
from mathamr_kedro.amr.builtin.syntax import parse_sentences
from mathamr_kedro.amr.graphs import merge_graphs
from mathamr_kedro.base.workers import Partition, WorkerConfig, run_partitions
from mathamr_kedro.datasets.sharded_table import ShardedTableDataset


def read_texts(data: Path, count: int) -> list[str]:
    """Return the texts of ``count`` posts spread evenly, or of all (0)."""
    folder = data / "02_intermediate" / "posts"
    table = ShardedTableDataset(filepath=str(folder), record="Post").load()
    texts = table.to_pandas(["text"])["text"].tolist()
    if count < 1:
        return texts
    step = max(1, len(texts) // count)
    return texts[::step][:count]


def measure(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result and the CPU seconds it took."""
    started = time.process_time()
    result = function()
    return result, time.process_time() - started


def time_steps(texts: list[str]) -> dict[str, float]:
    """Return CPU seconds of the steps from text to PENMAN, one after another."""
    parser = BuiltinConfig().open()
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


def is_valid(result: ParsedText | ParseFailure) -> bool:
    """Tell whether a result is a graph that can be read and hangs together."""
    return isinstance(result, ParsedText) and read_graph(result.graph).is_connected()


def count_kept(
    texts: Sequence[str], results: Sequence[ParsedText | ParseFailure]
) -> tuple[int, int]:
    """Return how many placeholders have a node of their own, and how many there are."""
    kept = total = 0
    for text, result in zip(texts, results, strict=True):
        wanted = set(PLACEHOLDER.findall(text))
        total += len(wanted)
        if isinstance(result, ParsedText):
            kept += len(wanted & set(read_graph(result.graph).nodes.values()))
    return kept, total


def time_runner(
    texts: list[str], workers: int
) -> tuple[float, float, list[ParsedText | ParseFailure]]:
    """Return wall and CPU seconds of the runner, without start-up, and results."""
    size = 100
    parts = [Partition(str(n), texts[n : n + size]) for n in range(0, len(texts), size)]
    settings = WorkerConfig(workers=workers)
    warm = [Partition(f"warm {n}", texts[:1]) for n in range(workers)]
    found = run_partitions(ParseTexts(), [*warm, *parts], settings)
    for _ in warm:
        next(found)
    started, used = time.perf_counter(), time.process_time()
    parts_found = {part.name: part.results for part in found}
    results = [result for part in parts for result in parts_found[part.name]]
    wall = time.perf_counter() - started
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = children.ru_utime + children.ru_stime + time.process_time() - used
    return wall, cpu, results


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=Path("data/pool"))
    parser.add_argument("--posts", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    texts = read_texts(options.data, options.posts)
    wall, cpu, results = time_runner(texts, options.workers)
    kept, total = count_kept(texts, results)
    valid = sum(is_valid(result) for result in results)
    rows = (
        ("valid connected graphs, %", 100 * valid / len(texts), 99.5),
        ("placeholders kept, %", 100 * kept / max(total, 1), 97.0),
        (f"posts/s, {options.workers} processes", len(texts) / wall, 60.0),
    )
    print(f"{len(texts)} posts{'':>22}found  at least")
    for name, found, wanted in rows:
        print(f"  {name:28} {found:8.2f} {wanted:8.1f}")
    failures = Counter(r.reason for r in results if isinstance(r, ParseFailure))
    print(f"  failures: {dict(failures) or 'none'}")
    print(
        f"  CPU of the runner, start-up included: {1000 * cpu / len(texts):.1f} ms/post"
    )
    texts = texts[:: max(1, len(texts) // 500)]
    steps = time_steps(texts)
    print(f"where the time goes, {len(texts)} posts, CPU ms per post")
    for name, seconds in steps.items():
        print(f"  {name:28} {1000 * seconds / len(texts):8.2f}")
    whole = steps["texts to graphs, as a whole"]
    rate = len(texts) / whole
    print(f"{rate:.0f} posts per CPU second; on two idle cores {2 * rate:.0f} posts/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
