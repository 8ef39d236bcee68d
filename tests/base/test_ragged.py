"""Ragged vectors against lists of matrices, in NumPy and in torch."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.ragged import RaggedVectors, scale_to_length_one

LENGTHS = [3, 1, 5, 2, 4]


def draw(kind, lengths=LENGTHS, seed=0):
    rng = np.random.default_rng(seed)
    rows = [rng.standard_normal((n, 4)) for n in lengths]
    ragged = RaggedVectors.of(rows)
    ragged = replace(ragged, columns={"place": np.arange(sum(lengths))})
    return rows, ragged.to("cpu") if kind == "torch" else ragged


def rows_of(ragged):
    bounds = ragged.ptr.tolist()
    return [
        (np.asarray(ragged.vectors[a:b]), ragged.columns["place"][a:b].tolist())
        for a, b in pairwise(bounds)
    ]


def check(found, rows, places):
    assert len(found) == len(rows)
    assert found.lengths.tolist() == [len(r) for r in rows]
    for (vectors, place), row, expected in zip(
        rows_of(found), rows, places, strict=True
    ):
        np.testing.assert_array_equal(vectors, row)
        assert place == expected


both = pytest.mark.parametrize("kind", ["numpy", "torch"])


@both
def test_taken_rows_come_in_the_given_order(kind):
    rows, ragged = draw(kind)
    chosen = [4, 0, 0, 2]
    index = np.array(chosen)
    found = ragged.take(torch.from_numpy(index) if kind == "torch" else index)
    known = rows_of(ragged)
    check(found, [rows[i] for i in chosen], [known[i][1] for i in chosen])
    assert len(ragged.take(ragged.ptr[:0])) == 0


@both
def test_joined_parts_stand_one_after_another(kind):
    rows, ragged = draw(kind)
    more, other = draw(kind, [2, 1], seed=1)
    found = RaggedVectors.join([ragged, other, other])
    places = [p for _, p in rows_of(ragged)] + 2 * [p for _, p in rows_of(other)]
    check(found, [*rows, *more, *more], places)
    assert RaggedVectors.join([ragged]) is ragged


@both
@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_split_parts_joined_are_the_whole(kind, size):
    rows, ragged = draw(kind)
    parts = list(ragged.split(size))
    assert max(map(len, parts)) <= size
    assert all(p.host_ptr.tolist() == p.ptr.tolist() for p in parts)
    check(RaggedVectors.join(parts), rows, [p for _, p in rows_of(ragged)])


@both
def test_owners_and_the_longest(kind):
    _, ragged = draw(kind)
    assert ragged.owners().tolist() == np.repeat(range(5), LENGTHS).tolist()
    assert ragged.longest == 5


@both
def test_padding_is_zero_and_marked(kind):
    rows, ragged = draw(kind)
    padded, is_real = ragged.padded()
    assert padded.shape == (5, 5, 4)
    for row, full, real in zip(rows, padded, is_real, strict=True):
        assert real.tolist() == [True] * len(row) + [False] * (5 - len(row))
        np.testing.assert_array_equal(full[: len(row)], row)
        assert not full[len(row) :].any()


@both
def test_a_row_without_vectors_is_all_padding(kind):
    _, ragged = draw(kind, [1, 0])
    padded, is_real = ragged.padded()
    assert is_real.tolist() == [[True], [False]]
    assert not padded[1].any()


def test_rows_may_stand_anywhere_among_the_vectors():
    rows, ragged = draw("torch")
    behind = replace(ragged, ptr=ragged.ptr[2:])
    assert len(behind) == 3
    padded, is_real = behind.padded()
    np.testing.assert_array_equal(padded[is_real], np.concatenate(rows[2:]))


def test_pointers_are_of_the_kind_of_the_vectors():
    assert isinstance(RaggedVectors.of([np.eye(2)]).ptr, np.ndarray)
    ragged = RaggedVectors.of([torch.eye(2), torch.ones(1, 2)])
    assert isinstance(ragged.ptr, torch.Tensor)
    assert ragged.ptr.tolist() == ragged.host_ptr.tolist() == [0, 2, 3]


def test_one_vector_each():
    ragged = RaggedVectors.one_each(torch.eye(3))
    assert ragged.lengths.tolist() == [1, 1, 1]
    assert RaggedVectors.one_each(np.eye(2)).ptr.tolist() == [0, 1, 2]


def test_moving_keeps_what_the_host_knows_and_other_pointers_forget_it():
    _, ragged = draw("numpy")
    moved = ragged.to("cpu", torch.float32)
    assert moved.vectors.dtype == torch.float32
    assert moved.columns["place"].dtype == torch.int64
    assert moved.host_ptr.tolist() == [0, 3, 4, 9, 11, 15]
    assert replace(moved, ptr=moved.ptr[:2]).host_ptr.tolist() == [0, 3]


def test_no_device_is_asked_for_what_the_host_knew():
    """Tensors on "meta" have no content that could be asked for."""
    _, ragged = draw("numpy")
    moved = ragged.to("meta")
    assert moved.ptr.device.type == "meta"
    assert moved.to("meta").host_ptr.tolist() == [0, 3, 4, 9, 11, 15]
    assert "host_ptr" in vars(ragged.to("cpu"))


@pytest.mark.parametrize("rows", [0, 1, 4096, 9000])
def test_scaled_rows_keep_their_direction_and_have_length_one(rows):
    vectors = np.random.default_rng(2).standard_normal((rows, 3)).astype(np.float32)
    scaled = scale_to_length_one(vectors, np.float64)
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=-1), 1.0, rtol=1e-12)
    cosine = (scaled * vectors).sum(-1) / np.linalg.norm(vectors, axis=-1)
    np.testing.assert_allclose(cosine, 1.0, rtol=1e-6)
    rounded = scale_to_length_one(vectors)
    assert rounded.dtype == np.float32
    np.testing.assert_array_equal(rounded, scaled.astype(np.float32))


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf])
def test_rows_without_a_direction_are_named(value):
    with pytest.raises(MalformedInputError, match="row 1 has length"):
        scale_to_length_one(np.array([[1.0, 2.0], [value, 0.0], [0.0, 0.0]]))
    many = np.ones((5000, 2))
    many[4998, 0] = np.nan
    with pytest.raises(MalformedInputError, match="row 4998 has length nan"):
        scale_to_length_one(many)
