"""Adding, replacing and deleting posts: slow twin, the posts as they are now."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from mathamr_kedro.base.errors import MalformedInputError, MissingInputError
from mathamr_kedro.base.files import FolderLock
from mathamr_kedro.base.records import Failure
from mathamr_kedro.systems.changes import ChangeStore
from mathamr_kedro.systems.mathamr_plus import MathAMRPlusIndex, Strategy
from mathamr_kedro.systems.updates import UpdatableIndex
from mathamr_kedro.vectors import (
    EngineConfig,
    ExactIndex,
    PostVectors,
    build_index,
    open_index,
)
from tests.conftest import PATIENCE
from tests.systems.test_changes import make_post
from tests.vectors.conftest import (
    SlowIndex,
    check_engine,
    draw_post,
    draw_posts,
    make_store,
)

FAILURE = Failure("ingestion", "a.pdf", "", "a.pdf", "unknown_file_type", "got .pdf")


def encode(post, seed=0):
    """Draw vectors by the id; refuse an empty text."""
    if not post.text:
        raise MalformedInputError("Expected words")
    drawn = draw_post(np.random.default_rng([int(post.post_id), seed]), post.post_id)
    return drawn._replace(post_type=post.post_type)


@pytest.fixture
def posts():
    return draw_posts(60)


@pytest.fixture
def base(tmp_path, posts):
    return make_store(tmp_path / "vectors", posts)


@pytest.fixture
def changes(tmp_path):
    return ChangeStore(tmp_path / "changes")


@pytest.fixture
def index(changes, base):
    return UpdatableIndex(changes, base, lambda: encode)


def open_vectors(base, changes, encode_post=encode):
    """The index of MathAMR+ as posts were changed."""
    opened = MathAMRPlusIndex(ExactIndex(base), {"x": Strategy(post_types=())})
    if encode_post is not None:
        opened.use_encoder(SimpleNamespace(encode_post=encode_post))
    opened.update(changes.read())
    return opened


@pytest.mark.parametrize("engine", ["exact", "edge"])
def test_changed_posts_equal_a_dictionary(
    index, changes, base, posts, tmp_path, engine
):
    """Add, replace and delete; one index takes each change, another all at once."""
    config = EngineConfig(engine)
    (tmp_path / "engine").mkdir()
    build_index(config, base, tmp_path / "engine")
    built = open_index(config, base, tmp_path / "engine")
    live = MathAMRPlusIndex(built, {"x": Strategy(post_types=())})
    live.use_encoder(SimpleNamespace(encode_post=encode))
    rng = np.random.default_rng(0)
    truth = {p.key: p for p in posts}
    for _ in range(4):
        keys = {str(k) for k in rng.integers(40, 70, 4)}
        added = index.add([make_post(key) for key in sorted(keys)])
        assert {*added.replaced, *added.unchanged} == keys.intersection(truth)
        truth |= {key: encode(make_post(key)) for key in keys}
        gone = sorted({str(k) for k in rng.integers(30, 70, 3)}.intersection(truth))
        index.delete(gone)
        truth = {k: p for k, p in truth.items() if k not in gone}
        live.update(changes.read())
        for opened in (live, open_vectors(base, changes)):
            found = opened.index
            check_engine(found, SlowIndex(truth.values()))
            assert {*found.posts.keys()} == truth.keys()
            asked = sorted(truth)
            expected = PostVectors.of([truth[k] for k in asked])
            read = found.posts.read(asked)
            np.testing.assert_allclose(read.vectors, expected.vectors, atol=1e-6)
            assert list(read.formula_ids) == list(expected.formula_ids)
        status = index.status()
        formulas = sum(map(sum, (p.returnable for p in truth.values())))
        assert (status.posts, status.formulas) == (len(truth), formulas)
    live.close()


def test_added_posts_keep_their_texts_and_failures_are_named(index, changes):
    odd = make_post("900", "\u03b6\nFORMULA_0")
    found = index.add([make_post("7"), FAILURE, odd, make_post("8", "")])
    assert (found.added, found.replaced) == (("7", "900"), ("7",))
    assert [f.reason for f in found.failures] == ["unknown_file_type", "not_encoded"]
    assert changes.read().added == {"7": make_post("7"), "900": odd}
    index.delete(["9", "900"])
    assert changes.read().added == {"7": make_post("7")}
    assert changes.read().deleted == {"9"}
    status = index.status()
    assert (status.posts, status.added, status.deleted) == (59, 1, 1)


def test_many_posts_are_added_and_the_last_of_one_id_counts(index):
    keys = [*range(900, 2100), 900, 1]
    found = index.add(make_post(str(key)) for key in keys)
    assert len(found.added) == 1201
    assert (found.replaced, found.unchanged) == (("1",), ("900",))
    assert index.status().posts == 60 + 1200


def test_post_with_too_many_vectors_is_refused_and_nothing_is_written(base, changes):
    many = draw_post(np.random.default_rng(0), 900, formulas=1 << 17)
    index = UpdatableIndex(changes, base, lambda: lambda post: many)
    found = index.add([make_post("900")])
    assert found.added == ()
    assert "fewer than 131072 vectors in post '900'" in found.failures[0].detail
    assert index.status().posts == 60


def test_unknown_posts_are_refused_and_nothing_is_deleted(index):
    with pytest.raises(MissingInputError, match="No post '6O' among the 60"):
        index.delete(["60", "6O"])
    assert index.status().posts == 60
    index.delete(["60"])
    with pytest.raises(MissingInputError, match="No post '60' among the 59"):
        index.delete(["60"])


def test_a_sync_keeps_what_was_changed_by_hand(index, changes):
    index.add([make_post("900")])
    index.delete(["1"])
    folder = {key: make_post(key) for key in ("2", "3", "901")}
    done = index.sync(folder, lambda post: post.post_id == "2")
    assert done.added == ("3", "901")
    assert {*done.deleted} == {str(key) for key in range(4, 61)}
    assert index.status().posts == 4  # 2, 3, 901 and 900
    again = index.sync(folder, lambda post: post.post_id == "2")
    assert (again.added, again.deleted) == ((), ())
    changes.forget_synced()
    assert changes.read().keys == {"900", "1"}


def test_writers_wait_for_each_other_and_a_second_time_changes_nothing(
    changes, base, tmp_path
):
    def add(key):
        lock = partial(FolderLock, tmp_path / "root", "wait", PATIENCE)
        writer = UpdatableIndex(ChangeStore(changes.folder), base, lambda: encode, lock)
        return writer.add([make_post(key)])

    keys = ["900", "901", "902", "900"]
    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(add, keys))
    assert [d.added or d.unchanged for d in done] == [(key,) for key in keys]
    assert sum(map(len, (d.unchanged for d in done))) == 1
    version = changes.read_version()
    assert add("901").unchanged == ("901",)
    assert changes.read_version() == version
    assert changes.read().added.keys() == {*keys}


def test_another_encoder_encodes_what_was_added(
    index, changes, tmp_path, posts, caplog
):
    """Without one, added posts are not found, nor those that they replace."""
    index.add([make_post("7"), make_post("900")])
    index.delete(["8"])
    others = make_store(tmp_path / "others", posts, encoder="another")
    status = UpdatableIndex(changes, others, lambda: encode).status()
    assert (status.added, status.waiting, status.posts) == (0, 2, 58)
    left = [post for post in posts if post.key not in ("7", "8")]
    caplog.set_level(logging.WARNING)
    waiting = open_vectors(others, changes, encode_post=None)
    assert "2 posts that were added cannot be found" in caplog.text
    check_engine(waiting.index, SlowIndex(left), depth=5)
    again = partial(encode, seed=1)
    new = [again(make_post(key)) for key in ("7", "900")]
    found = open_vectors(others, changes, again).index
    check_engine(found, SlowIndex([*left, *new]), depth=5)
    # encoded once: now without an encoder, too
    found = open_vectors(others, changes, encode_post=None).index
    check_engine(found, SlowIndex([*left, *new]), depth=5)


def test_added_answers_belong_to_their_questions(index, changes, base):
    question = make_post("903")._replace(post_type="question")
    answer = make_post("902")._replace(post_type="answer", parent_id="903")
    index.add([question, answer])
    strategy = Strategy(with_question=0.5, post_types=("answer",))
    opened = MathAMRPlusIndex(ExactIndex(base), {"x": strategy})
    opened.use_encoder(SimpleNamespace(encode_post=encode))
    opened.update(changes.read())
    (asked,) = opened.index.posts.read(["903"]).entries()
    query = SimpleNamespace(entry=asked, target="posts", formula=None)
    (hits,) = opened.rank([query], depth=1)
    assert hits.ids == ["902"]
    assert {term.owner for term in opened.explain(query, "902")} == {"902", "903"}
