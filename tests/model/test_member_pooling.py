"""Rows by number, where spare numbers fill up the shape."""

from __future__ import annotations

import torch

from mathamr_kedro.model.member_pooling import gather_rows, place_rows


def test_spare_numbers_read_the_last_row():
    rows = torch.tensor([[1.0], [2.0], [3.0]])
    index = torch.tensor([2, 0, 3, 99])
    assert gather_rows(rows, index)[:, 0].tolist() == [3.0, 1.0, 3.0, 3.0]
    assert gather_rows(rows[:1], index)[:, 0].tolist() == [1.0] * 4
    assert gather_rows(rows[:0], index[:0]).shape == (0, 1)


def test_rows_with_a_spare_number_are_dropped():
    rows = torch.tensor([[1.0], [2.0], [3.0]])
    placed = place_rows(rows, torch.tensor([3, 1, 4], dtype=torch.int32), 4)
    assert placed[:, 0].tolist() == [0.0, 2.0, 0.0, 1.0]
