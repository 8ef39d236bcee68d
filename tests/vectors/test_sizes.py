"""Vectors and bytes by type of post, against loops over the posts."""

from __future__ import annotations

from mathamr_kedro.vectors.store import (
    StoreWriter,
    TypeCounts,
    VectorStore,
    compute_bytes,
    count_by_type,
)
from tests.vectors.conftest import ENCODER, WIDTH, draw_posts, make_store


def count_slowly(posts):
    counts = {}
    for post in posts:
        known = counts.get(post.post_type, TypeCounts(0, 0, 0, 0))
        counts[post.post_type] = TypeCounts(
            known.posts + 1,
            known.vectors + len(post.vectors),
            known.documents + (post.document() is not None),
            known.formulas + sum(post.returnable),
        )
    return counts


def test_counts_are_those_of_a_loop_over_posts(tmp_path):
    posts = draw_posts(40)
    bare = posts[29]._replace(
        key="99", vectors=posts[29].vectors[:-1], kinds=posts[29].kinds[:-1],
        numbers=posts[29].numbers[:-1],
    )  # fmt: skip
    posts.append(bare)  # without a document vector
    found = count_by_type(make_store(tmp_path, posts))
    assert found == count_slowly(posts)
    assert set(found) == {"question", "answer"}
    size = compute_bytes(found, WIDTH, 2)
    answers = found["answer"]
    assert size["answer"] == (
        2 * WIDTH * (answers.vectors + answers.documents), 2 * WIDTH * answers.formulas,
    )  # fmt: skip


def test_empty_store_holds_nothing(tmp_path):
    StoreWriter(tmp_path, ENCODER, WIDTH).close()
    assert count_by_type(VectorStore(tmp_path)) == {}
