"""Posts as ids, and the frozen vectors of their tokens, by rows over shards."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.systems.marf import batches, frozen_vectors
from mathamr_kedro.systems.marf.batches import encode_rows
from mathamr_kedro.systems.marf.frozen_vectors import FrozenVectors
from mathamr_kedro.systems.marf.post_shards import PostShards

POSTS = [
    ([3, 4], [[1], [2, 5]]),
    ([7], []),
    ([], [[6, 6, 6]]),
    ([8, 9, 1], [[2], [3], [4, 1]]),
    ([5], [[9, 8]]),
]
"""Ids of the text, and of each formula."""


class Pairs(nn.Module):
    """An encoder: the vector of a token is its id and the length of its row."""

    width = 2

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(()))
        self.rows: list[int] = []

    def forward(self, ids, is_seen):
        self.rows.append(len(ids))
        assert is_seen.any(1).all()  # attention to nothing would be no number
        lengths = is_seen.sum(1, keepdim=True).expand_as(ids)
        return torch.stack([ids, lengths], -1).float() + self.weight


@pytest.fixture
def shards(tmp_path, monkeypatch):
    monkeypatch.setattr(PostShards, "posts_per_shard", 2)
    made = [
        (np.array(text, np.int32), [np.array(f, np.int32) for f in formulas])
        for text, formulas in POSTS
    ]
    for number, start in enumerate(range(0, len(made), 2)):
        PostShards.write(tmp_path, number, made[start : start + 2])
    return PostShards(tmp_path)


def test_posts_are_found_by_their_rows(shards):
    assert len(shards.paths) == 3
    for row, (text, formulas) in enumerate(POSTS):
        assert shards.text(row).tolist() == text
        assert shards.count_formulas(row) == len(formulas)
        found = [shards.formula(row, n).tolist() for n in range(len(formulas))]
        assert found == formulas
    assert shards.formula(1, 0).tolist() == []


def test_pairs_are_read_back_and_missing_ones_are_named(shards):
    with pytest.raises(MissingInputError, match=r"Expected pairs\.npy in .*'training'"):
        _ = shards.pairs
    rows = np.array([[0, 3], [1, 4]])
    PostShards.write_pairs(shards.folder, rows[:1], rows[1:])
    assert shards.pairs.tolist() == [[0, 3]]
    assert shards.held_out.tolist() == [[1, 4]]


@pytest.mark.parametrize("at_once", [1, 2, 64])
def test_rows_come_back_in_their_order(monkeypatch, at_once):
    monkeypatch.setattr(batches, "_AT_ONCE", at_once)
    rows = [np.array(text, np.int32) for text, _ in POSTS]
    encoder = Pairs()
    found = encode_rows(encoder, rows)
    parts = [part.tolist() for part in found.vectors.split(found.ptr.diff().tolist())]
    assert parts == [[[i, len(row)] for i in row.tolist()] for row in rows]
    assert max(encoder.rows) == min(at_once, len(rows))


@pytest.mark.parametrize("at_once", [1, 2, 128])
def test_frozen_vectors_are_those_of_the_encoders(
    shards, tmp_path, monkeypatch, at_once
):
    monkeypatch.setattr(frozen_vectors, "_AT_ONCE", at_once)
    vectors = FrozenVectors(shards, tmp_path / "vectors", torch.device("cpu"))
    vectors.write(Pairs(), Pairs())
    rows = [3, 1, 2, 0]
    texts = vectors.texts(rows)
    assert texts.ptr.diff().tolist() == [len(POSTS[row][0]) for row in rows]
    expected = torch.tensor([[i, len(POSTS[r][0])] for r in rows for i in POSTS[r][0]])
    expected = nn.functional.normalize(expected.float(), dim=1)
    torch.testing.assert_close(texts.vectors, expected, atol=1e-3, rtol=0)
    torch.testing.assert_close(texts.vectors.norm(dim=1), torch.ones(len(expected)))
    formulas = vectors.formulas(rows, [2, 0, 0, 1])
    chosen = [[4, 1], [], [6, 6, 6], [2, 5]]
    assert formulas.ptr.diff().tolist() == [2, 0, 3, 2]
    assert formulas.vectors.tolist() == [[i, len(f)] for f in chosen for i in f]


def test_vectors_that_are_there_are_not_computed_again(shards, tmp_path):
    vectors = FrozenVectors(shards, tmp_path / "vectors", torch.device("cpu"))
    vectors.write(Pairs(), Pairs())
    (tmp_path / "vectors" / "vectors-00001.arrays").unlink()
    context, formula = Pairs(), Pairs()
    vectors.write(context, formula)
    assert (sum(context.rows), sum(formula.rows)) == (2, 4)  # of the second shard
