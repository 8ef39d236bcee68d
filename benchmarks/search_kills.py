"""Kill a process at random moments while it writes vectors and indexes them.

A process writes a store of vectors shard by shard, builds the index of the engine
'edge', and applies a fixed sequence of changes to it (add, replace, delete). It is
killed (SIGKILL), then another process looks: the store must hold whole shards, and the
index exactly the posts of some number of whole changes, not fewer than the killed
process had reported, each once, each with the vectors that it should have.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import shutil
import signal
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from mathamr_kedro.base.records import Post
from mathamr_kedro.vectors import (
    GraphRange,
    PostEntry,
    PostVectors,
    QdrantIndex,
    StoreWriter,
    VectorStore,
)
from mathamr_kedro.vectors.edge import EdgeConnection

WIDTH, ENCODER = 8, "random"
SHARDS, PER_SHARD = 8, 25
COUNTER = "999999"
"""A post whose title is the number of the last change."""
FORK = multiprocessing.get_context("fork")


def draw_posts(seed: int, keys: list[str]) -> list[PostEntry]:
    """Return posts with random vectors; always the same."""
    rng = np.random.default_rng(seed)
    posts = []
    for key in keys:
        formulas, sentences = int(rng.integers(0, 5)), int(rng.integers(1, 4))
        posts.append(
            PostEntry(
                key, "answer",
                rng.standard_normal((formulas + sentences + 1, WIDTH)),
                [0] * formulas + [1] * sentences + [2],
                [*range(formulas), *range(sentences), 0],
                [f"{key}-{seed}-{i}" for i in range(formulas)],
                [str(i) for i in range(formulas)],
                [bool(x) for x in rng.random(formulas) < 0.8],
            )
        )  # fmt: skip
    return posts


def draw_shard(number: int) -> list[PostEntry]:
    """Return the posts of a shard of the collection."""
    first = number * PER_SHARD
    return draw_posts(10_000 + number, [str(first + i) for i in range(PER_SHARD)])


def draw_change(number: int) -> tuple[list[PostEntry], set[str]]:
    """Return what change ``number`` writes and deletes; always the same."""
    rng = np.random.default_rng(number)
    count = int(rng.integers(1, 30))
    keys = [str(k) for k in rng.choice(300, count, replace=False)]
    gone = {str(k) for k in rng.integers(0, 300, 3)} - set(keys)
    return draw_posts(number, [*keys, COUNTER]), gone


def apply_all(changes: int) -> dict[str, PostEntry]:
    """Return the posts that an index must hold after so many changes."""
    found = {p.key: p for n in range(SHARDS) for p in draw_shard(n)}
    for number in range(1, changes + 1):
        posts, gone = draw_change(number)
        found = {k: p for k, p in found.items() if k not in gone}
        found |= {p.key: p for p in posts}
    return found


def write_store(folder: Path) -> VectorStore:
    """Write what the store lacks."""
    with StoreWriter(folder, ENCODER, WIDTH) as writer:
        known = {shard.first for shard in writer.shards}
        for number in range(SHARDS):
            first = number * PER_SHARD
            if first not in known:
                posts = PostVectors.of(draw_shard(number))
                writer.write(posts, GraphRange("posts", first, first + PER_SHARD))
        writer.complete()
    return VectorStore(folder)


def read_number(index: QdrantIndex) -> int:
    """Return the number of the last change."""
    return int(index.added[COUNTER].title) if COUNTER in index.added else 0


def work(folder: Path, reports: Connection) -> None:
    """Write, build and change until killed; report each change that is done."""
    store = write_store(folder / "vectors")
    connection = EdgeConnection(folder / "edge")
    while True:
        with QdrantIndex.open(connection, store) as index:
            number = read_number(index) + 1
            posts, gone = draw_change(number)
            known = {key for key in gone if key in index.posts}
        text = Post(
            "", "answer", "", None, None, None, None, (), str(number), "text", ()
        )
        index.update({p.key: (p, text._replace(post_id=p.key)) for p in posts}, known)
        reports.send(number)


def look(folder: Path, reported: int, answers: Connection) -> None:
    """Compare store and index with what they must hold; answer what is wrong."""
    try:
        answers.send(("", find_fault(folder, reported)))
    except Exception as exc:
        answers.send((f"{type(exc).__name__}: {exc}", 0))


def find_fault(folder: Path, reported: int) -> int:
    """Raise ValueError if something is lost, doubled or half-written."""
    store = VectorStore(folder / "vectors")
    store.check()
    if not store.is_complete:
        return reported
    with QdrantIndex.open(EdgeConnection(folder / "edge", verify=True), store) as index:
        number = read_number(index)
        if not reported <= number <= reported + 1:
            raise ValueError(f"change {number}, {reported} were reported")
        expected = apply_all(number)
        known = {k for k in map(str, range(300)) if k in index.posts}
        if known != {*expected} - {COUNTER}:
            raise ValueError(f"other posts than expected after {number} changes")
        truth = PostVectors.of([expected[key] for key in sorted(expected)])
        found = index.posts.read(sorted(expected))
        if not np.allclose(found.vectors, truth.vectors, atol=1e-6):
            raise ValueError("a post has other vectors")
        size = len(expected), int(truth.returnable.sum())
        if index.size()[:2] != size:
            raise ValueError(f"{index.size()[:2]} posts and formulas, expected {size}")
        check_found(index, truth)
    return number


def check_found(index: QdrantIndex, posts: PostVectors) -> None:
    """Find some posts and formulas by their own vectors."""
    for place in range(0, len(posts), 25):
        entry = posts.entry(place)
        (hits,) = index.search_maxsim([entry.vectors], 1)
        if hits.ids != [entry.key]:
            raise ValueError(f"post {entry.key} is not found by its vectors")
        for formula, returnable in zip(
            entry.formula_ids, entry.returnable or (), strict=True
        ):
            (found,) = index.search_formulas([entry.formula(formula)], 1)
            if (found.ids == [formula]) != returnable:
                raise ValueError(f"formula {formula} is not found by its vector")


def run_kills(count: int, seed: int, folder: Path, longest: float = 1.0) -> list[str]:
    """Kill ``count`` times; return what was wrong."""
    rng = random.Random(seed)
    reported, done, faults = 0, 0, []
    for number in range(count):
        if number % 10 == 9:  # the next process starts from nothing
            shutil.rmtree(folder / "edge", ignore_errors=True)
            shutil.rmtree(folder / "vectors", ignore_errors=True)
            reported = 0
        receive, send = FORK.Pipe(duplex=False)
        child = FORK.Process(target=work, args=(folder, send))
        child.start()
        send.close()
        time.sleep(rng.uniform(0.0, longest))
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        try:
            while receive.poll():
                reported = receive.recv()
                done += 1
        except EOFError:
            pass
        if not (folder / "vectors" / "_shards.json").exists():
            continue
        answer, answering = FORK.Pipe(duplex=False)
        looking = FORK.Process(target=look, args=(folder, reported, answering))
        looking.start()
        fault, reached = answer.recv()
        looking.join()
        done += max(0, reached - reported)
        reported = max(reported, reached)
        if fault:
            faults.append(f"kill {number}: {fault}")
    print(f"  {count} kills, {done} changes done, {len(faults)} faults")
    return faults


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--longest", type=float, default=1.0, help="seconds to a kill")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        faults = run_kills(options.kills, options.seed, Path(folder), options.longest)
    print("\n".join(faults))
    raise SystemExit(bool(faults))


if __name__ == "__main__":
    main()
