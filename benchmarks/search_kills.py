"""Kill a process at random moments while it writes vectors and indexes them.

A process commits a fixed sequence of changes to a store (add, replace, delete,
compact) and keeps the index of the engine 'edge' up to date. It is killed (SIGKILL),
then another process looks: the store must hold exactly the posts of some number of
whole changes, not fewer than the killed process had reported, and the index the same
posts and formulas, each once, each with the vectors that it should have.
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

from mathamr_kedro.vectors.edge import EdgeIndex
from mathamr_kedro.vectors.points import formula_points, post_points
from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors
from mathamr_kedro.vectors.protocol import EXACT
from mathamr_kedro.vectors.store import VectorStore
from mathamr_kedro.vectors.verification import verify_collections

WIDTH, ENCODER = 8, "random"
COMPACT_EVERY = 9
FORK = multiprocessing.get_context("fork")


def draw_change(number: int) -> tuple[list[PostEntry], set[str]]:
    """Return what change ``number`` writes and deletes; always the same."""
    rng = np.random.default_rng(number)
    count = int(rng.integers(1, 30))
    keys = [str(k) for k in rng.choice(200, count, replace=False)]
    posts = []
    for key in keys:
        formulas, sentences = int(rng.integers(0, 5)), int(rng.integers(1, 4))
        posts.append(
            PostEntry(
                key, "answer",
                rng.standard_normal((formulas + sentences + 1, WIDTH)),
                [0] * formulas + [1] * sentences + [2],
                [*range(formulas), *range(sentences), 0],
                [f"{key}-{number}-{i}" for i in range(formulas)],
                [str(i) for i in range(formulas)],
                rng.random(formulas) < 0.8,
            )
        )  # fmt: skip
    gone = {str(k) for k in rng.integers(0, 200, 3)} - set(keys)
    return posts, gone


def apply_all(changes: int) -> dict[str, PostEntry]:
    """Return the posts that a store must hold after so many changes."""
    living: dict[str, PostEntry] = {}
    for number in range(1, changes + 1):
        if number % COMPACT_EVERY == 0:
            continue
        posts, gone = draw_change(number)
        entries = PostVectors.of(posts).entries()
        living = {k: p for k, p in living.items() if k not in gone}
        living |= {p.key: p for p in entries}
    return living


def work(folder: Path, reports: Connection) -> None:
    """Change and index until killed; report each change that is committed."""
    with VectorStore.open(folder / "vectors", ENCODER, WIDTH) as store:
        index = EdgeIndex.open(folder / "edge", VectorStore(folder / "vectors"))
        while True:
            number = store.generation + 1
            if number % COMPACT_EVERY == 0:
                store.compact(posts=10**6)
                if store.generation < number:  # there was nothing to put together
                    store.commit()
            else:
                posts, gone = draw_change(number)
                store.commit(PostVectors.of(posts), delete=gone)
            reports.send(store.generation)
            index.refresh()


def look(folder: Path, reported: int, answers: Connection) -> None:
    """Compare store and index with what they must hold; answer what is wrong."""
    try:
        answers.send(("", find_fault(folder, reported)))
    except Exception as exc:
        answers.send((f"{type(exc).__name__}: {exc}", 0))


def find_fault(folder: Path, reported: int) -> int:
    """Raise ValueError where something is lost, doubled or half-written."""
    store = VectorStore(folder / "vectors")
    if not reported <= store.generation <= reported + 1:
        raise ValueError(f"generation {store.generation}, {reported} were reported")
    expected = apply_all(store.generation)
    keys = list(store.keys())
    if len(keys) != len(set(keys)) or set(keys) != set(expected):
        raise ValueError(f"{len(keys)} posts in the store, expected {len(expected)}")
    for entry in store.read(sorted(keys)).entries():
        if not np.array_equal(entry.vectors, expected[entry.key].vectors):
            raise ValueError(f"post {entry.key} has other vectors in the store")
    with EdgeIndex.open(folder / "edge", store) as index:
        collections = index._collections
        verify_collections(collections, store, sample=len(keys))
        if keys:
            posts = store.read(keys)
            for points, collection, space in (
                (post_points(posts), collections.posts, "all"),
                (formula_points(posts), collections.formulas, "formula"),
            ):
                check_payloads(list(points), collection, space)
    return store.generation


def check_payloads(points: list, collection, space: str) -> None:
    """Find each point by its own vectors, with the payload that it should have."""
    for point in points[:20]:
        query = np.asarray(point.vectors[space], dtype=np.float32)
        found = collection.search(query, space, 5, EXACT, only=[point.point_id])
        if [f.payload for f in found] != [point.payload]:
            raise ValueError(f"point {point.point_id} has another payload")


def run_kills(count: int, seed: int, folder: Path, longest: float = 1.0) -> list[str]:
    """Kill ``count`` times; return what was wrong."""
    rng = random.Random(seed)
    reported, faults = 0, []
    for number in range(count):
        if number % 10 == 9:  # the next process builds the index from nothing
            shutil.rmtree(folder / "edge", ignore_errors=True)
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
        except EOFError:
            pass
        if not (folder / "vectors" / "store.json").exists():
            continue
        answer, answering = FORK.Pipe(duplex=False)
        looking = FORK.Process(target=look, args=(folder, reported, answering))
        looking.start()
        fault, reached = answer.recv()
        looking.join()
        reported = max(reported, reached)
        if fault:
            faults.append(f"kill {number}: {fault}")
    print(f"  {count} kills, {reported} changes committed, {len(faults)} faults")
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
