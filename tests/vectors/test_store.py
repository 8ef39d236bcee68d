"""The store: shards, kills, damage, refusals."""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

from mathamr_kedro.base import shards as shard_lists
from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    LockedError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.shards import LIST_NAME
from mathamr_kedro.vectors.post_vectors import PostVectors
from mathamr_kedro.vectors.store import GraphRange, StoreWriter, VectorStore

from .conftest import ENCODER, WIDTH, draw_posts, make_store

SHARDS = ["posts-00000000-00000005", "posts-00000005-00000010"]


def open_writer(folder, **kwargs):
    return StoreWriter(folder, **{"encoder": ENCODER, "width": WIDTH, **kwargs})


def write(writer, posts, first, last, of="posts"):
    writer.write(PostVectors.of(posts[first:last]), GraphRange(of, first, last))


def contents(store):
    """Key to vectors, read one by one."""
    keys = list(store.keys())
    assert len(keys) == len(set(keys)) == len(store)
    return {k: store.read([k]).entry(0).vectors.tobytes() for k in keys}


def unit(posts):
    return {e.key: e.vectors.tobytes() for e in PostVectors.of(posts).entries()}


def test_posts_are_read_back_in_any_order(store, posts):
    assert contents(store) == unit(posts)
    assert store.is_complete
    keys = [posts[i].key for i in (40, 3, 59, 4)]
    assert list(store.read(keys).keys) == keys
    assert len(store.read([])) == 0
    for part, rows, places in store.locate(keys):
        found = [part.keys[row] for row in rows.tolist()]
        assert found == [keys[place] for place in places.tolist()]
        assert sorted(rows.tolist()) == rows.tolist()


def test_a_killed_writer_is_resumed(tmp_path, posts):
    with open_writer(tmp_path) as writer:
        write(writer, posts, 0, 5)
        state = (tmp_path / LIST_NAME).read_text()
        write(writer, posts, 5, 10)
    # As if the process had died just before the list was replaced.
    (tmp_path / LIST_NAME).write_text(state)
    (tmp_path / ".posts.safetensors.part").write_bytes(b"half")
    assert contents(VectorStore(tmp_path)) == unit(posts[:5])
    with open_writer(tmp_path) as writer:
        assert {f.name for f in tmp_path.iterdir()} == {
            ".lock", ".seconds", LIST_NAME, f"{SHARDS[0]}.safetensors",
        }  # fmt: skip
        assert [shard.name for shard in writer.shards] == SHARDS[:1]
        write(writer, posts, 5, 10)
        assert not VectorStore(tmp_path).is_complete
        writer.complete()
    assert contents(VectorStore(tmp_path)) == unit(posts[:10])
    assert VectorStore(tmp_path).is_complete


def test_shards_of_other_graphs_are_removed(tmp_path, posts):
    """Topics may be others while the encoder stays."""
    with open_writer(tmp_path) as writer:
        write(writer, posts, 0, 5, of="topics-a")
        writer.complete()
    reader = VectorStore(tmp_path)
    with open_writer(tmp_path, of=["topics-b"]) as writer:
        assert writer.shards == ()
        write(writer, posts, 3, 6, of="topics-b")
        writer.complete()
    assert contents(VectorStore(tmp_path)) == unit(posts[3:6])
    assert contents(reader) == unit(posts[:5])  # it stays mapped


def flip(file):
    content = bytearray(file.read_bytes())
    content[len(content) * 2 // 3] ^= 4
    file.write_bytes(content)


def cut(file):
    file.write_bytes(file.read_bytes()[:-8])


def empty(file):
    file.write_bytes(b"")


@pytest.mark.parametrize("damage", [flip, cut, empty, lambda file: file.unlink()])
@pytest.mark.parametrize("name", SHARDS)
def test_damaged_file_is_found_and_written_again(tmp_path, posts, damage, name, caplog):
    store = make_store(tmp_path, posts[:10], per_shard=5)
    store.check()
    damage(tmp_path / f"{name}.safetensors")
    with pytest.raises(DamagedFileError, match=rf"{name}.*kedro run"):
        store.check()
    if damage is not flip:  # which only a reader of all bytes can see
        with pytest.raises(DamagedFileError, match=name):
            VectorStore(tmp_path)
    with open_writer(tmp_path) as writer:
        (left,) = writer.shards
        assert left.name != name
        assert not VectorStore(tmp_path).is_complete
        first = 5 - left.first
        write(writer, posts, first, first + 5)
        writer.complete()
    assert f"are rebuilt: {name}" in caplog.text
    again = VectorStore(tmp_path)
    again.check()
    assert contents(again) == unit(posts[:10])
    assert again.content == store.content  # an index of it need not be rebuilt


def test_changed_list_is_refused_with_the_remedy(tmp_path, posts):
    make_store(tmp_path, posts[:5])
    file = tmp_path / LIST_NAME
    text = file.read_text()
    file.write_text(text[:-9])
    for read in (VectorStore, open_writer):  # not taken for an empty folder
        with pytest.raises(MalformedInputError, match="delete the folder"):
            read(tmp_path)
    open_writer(tmp_path / "other").close()  # the refusal left no lock behind


def test_store_of_an_earlier_version_is_written_again(tmp_path, posts):
    (tmp_path / "seg-000001.safetensors").write_bytes(b"old")
    (tmp_path / "store.json").write_text(json.dumps({"version": 2, "segments": []}))
    with pytest.raises(MissingInputError, match="kedro run --pipelines indexing"):
        VectorStore(tmp_path)
    with open_writer(tmp_path) as writer:
        write(writer, posts, 0, 5)
        writer.complete()
    assert contents(VectorStore(tmp_path)) == unit(posts[:5])
    assert not [*tmp_path.glob("seg-*"), *tmp_path.glob("store.json")]


def test_half_precision_is_kept_as_such(tmp_path, posts):
    store = make_store(tmp_path, posts, dtype="float16")
    assert store.read(["1"]).vectors.dtype == np.float16
    with pytest.raises(ConfigurationError, match="float16"):
        open_writer(tmp_path, dtype="float32")


def test_other_encoder_is_refused(tmp_path, posts):
    make_store(tmp_path, posts[:2])
    with pytest.raises(ConfigurationError, match=r"encoder-b.*cannot be compared"):
        open_writer(tmp_path, encoder="encoder-b")
    open_writer(tmp_path).close()  # the refusal left no lock behind


def test_a_second_writer_waits_and_is_refused(tmp_path, monkeypatch):
    """Cells of an experiment that share vectors open their store one after another."""
    with open_writer(tmp_path) as writer:
        threading.Timer(0.2, writer.close).start()
        with open_writer(tmp_path):
            monkeypatch.setattr("mathamr_kedro.vectors.store.LOCK_TIMEOUT_S", 0)
            with pytest.raises(LockedError, match="Another"):
                open_writer(tmp_path)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0, 3.0])
def test_vectors_without_length_one_are_refused(tmp_path, posts, bad):
    add = PostVectors.of(posts[:4])
    add.vectors[int(add.ptr[2])] *= bad
    with open_writer(tmp_path) as writer:
        with pytest.raises(MalformedInputError, match="length 1 for post '3'"):
            writer.write(add, GraphRange("posts", 0, 4))
        assert writer.shards == ()
    assert list(tmp_path.glob("*.safetensors")) == []


def test_wrong_width_and_posts_given_twice_are_refused(tmp_path, posts):
    some = PostVectors.of(posts[:3])
    with open_writer(tmp_path) as writer:
        with pytest.raises(MalformedInputError, match="8 numbers"):
            write(writer, draw_posts(1, width=4), 0, 1)
        with pytest.raises(MalformedInputError, match=r"once .*'1' 2 times"):
            writer.write(PostVectors.join([some, some]), GraphRange("posts", 0, 6))
        write(writer, posts, 0, 3)
        with pytest.raises(MalformedInputError, match="each graph once"):
            write(writer, posts, 2, 5)
        writer.write(some, GraphRange("formulas", 0, 3))
        with pytest.raises(MalformedInputError, match="6 posts of 3 ids"):
            writer.complete()


def test_shard_that_cannot_be_written_changes_nothing(tmp_path, posts, monkeypatch):
    def refuse(path, text):
        raise OSError("full")

    with open_writer(tmp_path) as writer:
        write(writer, posts, 0, 3)
        with monkeypatch.context() as patch:
            patch.setattr(shard_lists, "write_text", refuse)
            with pytest.raises(OSError, match="full"):
                write(writer, posts, 3, 6)
        assert contents(VectorStore(tmp_path)) == unit(posts[:3])
        write(writer, posts, 3, 6)
    assert contents(VectorStore(tmp_path)) == unit(posts[:6])


def test_unknown_post_and_missing_store_are_named(tmp_path, store):
    with pytest.raises(MissingInputError, match=r"'600'.*did you mean '60'"):
        store.read(["1", "600"])
    with pytest.raises(MissingInputError, match="encode the posts"):
        VectorStore(tmp_path / "none")
