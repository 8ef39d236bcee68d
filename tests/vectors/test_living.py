"""Posts added to a store and deleted from it, without parser and encoder."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import (
    DamagedFileError,
    LockedError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.records import Failure, FormulaMention, Post
from mathamr_kedro.graph import FORMULA_TYPE, find_owner, name_entry
from mathamr_kedro.systems.mathamr_plus import Strategy, find_formulas, find_posts
from mathamr_kedro.vectors import EngineConfig, ExactIndex, living, open_index
from mathamr_kedro.vectors.living import AddedPosts, LivingIndex
from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors
from mathamr_kedro.vectors.store import VectorStore

from .conftest import (
    ENCODER,
    WIDTH,
    SlowIndex,
    check_engine,
    draw_post,
    draw_posts,
    draw_query,
)

FAILURE = Failure("ingestion", "a.pdf", "", "a.pdf", "unknown_file_type", "got .pdf")


def make_post(key: str, text: str = "Is FORMULA_0 even?") -> Post:
    formula = FormulaMention("FORMULA_0", f"{key}:0", "x1", r"\pi", 3, 12)
    return Post(
        key, "document", key, None, None, None, None, ("π",), "", text, (formula,)
    )


class FakeEncoder:
    """Draws vectors by the id; refuses an empty text."""

    def encode_post(self, post: Post):
        if not post.text:
            raise MalformedInputError("Expected words")
        seed = int(post.post_id)
        drawn = draw_post(np.random.default_rng(seed), post.post_id)
        return drawn._replace(post_type=post.post_type)


@pytest.fixture(params=["exact", "edge"])
def engine(request) -> EngineConfig:
    return EngineConfig(request.param)


@pytest.fixture
def index(tmp_path, store, engine) -> LivingIndex:
    return LivingIndex(
        store.folder,
        engine,
        tmp_path / "index",
        None,
        lambda: FakeEncoder().encode_post,
    )


def test_posts_are_added_replaced_and_deleted(index, store, posts):
    found = index.add([make_post("7"), FAILURE, make_post("900"), make_post("8", "")])
    assert found.added == ("7", "900")
    assert found.replaced == ("7",)
    assert [f.reason for f in found.failures] == ["unknown_file_type", "not_encoded"]
    index.delete(["9", "900"])
    store.refresh()
    encode = FakeEncoder().encode_post
    twin = {p.key: p for p in posts} | {"7": encode(make_post("7"))}
    del twin["9"]
    check_engine(ExactIndex(store), SlowIndex(twin.values()))
    assert AddedPosts(store.folder)(["7", "900", "9"]) == {"7": make_post("7")}


def test_many_posts_are_committed_in_batches(index, store, monkeypatch):
    monkeypatch.setattr(living, "_POSTS_AT_ONCE", 2)
    before = store.generation
    found = index.add(make_post(str(k)) for k in (900, 901, 902, 900, 1))
    assert found.added == ("900", "901", "902", "900", "1")
    assert found.replaced == ("900", "1")
    store.refresh()
    assert store.generation == before + 3
    assert len(store) == 63
    assert index.status().added == 4


def test_status_counts_what_lives(index, store, engine, posts):
    index.catch_up()
    index.add([make_post("7"), make_post("900")])
    index.delete(["8"])
    status = index.status()
    assert (status.engine, status.encoder) == (engine.engine, ENCODER)
    assert (status.posts, status.added, status.dead) == (60, 2, 2)
    assert status.generation == status.index_generation == store.generation + 2
    living_now = VectorStore(store.folder)
    entries = list(living_now.read(list(living_now.keys())).entries())
    assert status.formulas == sum(sum(e.returnable) for e in entries)
    assert status.vectors == sum(len(e.kinds) for e in entries)


def make_comment(post_id: str) -> PostEntry:
    """A formula beside the posts, as indexing writes one of a comment."""
    key = name_entry(post_id, "12", f"99{post_id}")
    vector = np.eye(WIDTH)[:1]
    return PostEntry(key, FORMULA_TYPE, vector, [0], [0], [f"99{post_id}"], ["v99"])


def test_formulas_beside_the_posts_go_with_their_post(index, store, engine, tmp_path):
    with VectorStore.open(store.folder, ENCODER, WIDTH) as writer:
        writer.commit(PostVectors.of([make_comment("7"), make_comment("8")]))
    before = index.status()
    assert before.posts == 60
    opened = open_index(engine, VectorStore(store.folder), tmp_path / "index")
    assert opened.size().posts == 60
    (found,) = find_formulas(opened, [np.eye(WIDTH)[0]], depth=1)
    assert found.visual_ids == ["v99"]
    assert found.post_ids[0] in ("7", "8")
    (posts,) = find_posts(opened, [draw_query()], Strategy(post_types=()))
    assert len(posts) == 60  # no formula among them
    opened.close()
    index.delete(["7"])
    rest = VectorStore(store.folder)
    beside = [key for key in rest.places if find_owner(key) != key]
    assert [find_owner(key) for key in beside] == ["8"]
    assert index.status().posts == 59


def test_unknown_posts_are_refused_and_nothing_is_deleted(index, store):
    with pytest.raises(MissingInputError, match="No post '6O' among the 60"):
        index.delete(["60", "6O"])
    assert len(VectorStore(store.folder)) == 60


def test_compaction_keeps_what_lives_and_the_index(index, tmp_path, store, engine):
    index.add([make_post("900")])
    index.delete([str(k) for k in range(1, 40)])
    before, after = index.compact()
    assert after < before / 2
    status = index.status()
    assert (status.posts, status.segments, status.dead) == (22, 1, 0)
    again = VectorStore(store.folder)
    reached = engine.read_generation(again, tmp_path / "index")
    assert reached == again.generation


def test_a_writer_at_work_is_not_disturbed(index, store):
    with (
        VectorStore.open(store.folder, ENCODER, store.width),
        pytest.raises(LockedError, match="wait for it"),
    ):
        index.add([make_post("900")])
    assert not AddedPosts(store.folder)(["900"])


def test_texts_survive_as_they_were(tmp_path):
    texts = AddedPosts(tmp_path)
    assert texts(["1"]) == {}
    texts.change(delete=["1"])
    assert not list(tmp_path.iterdir())
    texts.change(add=[make_post("1", "ζ\nFORMULA_0\u2028"), make_post("2")])
    texts.change(add=[make_post("3")], delete=["2"])
    again = AddedPosts(tmp_path)
    assert again(["3", "1", "2"]) == {
        "3": make_post("3"),
        "1": make_post("1", "ζ\nFORMULA_0\u2028"),
    }


def test_draws_differ():
    """The twin above would hide an index that ignores replacements otherwise."""
    drawn = FakeEncoder().encode_post(make_post("7"))
    assert not any(
        np.array_equal(drawn.vectors, post.vectors) for post in draw_posts(60)
    )


def test_posts_lost_with_a_damaged_file_are_restored(index, store, posts):
    index.add([make_post("900"), make_post("901")])
    index.delete(["901"])
    last = max(store.folder.glob("seg-*"))
    last.write_bytes(b"")
    with pytest.raises(DamagedFileError, match=last.name):
        index.restore()
    state = VectorStore.open(store.folder, ENCODER, store.width, mend=True)
    state.close()
    assert index.restore().added == ("900",)
    assert index.restore().added == ()
    twin = [*posts, FakeEncoder().encode_post(make_post("900"))]
    check_engine(ExactIndex(VectorStore(store.folder)), SlowIndex(twin))
