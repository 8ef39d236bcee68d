"""Vectors and bytes by type of post, against loops over the posts."""

from __future__ import annotations

from mathamr_kedro.vectors.post_vectors import PostVectors
from mathamr_kedro.vectors.sizes import TypeCounts, compute_bytes, count_by_type
from mathamr_kedro.vectors.store import VectorStore
from tests.vectors.conftest import ENCODER, WIDTH, draw_posts


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


def test_counts_are_those_of_a_loop_over_living_posts(tmp_path):
    posts = {p.key: p for p in draw_posts(40)}
    with VectorStore.open(tmp_path, ENCODER, WIDTH) as store:
        store.commit(PostVectors.of(list(posts.values())))
        changed = draw_posts(8, seed=5, start=3)
        posts |= {p.key: p for p in changed}
        store.commit(PostVectors.of(changed), delete=["20", "21"])
        del posts["20"], posts["21"]
        alone = posts["30"]._replace(
            key="99", vectors=posts["30"].vectors[:-1], kinds=posts["30"].kinds[:-1],
            numbers=posts["30"].numbers[:-1],
        )  # fmt: skip
        posts["99"] = alone  # without a document vector
        store.commit(PostVectors.of([alone]))
        found = count_by_type(store)
    assert found == count_slowly(posts.values())
    assert set(found) == {"question", "answer"}
    size = compute_bytes(found, WIDTH, 2)
    answers = found["answer"]
    assert size["answer"] == (
        2 * WIDTH * (answers.vectors + answers.documents), 2 * WIDTH * answers.formulas,
    )  # fmt: skip


def test_empty_store_holds_nothing(tmp_path):
    with VectorStore.open(tmp_path, ENCODER, WIDTH) as store:
        assert count_by_type(store) == {}
