"""An index over changed posts equals a scan of the posts as they are now."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.graph import FORMULA_TYPE, name_entry
from mathamr_kedro.systems.mathamr_plus.strategies import find_formulas
from mathamr_kedro.vectors import (
    EngineConfig,
    GraphRange,
    HnswConfig,
    PostEntry,
    PostParts,
    PostVectors,
    SearchMode,
    StoreWriter,
    UpdatedIndex,
    VectorStore,
    build_index,
    open_index,
)

from .conftest import (
    ENCODER,
    WIDTH,
    SlowIndex,
    check_engine,
    check_hits,
    draw_posts,
    draw_query,
    make_store,
)


def open_base(engine, store, folder):
    config = EngineConfig(engine, hnsw=HnswConfig(all_m=16))
    folder.mkdir()
    build_index(config, store, folder)
    return open_index(config, store, folder)


@pytest.fixture(params=["exact", "edge"])
def base(request, tmp_path, store):
    with open_base(request.param, store, tmp_path / "index") as index:
        yield index


def change(base, added=(), deleted=()):
    """The index with some posts over it."""
    posts = PostVectors.of(added, width=WIDTH).astype(base.posts.dtype)
    parts = [posts] if added else []
    own = PostParts(parts, ENCODER, WIDTH, base.posts.dtype)
    return UpdatedIndex(base, own, deleted)


@pytest.mark.parametrize(
    ("added", "deleted"),
    [
        (draw_posts(20, seed=3, start=51), ["1", "7"]),  # ten replace others
        (draw_posts(3, seed=3, start=900), []),
        ([], [str(key) for key in range(1, 56)]),
        (draw_posts(60, seed=3), []),
    ],
)
@pytest.mark.parametrize("depth", [1, 20])
def test_changed_posts_are_searched_as_they_are(base, posts, added, deleted, depth):
    now = {post.key: post for post in posts} | {post.key: post for post in added}
    now = {key: post for key, post in now.items() if key not in deleted}
    index = change(base, added, deleted)
    for types in (None, frozenset({"answer"})):
        check_engine(index, SlowIndex(now.values()), depth, types)
    assert len(index.posts) == len(now) == len({*index.posts.keys()})
    formulas = sum(map(sum, (post.returnable for post in now.values())))
    assert index.size()[:2] == (len(now), formulas)
    asked = sorted(now)
    found = index.posts.read([*asked, asked[0]])
    expected = PostVectors.of([now[key] for key in asked])
    np.testing.assert_allclose(
        found.take(range(len(asked))).vectors, expected.vectors, atol=1e-6
    )
    assert list(found.keys) == [*asked, asked[0]]
    for key in deleted:
        assert key not in index.posts
        with pytest.raises(MissingInputError, match=f"No post '{key}'"):
            index.posts.read([key])


def test_equal_scores_are_ordered_by_id(tmp_path):
    """Equal posts, of which every second one is added later."""
    post = draw_posts(1, formulas=2)[0]
    keys = [str(key) for key in range(95, 115)]
    posts = [
        post._replace(key=k, formula_ids=[f"{k}-0", f"{k}-1"], returnable=None)
        for k in keys
    ]
    store = make_store(tmp_path, posts[::2])
    base = open_index(EngineConfig("exact"), store, tmp_path)
    check_engine(change(base, posts[1::2]), SlowIndex(posts), depth=7)


def test_a_walk_finds_added_posts_exactly(tmp_path, store, posts):
    added, query = draw_posts(5, seed=3, start=900), draw_query(2).vectors
    with open_base("edge", store, tmp_path / "index") as base:
        index = change(base, added, ["1"])
        (hits,) = index.search_maxsim([query], 1000, SearchMode(False, hnsw_ef=60))
        check_hits(hits, SlowIndex([*posts[1:], *added]).maxsim(query, 1000))


def test_formulas_of_comments_go_with_their_post_only_if_it_is_deleted(tmp_path, posts):
    comments = [
        PostEntry(
            name_entry(key, "12", f"99{key}"), FORMULA_TYPE, np.eye(WIDTH)[:1], [0],
            [0], [f"99{key}"], ["v99"],
        )
        for key in ("7", "8")
    ]  # fmt: skip
    with StoreWriter(tmp_path, ENCODER, WIDTH) as writer:
        writer.write(PostVectors.of(posts), GraphRange("posts", 0, 60))
        writer.write(PostVectors.of(comments), GraphRange("formulas", 0, 2))
        writer.complete()
    base = open_index(EngineConfig("exact"), VectorStore(tmp_path), tmp_path)
    (query,) = np.eye(WIDTH)[:1]
    index = change(base, draw_posts(1, seed=4, start=8), ["7"])
    assert comments[0].key not in index.posts
    assert comments[1].key in index.posts
    (found,) = find_formulas(index, [query], depth=1)
    assert found.post_ids == ["8"]
