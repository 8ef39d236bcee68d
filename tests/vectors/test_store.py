"""The store: commits, replacing, deleting, changes, compaction, refusals."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    LockedError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.vectors.post_vectors import PostVectors
from mathamr_kedro.vectors.store import VectorStore
from mathamr_kedro.vectors.store_state import GraphRange

from .conftest import ENCODER, WIDTH, draw_posts


def open_store(folder, **kwargs):
    return VectorStore.open(folder, **{"encoder": ENCODER, "width": WIDTH, **kwargs})


def contents(store):
    """Key to vectors, read one by one."""
    keys = list(store.keys())
    assert len(keys) == len(set(keys)) == len(store)
    return {k: store.read([k]).entry(0).vectors.tobytes() for k in keys}


def unit(posts):
    return {e.key: e.vectors.tobytes() for e in PostVectors.of(posts).entries()}


def test_posts_are_read_back_in_any_order(store, posts):
    assert contents(store) == unit(posts)
    keys = [posts[i].key for i in (40, 3, 59, 4)]
    assert list(store.read(keys).keys) == keys
    assert len(store.read([])) == 0


def test_replaced_posts_are_there_once_and_deleted_ones_not_at_all(tmp_path, posts):
    again = draw_posts(5, seed=8, start=3)
    with open_store(tmp_path) as store:
        store.commit(PostVectors.of(posts))
        store.commit(PostVectors.of(again), delete=["20", "no such post"])
        expected = unit(posts) | unit(again)
        del expected["20"]
        assert contents(store) == expected
    assert contents(VectorStore(tmp_path)) == expected


def test_random_commits_equal_a_dictionary(tmp_path):
    rng = np.random.default_rng(4)
    truth: dict[str, bytes] = {}
    with open_store(tmp_path) as store:
        for step in range(30):
            start = int(rng.integers(1, 40))
            added = draw_posts(int(rng.integers(1, 6)), seed=step, start=start)
            gone = {str(k) for k in rng.integers(1, 45, 3)} - {p.key for p in added}
            store.commit(PostVectors.of(added), delete=gone)
            truth = {k: v for k, v in (truth | unit(added)).items() if k not in gone}
            if step % 7 == 6:
                store.compact(posts=8)
            if step % 3 == 0:
                assert contents(store) == truth
            assert contents(VectorStore(tmp_path)) == truth


def test_changes_bring_a_lagging_copy_up_to_date(tmp_path):
    rng = np.random.default_rng(5)
    copy: dict[str, bytes] = {}
    seen = 0
    with open_store(tmp_path) as store:
        for step in range(24):
            added = draw_posts(3, seed=step, start=int(rng.integers(1, 30)))
            gone = {str(k) for k in rng.integers(1, 35, 2)} - {p.key for p in added}
            store.commit(PostVectors.of(added), delete=gone)
            if step == 13:
                store.compact()
            if step % 4:
                continue
            if store.has_forgotten(seen):
                with pytest.raises(MissingInputError, match="forgotten"):
                    store.changes_since(seen)
                copy, seen = {}, 0
            changes = store.changes_since(seen)
            for key in changes.deleted:
                copy.pop(key, None)
            assert changes.buried.keys() >= changes.deleted
            for posts in changes.written():
                copy |= {e.key: e.vectors.tobytes() for e in posts.entries()}
            seen = changes.generation
            assert copy == contents(store)


def test_reader_sees_commits_after_refresh(tmp_path, posts):
    with open_store(tmp_path) as store:
        store.commit(PostVectors.of(posts[:5]))
        reader = VectorStore(tmp_path)
        assert "7" not in reader.places
        store.commit(PostVectors.of(posts[5:9]), delete=["1"])
        reader.refresh()
        assert contents(reader) == contents(store)


def test_rest_of_a_killed_commit_is_not_read_and_removed(tmp_path, posts):
    with open_store(tmp_path) as store:
        store.commit(PostVectors.of(posts[:5]))
        before = contents(store)
        state = (tmp_path / "store.json").read_text()
        store.commit(PostVectors.of(posts[3:9]))
    # As if the process had died just before store.json was replaced.
    (tmp_path / "store.json").write_text(state)
    (tmp_path / ".seg-000009.safetensors.part").write_bytes(b"half")
    assert contents(VectorStore(tmp_path)) == before
    with open_store(tmp_path) as store:
        assert {f.name for f in tmp_path.iterdir()} == {
            ".lock", "store.json", "seg-000001.safetensors",
        }  # fmt: skip
        store.commit(PostVectors.of(posts[3:9]))
        assert contents(store) == before | unit(posts[3:9])


def test_finished_shards_survive_compaction(tmp_path, posts):
    with open_store(tmp_path) as store:
        store.commit(PostVectors.of(posts[:4]), shard=GraphRange("posts", 0, 4))
        store.commit(PostVectors.of(posts[4:8]), shard=GraphRange("posts", 4, 8))
        store.compact()
        assert len(store.segments()) == 1
    assert VectorStore(tmp_path).state.shards == (
        GraphRange("posts", 0, 4),
        GraphRange("posts", 4, 8),
    )
    assert not VectorStore(tmp_path).state.complete


def test_half_precision_is_kept_as_such(tmp_path, posts):
    with open_store(tmp_path, dtype="float16") as store:
        store.commit(PostVectors.of(posts))
        vectors = store.read(["1"]).vectors
        assert vectors.dtype == np.float16
    with pytest.raises(ConfigurationError, match="float16"):
        open_store(tmp_path, dtype="float32")


def test_other_encoder_is_refused(tmp_path, posts):
    with open_store(tmp_path) as store:
        store.commit(PostVectors.of(posts[:2]), encoder=ENCODER)
        with pytest.raises(ConfigurationError, match="encoder-b"):
            store.commit(PostVectors.of(posts[2:4]), encoder="encoder-b")
        assert len(store) == 2
    with pytest.raises(ConfigurationError, match="cannot be compared"):
        open_store(tmp_path, encoder="encoder-b")
    open_store(tmp_path).close()  # the refusal left no lock behind


def test_two_writers_are_refused(tmp_path):
    with open_store(tmp_path), pytest.raises(LockedError, match="Another"):
        open_store(tmp_path)


def test_reader_may_not_write(store, posts):
    with pytest.raises(LockedError, match="reading"):
        store.commit(PostVectors.of(posts[:1]))


def test_wrong_width_and_contradictions_are_refused(tmp_path, posts):
    with open_store(tmp_path) as store:
        with pytest.raises(MalformedInputError, match="8 numbers"):
            store.commit(PostVectors.of(draw_posts(1, width=4)))
        with pytest.raises(MalformedInputError, match="not both"):
            store.commit(PostVectors.of(posts[:2]), delete=["2"])
        assert len(store) == 0


def test_unknown_post_is_named(store):
    with pytest.raises(MissingInputError, match=r"'600'.*did you mean '60'"):
        store.read(["1", "600"])


def test_missing_changed_or_foreign_store_is_refused(tmp_path, posts):
    with pytest.raises(MissingInputError, match="encode the posts"):
        VectorStore(tmp_path / "none")
    with open_store(tmp_path) as store:
        store.commit(PostVectors.of(posts[:2]))
    file = tmp_path / "seg-000001.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(DamagedFileError, match="damaged; run `kedro run"):
        len(VectorStore(tmp_path))
    state = json.loads((tmp_path / "store.json").read_text())
    (tmp_path / "store.json").write_text(json.dumps(state | {"version": 9}))
    with pytest.raises(DamagedFileError, match="version 9"):
        VectorStore(tmp_path)
