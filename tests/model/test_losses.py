"""InfoNCE against loops written from its equation."""

from __future__ import annotations

import math

import pytest
import torch

from mathamr_kedro.model.losses import (
    info_nce,
    measure_accuracy,
    multi_positive_info_nce,
)


def slow_nce(scores, tau, positive=None, counted=None):
    """Eq. 3.6, row by row; sets of columns, by default the diagonal and all."""
    losses = []
    for i, row in enumerate(scores.tolist()):
        terms = [math.exp(s / tau) for s in row]
        right = {i} if positive is None else positive[i]
        others = range(len(row)) if counted is None else counted[i]
        if right:
            top, below = (sum(terms[j] for j in js) for js in (right, others))
            losses.append(-math.log(top / below))
    return sum(losses) / max(len(losses), 1)


@pytest.mark.parametrize("temperature", [0.5, torch.tensor(0.05)])
def test_it_is_equation_3_6_and_further_columns_are_negatives(temperature):
    scores = torch.randn(4, 6)
    loss = info_nce(scores, temperature).item()
    assert loss == pytest.approx(slow_nce(scores, float(temperature)), rel=1e-5)


def test_symmetric_is_the_mean_of_rows_and_columns():
    scores = torch.randn(4, 6)
    there, back = slow_nce(scores, 0.5), slow_nce(scores[:, :4].T, 0.5)
    loss = info_nce(scores, 0.5, symmetric=True).item()
    assert loss == pytest.approx((there + back) / 2, rel=1e-5)


def test_false_negatives_count_for_nothing():
    scores = torch.randn(3, 4)
    excluded = torch.zeros(3, 4, dtype=torch.bool)
    excluded[0, 2] = excluded[2, 0] = excluded[1, 3] = True
    counted = [(0, 1, 3), (0, 1, 2), (1, 2, 3)]
    loss = info_nce(scores, 0.5, excluded).item()
    assert loss == pytest.approx(slow_nce(scores, 0.5, counted=counted), rel=1e-5)


def mask(sets, width):
    return torch.tensor([[j in js for j in range(width)] for js in sets])


def test_rows_may_have_several_positives_or_none():
    scores = torch.randn(3, 4, requires_grad=True)
    positive, counted = [(0, 3), (), (1,)], [(0, 2, 3), (0, 1), (0, 2)]
    loss = multi_positive_info_nce(scores, 0.5, mask(positive, 4), mask(counted, 4))
    expected = slow_nce(scores.detach(), 0.5, positive, counted)
    assert loss.item() == pytest.approx(expected, rel=1e-5)
    loss.backward()
    assert not scores.grad[1].any()


def test_no_positives_at_all_are_no_loss():
    nothing = torch.zeros(2, 3, dtype=torch.bool)
    assert multi_positive_info_nce(torch.randn(2, 3), 0.5, nothing, ~nothing) == 0


def test_accuracy_counts_rows_whose_own_column_is_highest():
    scores = torch.tensor([[2.0, 1.0, 0.0], [3.0, 1.0, 2.0]])
    assert measure_accuracy(scores) == 0.5
