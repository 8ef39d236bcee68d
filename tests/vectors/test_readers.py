"""Readers beside a writer that adds, deletes and compacts; a dictionary as the twin."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import ExitStack

import numpy as np
import pytest

from mathamr_kedro.vectors import EngineConfig, open_index, snapshots
from mathamr_kedro.vectors.exact import ExactIndex
from mathamr_kedro.vectors.post_vectors import PostVectors
from mathamr_kedro.vectors.store import VectorStore
from mathamr_kedro.vectors.store_state import GraphRange, StoreState
from tests.conftest import PATIENCE

from .conftest import ENCODER, WIDTH, draw_posts, draw_query

WRITER = """
import sys
from mathamr_kedro.vectors.post_vectors import PostVectors
from mathamr_kedro.vectors.store import VectorStore
from tests.vectors.conftest import ENCODER, WIDTH, draw_posts
print("ready", flush=True)
with VectorStore.open(sys.argv[1], ENCODER, WIDTH) as store:
    for step in range(int(sys.argv[2])):
        # Commit g holds the posts 1 to 8, all drawn with the seed g.
        store.commit(PostVectors.of(draw_posts(8, seed=store.generation + 1)))
        if step % 3 == 2:
            store.compact()
            store.commit(PostVectors.of(draw_posts(8, seed=store.generation + 1)))
"""
READER = """
import json, sys
from pathlib import Path
from mathamr_kedro.vectors import EngineConfig, VectorStore, open_index
from tests.vectors.conftest import draw_query
engine, vectors, folder = sys.argv[1:]
index = open_index(EngineConfig(engine), VectorStore(vectors), Path(folder))
for _ in range(2):
    (hits,) = index.search_maxsim([draw_query(1).vectors], 1000)
    print(json.dumps(sorted(hits.ids)), flush=True)
    sys.stdin.readline()
index.close()
"""
QUERY = draw_query(1).vectors


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["exact", "edge"])
def test_processes_read_one_index_beside_each_other_and_a_writer(tmp_path, engine):
    """Two have it open, a third changes it, a fourth sees the change."""
    vectors, folder = tmp_path / "vectors", tmp_path / "index"
    with VectorStore.open(vectors, ENCODER, WIDTH) as store:
        store.commit(PostVectors.of(draw_posts(8, seed=1)))
    open_index(EngineConfig(engine), VectorStore(vectors), folder).close()

    def start():
        return subprocess.Popen(
            [sys.executable, "-c", READER, engine, str(vectors), str(folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(reader):
        return json.loads(reader.stdout.readline())

    def go_on(reader):
        reader.stdin.write("\n")
        reader.stdin.flush()

    with ExitStack() as readers:
        first = [readers.enter_context(start()) for _ in range(2)]
        before = [ask(reader) for reader in first]
        assert before == [sorted(map(str, range(1, 9)))] * 2
        with VectorStore.open(vectors, ENCODER, WIDTH) as store:
            store.commit(PostVectors.of(draw_posts(2, seed=2, start=50)), delete=["1"])
        open_index(EngineConfig(engine), VectorStore(vectors), folder).close()
        third = readers.enter_context(start())
        assert ask(third) == sorted([*map(str, range(2, 9)), "50", "51"])
        for reader in (*first, third):
            go_on(reader)
        assert [ask(reader) for reader in first] == before
        assert "50" in ask(third)
        for reader in (*first, third):
            go_on(reader)
    assert [reader.returncode for reader in (*first, third)] == [0, 0, 0]


@pytest.mark.slow
def test_searches_beside_a_compacting_process_see_one_commit_each(tmp_path):
    """Posts of two commits in one answer, or an error, would be found here."""
    with VectorStore.open(tmp_path, ENCODER, WIDTH) as store:
        store.commit(PostVectors.of(draw_posts(8, seed=1)))
    index = ExactIndex(VectorStore(tmp_path))
    faults, found, stop = [], [], threading.Event()

    def search():
        seen = set()
        try:
            while not stop.is_set():
                (hits,) = index.search_maxsim([QUERY], 8)
                (again,) = index.search_reranked([draw_query(1)], 8, 8)
                assert len(hits) == len(again) == 8
                seen.add(tuple(zip(hits.ids, hits.scores.tolist(), strict=True)))
        except Exception as exc:
            faults.append(exc)
        found.append(seen)

    def follow():
        try:
            while not stop.is_set():
                index.refresh()
                assert len(VectorStore(tmp_path)) == 8
        except Exception as exc:
            faults.append(exc)

    threads = [threading.Thread(target=f) for f in (search, search, follow)]
    command = [sys.executable, "-c", WRITER, str(tmp_path), "24"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        writer.stdout.readline()
        for thread in threads:
            thread.start()
        writer.wait(timeout=PATIENCE)
        stop.set()
        for thread in threads:
            thread.join()
    assert writer.returncode == 0
    assert faults == []
    last = VectorStore(tmp_path).generation
    truth = [_answer(seed) for seed in range(1, last + 1)]
    seen = set().union(*found)
    assert seen
    assert all(any(_is_same(answer, true) for true in truth) for answer in seen)
    index.refresh()
    (hits,) = index.search_maxsim([QUERY], 8)
    newest = tuple(zip(hits.ids, hits.scores.tolist(), strict=True))
    assert _is_same(newest, truth[-1])


def _answer(seed):
    posts = list(PostVectors.of(draw_posts(8, seed=seed)).entries())
    scores = {
        p.key: round(
            float((QUERY.astype("f8") @ p.vectors.astype("f8").T).max(1).mean()), 9
        )
        for p in posts
    }
    order = sorted(scores, key=lambda k: (-scores[k], len(k), k))
    return tuple((k, scores[k]) for k in order)


def _is_same(answer, true):
    return [k for k, _ in answer] == [k for k, _ in true] and np.allclose(
        [s for _, s in answer], [s for _, s in true], rtol=0, atol=1e-6
    )


def test_reader_between_state_and_files_goes_on_to_the_next_commit(
    tmp_path, monkeypatch
):
    """The writer compacts just after the reader has read which files there are."""
    with VectorStore.open(tmp_path, ENCODER, WIDTH) as writer:
        for seed in (1, 2):
            writer.commit(PostVectors.of(draw_posts(5, seed, start=5 * seed)))
        read, calls = StoreState.read, []

        def read_then_compact(folder):
            state = read(folder)
            if not calls:
                calls.append(state)
                writer.compact()
            return state

        monkeypatch.setattr(snapshots.StoreState, "read", read_then_compact)
        reader = VectorStore(tmp_path)
        assert (calls[0].generation, reader.generation, len(reader)) == (2, 3, 10)


def test_snapshot_outlives_compaction(tmp_path):
    with VectorStore.open(tmp_path, ENCODER, WIDTH) as writer:
        for seed in (1, 2):
            writer.commit(PostVectors.of(draw_posts(5, seed, start=5 * seed)))
        reader = VectorStore(tmp_path)
        before = reader.read(["5", "14"]).vectors.copy()
        writer.commit(delete=["5", "14"])
        writer.compact()
        assert len(list(tmp_path.glob("seg-*"))) == 1
        np.testing.assert_array_equal(reader.read(["5", "14"]).vectors, before)
        reader.refresh()
        assert "5" not in reader.places


def test_store_equals_a_dictionary_over_any_sequence(tmp_path):
    """Add, replace, delete, compact, kill, reopen, by hand and by batches."""
    for seed in range(3):
        rng, folder = np.random.default_rng(seed), tmp_path / str(seed)
        store = VectorStore.open(folder, ENCODER, WIDTH)
        truth, by_hand, deleted = {}, set(), set()
        for step in range(30):
            added = draw_posts(int(rng.integers(0, 5)), step, int(rng.integers(1, 30)))
            kind = rng.choice(["hand", "batch", "compact", "kill", "reopen"])
            if kind == "hand":
                gone = {str(k) for k in rng.integers(1, 30, 2)}
                gone -= {p.key for p in added}
                store.commit(PostVectors.of(added, width=WIDTH), delete=gone)
                deleted |= gone & set(truth)
                truth = {k: v for k, v in truth.items() if k not in gone}
            elif kind == "batch":
                shard = GraphRange("posts", step, step + 1)
                store.commit(PostVectors.of(added, width=WIDTH), shard=shard)
            elif kind == "compact":
                store.compact(posts=int(rng.integers(2, 50)))
            elif kind == "kill":  # just before store.json would have been replaced
                state = (folder / "store.json").read_text()
                store.commit(PostVectors.of(draw_posts(3, step)), delete=["9"])
                (folder / "store.json").write_text(state)
            if kind in ("kill", "reopen"):
                store.close()
                store = VectorStore.open(folder, ENCODER, WIDTH, mend=True)
            if kind in ("hand", "batch"):
                entries = PostVectors.of(added, width=WIDTH).entries()
                truth |= {e.key: e.vectors.tobytes() for e in entries}
                keys = {p.key for p in added}
                by_hand = by_hand | keys if kind == "hand" else by_hand - keys
                deleted -= keys if kind == "hand" else set()
            for seen in (store, VectorStore(folder)):
                _compare(seen, truth, by_hand, deleted)
        store.close()


def _compare(store, truth, by_hand, deleted):
    assert sorted(store.keys()) == sorted(truth)
    for key, vectors in truth.items():
        assert store.read([key]).vectors.tobytes() == vectors
    assert {k for k in truth if store.is_by_hand(k)} == by_hand & set(truth)
    assert set(store.state.deleted) == deleted
