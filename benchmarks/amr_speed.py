<<<<<<< HEAD
"""Time AMR parsing by ``builtin`` on posts that ingestion has written.

Prints CPU milliseconds per post and where they go, and posts per second of the runner
with its processes (wall time, so only meaningful on an idle machine).

    kedro run --pipeline ingestion --env pool
    python benchmarks/amr_speed.py --data data/pool
=======
"""Speed and robustness of the builtin parser on posts of the ARQMath pool.

Prints CPU seconds by step, posts per CPU second (times two for two cores), how many
posts yield a connected graph that can be read again, and how many placeholders have a
node.
>>>>>>> amr
"""

from __future__ import annotations

import argparse
<<<<<<< HEAD
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
=======
import html
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from lxml import etree

from mathamr_kedro.amr.builtin.assembly import parse_skeleton
from mathamr_kedro.amr.builtin.parser import BuiltinParser
from mathamr_kedro.amr.builtin.skeleton import Skeleton
from mathamr_kedro.amr.builtin.syntax import is_word, load_model, parse_sentences
from mathamr_kedro.amr.builtin.tables import load_models
from mathamr_kedro.amr.chunking import split_chunks
from mathamr_kedro.amr.documents import ParsedDocument, parse_documents
from mathamr_kedro.amr.graphs import PLACEHOLDER, is_connected
from mathamr_kedro.amr.penman_io import format_graph, read_graph

T = TypeVar("T")
_FORMULA = re.compile(r'<span class="math-container"[^>]*>.*?</span>', re.DOTALL)
_BLOCK = re.compile(r"</?(?:p|li|ul|ol|blockquote|h\d|pre|hr|br|div|table|tr)\b[^>]*>")


def clean_text(title: str, body: str) -> str:
    """Return the words of a post with ``FORMULA_n`` for its formulas."""
    text = f"{title}\n\n{body}"
    numbers = iter(range(100_000))
    text = _FORMULA.sub(lambda _: f" FORMULA_{next(numbers)} ", text)
    return html.unescape(re.sub(r"<[^>]+>", "", _BLOCK.sub("\n\n", text)))


def read_posts(path: Path) -> Iterator[str]:
    """Yield the clean text of each post."""
    for _, row in etree.iterparse(str(path), tag="row"):
        yield clean_text(row.get("Title", ""), row.get("Body", ""))
        row.clear()


def measure(times: Counter[str], step: str, action: Callable[[], T]) -> T:
    """Run ``action`` and add its CPU seconds to ``times``."""
    start = time.process_time()
    result = action()
    times[step] += time.process_time() - start
    return result


def time_steps(texts: list[str]) -> Counter[str]:
    """Return CPU seconds of the steps of parsing, once warm."""
    models = load_models()
    load_model()
    times: Counter[str] = Counter()
    chunks = measure(
        times, "split", lambda: [c for t in texts for c in split_chunks(t)]
    )
    sentences = [s for chunk in chunks for s in chunk.sentences if is_word(s)]
    parses = measure(times, "dependencies", lambda: list(parse_sentences(sentences)))
    measure(
        times, "graphs", lambda: [parse_skeleton(Skeleton(p), models) for p in parses]
    )
    print(f"{len(sentences)} sentences, {sum(map(len, parses))} tokens")
    return times


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--posts", type=int, default=300, help="0 for the whole pool")
    args = parser.parse_args()
    texts = list(read_posts(args.shared / "collection/arqmath_pool/Posts.V1.3.xml"))
    if args.posts:
        texts = texts[:: max(1, len(texts) // args.posts)][: args.posts]
    steps = time_steps(texts[:200])
    for step, seconds in steps.items():
        print(
            f"  {step:<14}{1000 * seconds / min(200, len(texts)):>8.2f} ms CPU a post"
        )
    builtin = BuiltinParser()
    times: Counter[str] = Counter()
    results = measure(times, "all", lambda: parse_documents(texts, builtin))
    graphs = [r for r in results if isinstance(r, ParsedDocument)]
    written = measure(times, "write", lambda: [format_graph(g.graph) for g in graphs])
    valid = sum(is_connected(read_graph(text)) for text in written)
    reasons = Counter(r.reason for r in results if not isinstance(r, ParsedDocument))
    wanted = sum(len(set(PLACEHOLDER.findall(text))) for text in texts)
    missing = sum(len(r.missing) for r in graphs) + sum(
        len(set(PLACEHOLDER.findall(text)))
        for text, r in zip(texts, results, strict=True)
        if not isinstance(r, ParsedDocument)
    )
    seconds = times["all"] + times["write"]
    print(f"{len(texts)} posts in {seconds:.1f} s CPU (writing {times['write']:.1f} s)")
    print(f"  posts/s on two cores      {2 * len(texts) / seconds:>9.1f}")
    print(f"  valid connected graphs    {100 * valid / len(texts):>9.2f} %")
    print(f"  placeholders kept         {100 * (1 - missing / max(1, wanted)):>9.2f} %")
    print(f"  failures                  {dict(reasons)}")


if __name__ == "__main__":
    main()
>>>>>>> amr
