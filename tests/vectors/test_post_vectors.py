"""Flat arrays of posts: building, taking, joining, refusing."""

from __future__ import annotations

import numpy as np
import pytest

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors

from .conftest import draw_posts


def same_entry(a: PostEntry, b: PostEntry) -> bool:
    return (
        a[:2] == b[:2]
        and np.array_equal(a.vectors, b.vectors)
        and [list(x) for x in a[3:]] == [list(x) for x in b[3:]]
    )


def test_entries_hold_what_was_laid_out_with_unit_vectors(posts):
    built = PostVectors.of(posts)
    for post, found in zip(posts, built.entries(), strict=True):
        length = np.linalg.norm(post.vectors, axis=1, keepdims=True)
        unit = (post.vectors / length).astype(np.float32)
        assert same_entry(post._replace(vectors=unit), found)


def test_taken_and_joined_posts_are_the_same_posts(posts):
    whole = PostVectors.of(posts)
    parts = [whole.take([5, 2]), whole.take([0]), whole.take([])]
    joined = PostVectors.join(parts)
    joined.check()
    for place, original in enumerate([5, 2, 0]):
        assert same_entry(joined.entry(place), whole.entry(original))


def test_arrays_round_trip(posts):
    whole = PostVectors.of(posts)
    again = PostVectors.from_arrays(whole.to_arrays())
    assert all(map(same_entry, whole.entries(), again.entries()))


def test_rows_of_documents_and_formulas_point_at_them(posts):
    whole = PostVectors.of(posts)
    for place, entry in enumerate(whole.entries()):
        row = whole.document_rows[place]
        np.testing.assert_array_equal(whole.vectors[row], entry.document())
    for number, row in enumerate(whole.formula_rows):
        entry = whole.entry(whole.formula_posts[number])
        vector = entry.formula(whole.formula_ids[number])
        np.testing.assert_array_equal(whole.vectors[row], vector)


def test_post_without_document_vector_has_none():
    post = PostEntry("1", "answer", np.eye(3), [0, 1, 1], [0, 0, 1], ["f"], ["v"])
    assert post.document() is None
    assert PostVectors.of([post]).document_rows.tolist() == [-1]


def test_unknown_formula_of_a_post_is_named(posts):
    post = next(p for p in posts if len(p.formula_ids) > 1)
    with pytest.raises(MalformedInputError, match="did you mean"):
        post.formula(post.formula_ids[0] + "x")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"vectors": np.zeros((3, 4))}, "direction"),
        ({"vectors": np.full((3, 4), np.nan)}, "direction"),
        ({"kinds": [0, 1]}, "ptr"),
        ({"kinds": [1, 1, 2]}, "formula_ids"),
        ({"kinds": [0, 1, 7]}, "kinds"),
        ({"post_type": "anser"}, "did you mean 'answer'"),
        ({"visual_ids": []}, "visual_ids"),
    ],
)
def test_posts_that_do_not_fit_together_are_refused(changed, message):
    vectors = np.ones((3, 4))
    post = PostEntry("1", "answer", vectors, [0, 1, 2], [0, 0, 0], ["f"], ["v"])
    PostVectors.of([post])
    with pytest.raises(MalformedInputError, match=message):
        PostVectors.of([post._replace(**changed)])


def test_post_twice_or_without_vectors_is_refused():
    one = draw_posts(1)[0]
    with pytest.raises(MalformedInputError, match="once"):
        PostVectors.of([one, one])
    empty = PostEntry("2", "answer", np.zeros((0, 8)), [], [])
    with pytest.raises(MalformedInputError, match="at least one"):
        PostVectors.of([one, empty])
