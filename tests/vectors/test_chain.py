"""Vectors of several files as one collection."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.vectors.scan_torch import VectorChain


def draw_parts(lengths: list[list[int]]) -> list[RaggedVectors]:
    rng = np.random.default_rng(0)
    return [
        RaggedVectors.of([rng.standard_normal((n, 3)) for n in rows])
        if rows
        else RaggedVectors(np.zeros((0, 3)), np.zeros(1, dtype=np.int64))
        for rows in lengths
    ]


@pytest.mark.parametrize(
    "lengths", [[[2, 1, 4]], [[2, 1], [], [3, 3, 1], [5]], [[], [1]]]
)
def test_rows_are_those_of_a_copy_of_all(lengths):
    parts = draw_parts(lengths)
    chain, whole = VectorChain(parts), RaggedVectors.join(parts)
    rng = np.random.default_rng(1)
    assert len(chain) == len(whole)
    for count in (0, 1, 9):
        rows = rng.integers(0, len(whole), count)
        taken, expected = chain.take(torch.from_numpy(rows)), whole.take(rows)
        np.testing.assert_array_equal(taken.vectors.numpy(), expected.vectors)
        np.testing.assert_array_equal(taken.ptr.numpy(), expected.ptr)


def test_all_rows_are_joined_in_the_order_of_the_files():
    parts = draw_parts([[2, 1], [3]])
    np.testing.assert_array_equal(
        VectorChain(parts).join().vectors, np.concatenate([p.vectors for p in parts])
    )
