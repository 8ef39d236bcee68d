"""Both losses against their equations, pair by pair."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.systems.mathamr.encoder import (
    contrastive_loss,
    multiple_negatives_loss,
)


def draw(count: int, seed: int) -> tuple[list[list[float]], list[list[float]]]:
    torch.manual_seed(seed)
    first, second = torch.nn.functional.normalize(
        torch.randn(2, count, 5, dtype=torch.double), dim=2
    )
    return first.tolist(), second.tolist()


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def contrastive_slowly(queries, candidates, scores, margin):
    total = 0.0
    for q, c, y in zip(queries, candidates, scores, strict=True):
        d = 1 - cosine(q, c)
        total += 0.5 * (y * d**2 + (1 - y) * max(0.0, margin - d) ** 2)
    return total / len(queries)


def negatives_slowly(queries, candidates, query_ids, candidate_ids, scale):
    total = 0.0
    for i, q in enumerate(queries):
        bottom = 0.0
        for j, c in enumerate(candidates):
            is_other = (
                query_ids[i] != query_ids[j] and candidate_ids[i] != candidate_ids[j]
            )
            if i == j or is_other:
                bottom += math.exp(scale * cosine(q, c))
        total -= math.log(math.exp(scale * cosine(q, candidates[i])) / bottom)
    return total / len(queries)


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1), st.integers(0, 99))
def test_contrastive_loss_is_its_equation(scores, seed):
    queries, candidates = draw(len(scores), seed)
    tensors = (torch.tensor(v, dtype=torch.double) for v in (queries, candidates))
    found = contrastive_loss(*tensors, torch.tensor(scores))
    expected = contrastive_slowly(queries, candidates, scores, 0.5)
    assert found.item() == pytest.approx(expected)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=9),
    st.integers(0, 99),
)
def test_multiple_negatives_loss_is_its_equation(ids, seed):
    queries, candidates = draw(len(ids), seed)
    query_ids, candidate_ids = (list(column) for column in zip(*ids, strict=True))
    found = multiple_negatives_loss(
        torch.tensor(queries, dtype=torch.double),
        torch.tensor(candidates, dtype=torch.double),
        torch.tensor(query_ids),
        torch.tensor(candidate_ids),
    )
    expected = negatives_slowly(queries, candidates, query_ids, candidate_ids, 20.0)
    assert found.item() == pytest.approx(expected, abs=1e-9)


def test_losses_pull_as_scores_say():
    query = torch.tensor([[1.0, 0.0]])
    near, far = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    one, none = torch.ones(1), torch.zeros(1)
    assert contrastive_loss(query, near, one) == 0
    assert contrastive_loss(query, far, none) == 0  # beyond the margin
    assert contrastive_loss(query, far, one) > 0
    assert contrastive_loss(query, near, none) > 0
    assert contrastive_loss(query, near, one / 2) > 0
