"""Changes of a data root: what is kept of posts, and what is made of them."""

from __future__ import annotations

import pytest

from mathamr_kedro.base.errors import DamagedFileError
from mathamr_kedro.base.records import FormulaMention, Post
from mathamr_kedro.systems.changes import Change, Changes, ChangeStore


def make_post(key, text="Is FORMULA_0 even?"):
    formula = FormulaMention("FORMULA_0", f"{key}:0", "x1", r"\pi", 3, 12)
    return Post(
        key, "document", key, None, None, None, None, ("\u03c0",), "", text, (formula,)
    )


@pytest.fixture
def store(tmp_path):
    return ChangeStore(tmp_path / "changes")


def test_what_became_of_posts_is_read_as_it_was_written(store):
    assert store.read() == Changes()
    assert not store.read()
    odd = make_post("q\udcff \n1", "\udcff")
    with store.changing() as posts:
        posts["a.md"] = Change(make_post("a.md"))
        posts["1"] = Change(None)
        posts["2"] = Change(make_post("2"), is_synced=True)
        posts["3"] = Change(None, is_synced=True)
        posts[odd.post_id] = Change(odd)
    changes = ChangeStore(store.folder).read()
    assert changes.added == {p.post_id: p for p in map(make_post, ("a.md", "2"))} | {
        odd.post_id: odd
    }
    assert (changes.deleted, changes.synced) == ({"1", "3"}, {"2", "3"})
    assert changes.keys == {"a.md", "1", "2", "3", odd.post_id}
    assert changes.by_hand().keys == {"a.md", "1", odd.post_id}


def test_a_version_is_that_of_the_changes(store):
    versions = [store.read_version()]
    for change in (Change(make_post("1")), Change(None), Change(make_post("1"))):
        with store.changing() as posts:
            posts["1"] = change
        versions.append(store.read_version())
        with store.changing():
            pass
        assert store.read_version() == versions[-1]
    assert len(set(versions)) == 3 and versions[1] == versions[3]


def test_only_what_was_synced_is_forgotten(store):
    store.forget_synced()
    assert not store.folder.exists()
    with store.changing() as posts:
        posts |= {"1": Change(make_post("1")), "2": Change(make_post("2"), True)}
    cache = store.read().cache
    cache.keep("encoder", {make_post(key): b"made" for key in "12"})
    store.forget_synced()
    assert store.read().keys == {"1"}
    known = cache.find("encoder", [make_post("1"), make_post("2")])
    assert known == {"1": b"made"}


def test_what_an_encoder_made_is_of_that_encoder_and_that_text(store):
    with store.changing() as posts:
        posts["1"] = Change(make_post("1"))
    post, cache = make_post("1"), store.read().cache
    assert cache.find("encoder", [post]) == {}
    cache.keep("encoder", {post: b"made"})
    assert store.read().cache.find("encoder", [post]) == {"1": b"made"}
    assert cache.find("another", [post]) == {}
    assert cache.find("encoder", [make_post("1", "Another text")]) == {}
    cache.keep("encoder", {post: b"made again"})
    assert cache.find("encoder", [post]) == {"1": b"made again"}


@pytest.mark.parametrize("content", [b"", b"no database"])
def test_losing_the_cache_loses_nothing(store, content):
    with store.changing() as posts:
        posts["1"] = Change(make_post("1"))
    before, cache, post = store.read(), store.read().cache, make_post("1")
    cache.keep("encoder", {post: b"made"})
    (file,) = store.folder.glob("vectors*")
    file.write_bytes(content)
    assert store.read() == before
    assert cache.find("encoder", [post]) == {}
    cache.keep("encoder", {post: b"made"})
    assert cache.find("encoder", [post]) == {"1": b"made"}
    file.unlink()
    assert cache.find("encoder", [post]) == {}


def test_lost_changes_are_told_with_what_to_do(store):
    with store.changing() as posts:
        posts["1"] = Change(make_post("1"))
    (file,) = store.folder.glob("posts*")
    file.unlink()
    for read in (store.read, store.read_version, store.forget_synced):
        with pytest.raises(DamagedFileError, match=r"delete the folder .*index add"):
            read()
