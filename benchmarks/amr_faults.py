"""Inject faults into one run of the AMR parsing stage; see what becomes of each post.

The stage runs with two processes, each with a worker of the transition parser that is
a fake (``fake_amr_worker.py``): workers are killed, hang, answer garbage, lack memory
or refuse texts, and the processes above them are killed too. Afterwards every post must
be a graph or a failure, none twice.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from mathamr_kedro.base.records import FormulaMention, Post
from mathamr_kedro.base.shards import EndOfShards, Shard
from mathamr_kedro.datasets.penman_shards import PenmanShardsDataset
from mathamr_kedro.datasets.sharded_table import (
    ShardedTable,
    ShardedTableDataset,
)
from mathamr_kedro.pipelines.amr_parsing.nodes import describe_parsing, parse_texts

KINDS = (
    "kill",
    "hang",
    "stuck",
    "garbage",
    "malformed",
    "memory",
    "error",
    "unreadable",
    "refused",
)
ODD_TEXTS = ("", " \u00a0\u200b ", "?!", "\x07\ufffe", "((((", "FORMULA_0", "~1 :a /")
WORDS = "Let suppose even prime sum root holds for all some number set map".split()


_PAUSES = (1.0, 4.0)
"""Least and most seconds between two killed processes."""


def make_posts(count: int, faults: int, seed: int) -> tuple[list[Post], dict[str, str]]:
    """Return posts and the kind of fault in each that has one."""
    rng = random.Random(seed)
    chosen = rng.sample(range(count), faults)
    kinds = {str(n): KINDS[i % len(KINDS)] for i, n in enumerate(chosen)}
    posts = []
    for n in range(count):
        post_id = str(n)
        if post_id not in kinds and rng.random() < 0.02:
            text = rng.choice(ODD_TEXTS)
        else:
            text = make_text(rng, post_id, kinds.get(post_id))
        mention = FormulaMention("FORMULA_0", f"f{n}", f"v{n}", "x", 0, 9)
        formulas = (mention,) if "FORMULA_0" in text else ()
        post_type = "question" if n % 2 else "answer"
        posts.append(
            Post(
                post_id, post_type, post_id, None, None, None, 0, (), "", text, formulas
            )  # type: ignore[arg-type]
        )
    return posts, kinds


def make_text(rng: random.Random, post_id: str, fault: str | None) -> str:
    """Return one to three sentences, one of which may carry a fault."""
    sentences = [
        " ".join(rng.choices(WORDS, k=rng.randint(2, 8))).capitalize()
        for _ in range(rng.randint(1, 3))
    ]
    sentences[0] += " FORMULA_0"
    if fault:
        times = rng.choice((1, -1))
        place = rng.randrange(len(sentences))
        sentences[place] += f" FAULT:{fault}:{post_id}:{times}"
    return ". ".join(sentences) + "."


def write_table(folder: Path, record: str, rows: list[Any], size: int) -> ShardedTable:
    """Write rows as the ingestion stage does."""
    dataset = ShardedTableDataset(filepath=str(folder), record=record)
    for start in range(0, len(rows), size):
        part = rows[start : start + size]
        name = f"{folder.name}-{start // size:05d}"
        dataset.save(Shard(name, "made", part, {"read": len(part)}))
    dataset.save(EndOfShards("made"))
    return dataset.load()


def make_parameters(workers: int, seconds: float) -> dict[str, Any]:
    """Return parameters that use the fake worker."""
    return {
        "parser": "transition",
        "posts_per_shard": 100,
        "workers": {"workers": workers, "batch_size": 16},
        "transition": {
            "python": sys.executable,
            "worker": str(Path(__file__).with_name("fake_amr_worker.py")),
            "devices": ["cpu"],
            "batch_size": 8,
            "start_timeout_s": 120.0,
            "request_timeout_s": 2 * seconds,
            "silence_timeout_s": seconds,
        },
    }


def find_processes() -> list[int]:
    """Return the ids of the living processes that this one has started."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = file.read_text().rpartition(")")[2].split()[:2]
        except OSError:  # it ended meanwhile
            continue
        if int(parent) == os.getpid() and state != "Z":
            found.append(int(file.parent.name))
    return sorted(found)


@contextmanager
def kill_processes(times: int, rng: random.Random) -> Iterator[list[int]]:
    """Kill a process of the stage now and then, ``times`` times in all."""
    killed: list[int] = []
    is_over = threading.Event()

    def kill() -> None:
        while len(killed) < times and not is_over.wait(rng.uniform(*_PAUSES)):
            children = find_processes()
            if children:
                victim = rng.choice(children)
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
                    killed.append(victim)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    try:
        yield killed
    finally:
        is_over.set()
        thread.join()


def run(
    folder: Path, posts: int, faults: int, seed: int, workers: int, seconds: float
) -> dict[str, Any]:
    """Run the stage in ``folder`` with faults; return what became of the posts."""
    notes = folder / "notes"
    notes.mkdir(parents=True)
    os.environ["FAKE_WORKER_NOTES"] = str(notes)
    kills = faults // 20
    rows, kinds = make_posts(posts, faults - kills, seed)
    table = write_table(folder / "posts", "Post", rows, 500)
    topics = write_table(folder / "topics", "Topic", [], 500)
    parameters = make_parameters(workers, seconds)
    failures = ShardedTableDataset(filepath=str(folder / "failed"), record="Failure")
    graphs = PenmanShardsDataset(filepath=str(folder / "graphs"))
    started = time.perf_counter()
    with kill_processes(kills, random.Random(seed)) as killed:
        for failure_shard, graph_shard in parse_texts(table, {}, parameters):
            failures.save(failure_shard)
            graphs.save(graph_shard)
    wall = time.perf_counter() - started
    empty = _no_topics(folder, topics, parameters)
    # Refuses any post that is not exactly once a graph or a failure.
    statistics, _ = describe_parsing(
        table,
        topics,
        graphs.load(),
        empty[0],
        failures.load(),
        empty[1],
        {},
        parameters,
    )
    parsed = {record.graph_id for record in graphs.load().records()}
    lost = {f.record_id for f in failures.load().records() if not f.kept}
    fired = {name.name.split("-")[1] for name in notes.iterdir()}
    return {
        "rows": rows, "kinds": kinds, "killed": len(killed), "fired": fired,
        "firings": len(list(notes.iterdir())), "parsed": parsed, "lost": lost,
        "statistics": statistics, "wall": wall,
    }  # fmt: skip


def _no_topics(
    folder: Path, topics: ShardedTable, parameters: dict[str, Any]
) -> tuple[Any, ShardedTable]:
    graphs = PenmanShardsDataset(filepath=str(folder / "topic_graphs"))
    failures = ShardedTableDataset(
        filepath=str(folder / "topic_failed"), record="Failure"
    )
    for failure_shard, graph_shard in parse_texts(topics, {}, parameters):
        failures.save(failure_shard)
        graphs.save(graph_shard)
    return graphs.load(), failures.load()


def report(found: dict[str, Any]) -> bool:
    """Print the outcome; tell whether all is well."""
    rows, kinds, parsed, lost = (
        found[k] for k in ("rows", "kinds", "parsed", "lost")
    )  # fmt: skip
    print(f"{'fault':12} {'posts':>6} {'graph':>6} {'failure':>8}")
    for kind in KINDS:
        ids = {post_id for post_id, k in kinds.items() if k == kind}
        print(f"{kind:12} {len(ids):6} {len(ids & parsed):6} {len(ids & lost):8}")
    clean = {
        row.post_id
        for row in rows
        if row.post_id not in kinds and any(map(str.isalnum, row.text))
    }
    print(f"{'none':12} {len(clean):6} {len(clean & parsed):6} {len(clean & lost):8}")
    odd = {row.post_id for row in rows} - clean - set(kinds)
    print(f"{'no words':12} {len(odd):6} {len(odd & parsed):6} {len(odd & lost):8}")
    injected = len(found["fired"]) + found["killed"]
    reasons = found["statistics"]["posts"]["failed_by_reason"]
    killed, firings, wall = found["killed"], found["firings"], found["wall"]
    print(f"\nfaults injected: {injected}, {killed} of them killed processes")
    print(f"met {firings} times; wall {wall:.0f} s; reasons of failures: {reasons}")
    print(f"posts {len(rows)} = graphs {len(parsed)} + failures {len(lost)}")
    is_whole = (
        parsed.isdisjoint(lost)
        and parsed | lost == {row.post_id for row in rows}
        and clean <= parsed
        and set(kinds) <= found["fired"]
    )
    answer = "yes" if is_whole else "NO"
    print(f"every post is a graph or a failure, none twice: {answer}")
    return is_whole


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--posts", type=int, default=2000)
    parser.add_argument("--faults", type=int, default=500)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=1.0,
                        help="silence after which a worker counts as hung")  # fmt: skip
    options = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        found = run(
            Path(folder) / "run",
            options.posts,
            options.faults,
            options.seed,
            options.workers,
            options.seconds,
        )
        return 0 if report(found) else 1


if __name__ == "__main__":
    sys.exit(main())
