"""Files that were flipped, cut, emptied or deleted are never used in silence."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from mathamr_kedro.base.errors import DamagedFileError, MalformedInputError
from mathamr_kedro.vectors import store_state
from mathamr_kedro.vectors.post_vectors import PostVectors
from mathamr_kedro.vectors.store import VectorStore
from mathamr_kedro.vectors.store_mending import verify_store
from mathamr_kedro.vectors.store_state import GraphRange

from .conftest import ENCODER, WIDTH, draw_posts


def flip(file):
    content = bytearray(file.read_bytes())
    content[len(content) * 2 // 3] ^= 4
    file.write_bytes(content)


def cut(file):
    file.write_bytes(file.read_bytes()[:-8])


def empty(file):
    file.write_bytes(b"")


DAMAGES = [flip, cut, empty, lambda file: file.unlink()]


def make(folder, posts):
    """Two batches of a collection, then three posts added and one deleted by hand."""
    with VectorStore.open(folder, ENCODER, WIDTH) as store:
        for first in (0, 5):
            shard = GraphRange("posts", first, first + 5)
            store.commit(PostVectors.of(posts[first : first + 5]), shard=shard)
        store.commit(PostVectors.of(posts[10:13]), delete=["2"])
    return folder


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["seg-000001", "seg-000003", "dead-000003-000001"])
def test_damaged_file_is_found_and_left_out(tmp_path, posts, damage, name, caplog):
    folder = make(tmp_path, posts)
    assert list(verify_store(folder)) == []
    damage(folder / f"{name}.safetensors")
    (error,) = verify_store(folder)
    assert isinstance(error, DamagedFileError)
    assert name in str(error)
    assert "kedro run --pipelines indexing" in str(error)
    if damage is not flip:  # which only a reader of all bytes can see
        with pytest.raises(DamagedFileError, match=name):
            VectorStore(folder)
    with VectorStore.open(folder, ENCODER, WIDTH, mend=True) as store:
        by_hand = name == "seg-000003"
        assert [r.first for r in store.state.shards] == ([0, 5] if by_hand else [5])
        assert store.state.compacted == store.generation == 4
        assert not store.state.complete
        assert store.is_by_hand("2")
        left = {p.key for p in (posts[:10] if by_hand else posts[5:13])}
        assert set(store.keys()) == left - {"2"}
    assert name in caplog.text
    assert ("index restore" in caplog.text) == by_hand
    assert list(verify_store(folder)) == []


def test_changed_state_is_refused_with_the_remedy(tmp_path, posts):
    file = make(tmp_path, posts) / "store.json"
    text = file.read_text()
    file.write_text(text.replace('"generation": 3', '"generation": 2'))
    with pytest.raises(DamagedFileError, match=r"changed\); delete that file"):
        VectorStore(tmp_path)
    file.write_text(text[:-9])
    (error,) = verify_store(tmp_path)
    assert "delete that file" in str(error)
    with pytest.raises(DamagedFileError, match="delete that file"):
        VectorStore.open(tmp_path, ENCODER, WIDTH)  # not taken for an empty folder


def test_store_of_an_older_version_is_made_anew(tmp_path, posts):
    make(tmp_path, posts)
    (tmp_path / "store.json").write_text(json.dumps({"version": 1, "shards": []}))
    with pytest.raises(DamagedFileError, match="version 1 instead of 2"):
        VectorStore(tmp_path)
    with VectorStore.open(tmp_path, ENCODER, WIDTH, mend=True) as store:
        assert len(store) == store.generation == 0
    assert [f.name for f in tmp_path.glob("*.safetensors")] == []


def test_store_in_the_place_of_another_is_not_mixed_with_it(tmp_path, posts):
    """Files of the same names: what a reader has mapped is of the store before."""
    make(tmp_path / "store", posts)
    reader = VectorStore(tmp_path / "store")
    shutil.rmtree(tmp_path / "store")
    others = draw_posts(13, seed=9)
    make(tmp_path / "store", others)
    reader.refresh()
    expected = PostVectors.of(others[:1]).vectors
    np.testing.assert_array_equal(reader.read(["1"]).vectors, expected)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0, 3.0])
def test_vectors_without_length_one_are_refused(tmp_path, posts, bad):
    add = PostVectors.of(posts[:4])
    add.vectors[int(add.ptr[2])] *= bad
    with VectorStore.open(tmp_path, ENCODER, WIDTH) as store:
        with pytest.raises(MalformedInputError, match="length 1 for post '3'"):
            store.commit(add)
        assert store.generation == 0
    assert list(tmp_path.glob("*.safetensors")) == []


def test_post_given_twice_is_refused(tmp_path, posts):
    some = PostVectors.of(posts[:3])
    with VectorStore.open(tmp_path, ENCODER, WIDTH) as store:
        with pytest.raises(MalformedInputError, match=r"once .*'1' 2 times"):
            store.commit(PostVectors.join([some, some]))
        assert len(store) == 0


def test_commit_that_cannot_be_written_changes_nothing(tmp_path, posts, monkeypatch):
    with VectorStore.open(tmp_path, ENCODER, WIDTH) as store:
        store.commit(PostVectors.of(posts[:3]))
        with monkeypatch.context() as patch:
            patch.setattr(store_state, "write_text", _refuse)
            with pytest.raises(OSError, match="full"):
                store.commit(PostVectors.of(posts[3:6]), delete=["1"])
        assert (store.generation, sorted(store.keys())) == (1, ["1", "2", "3"])
        store.commit(PostVectors.of(posts[3:6]), delete=["1"])
        assert len(store) == 5


def _refuse(path, text):
    raise OSError("full")
