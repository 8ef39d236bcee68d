"""Scores and losses against Eq. 2 and 3, number by number."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.systems.marf.networks import (
    contrastive_loss,
    pool_tokens,
    score_batch,
)


def make_items(lengths, seed, width=5):
    rng = np.random.default_rng(seed)
    rows = [rng.normal(size=(n, width)).astype(np.float32) for n in lengths]
    return RaggedVectors.of([torch.from_numpy(r) for r in rows]), rows


def unit(x):
    length = math.sqrt(sum(v * v for v in x))
    return [v / length for v in x]


def maxsim_slowly(query, document):
    """Eq. 2 over vectors of length 1, divided by the tokens of the query."""
    total = 0.0
    for q in query:
        products = [
            sum(a * b for a, b in zip(unit(q), unit(d), strict=True)) for d in document
        ]
        total += max(products)
    return total / len(query)


def cosine_of_means(query, document):
    means = [
        [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        for rows in (query, document)
    ]
    return sum(a * b for a, b in zip(unit(means[0]), unit(means[1]), strict=True))


@pytest.mark.parametrize(
    ("scoring", "twin"), [("token", maxsim_slowly), ("passage", cosine_of_means)]
)
def test_scores_as_their_slow_twin(scoring, twin) -> None:
    queries, q = make_items([3, 1, 4], 0)
    documents, d = make_items([2, 5, 1, 3], 1)
    expected = [[twin(a.tolist(), b.tolist()) for b in d] for a in q]
    found = score_batch(queries, documents, scoring)
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-5)


def test_an_item_without_tokens_has_no_direction() -> None:
    items, _ = make_items([2, 0, 1], 0)
    assert pool_tokens(items)[1].abs().sum() == 0
    torch.testing.assert_close(
        pool_tokens(items).norm(dim=1), torch.tensor([1.0, 0, 1])
    )


def loss_slowly(scores, is_negative, temperature, objective):
    total = 0.0
    for i, row in enumerate(scores):

        def weigh(s):
            return max(s, 1e-6) if objective == "ratio" else math.exp(s / temperature)

        others = sum(weigh(s) for j, s in enumerate(row) if is_negative[i][j])
        total += -math.log(weigh(row[i]) / (weigh(row[i]) + others))
    return total / len(scores)


@given(
    st.integers(2, 6), st.integers(0, 10**6), st.sampled_from(["softmax", "ratio"]),
    st.floats(0.05, 2.0),
)  # fmt: skip
def test_loss_as_its_slow_twin(size, seed, objective, temperature) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.uniform(-1, 1, (size, size))
    is_negative = rng.random((size, size)) < 0.7
    np.fill_diagonal(is_negative, val=False)
    found = contrastive_loss(
        torch.from_numpy(scores), torch.from_numpy(is_negative), objective, temperature
    )
    expected = loss_slowly(scores.tolist(), is_negative, temperature, objective)
    assert float(found) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("objective", ["softmax", "ratio"])
def test_gradients_pull_the_right_document_nearer(objective) -> None:
    queries, _ = make_items([3, 2], 3)
    queries.vectors.requires_grad_()
    documents, _ = make_items([2, 4], 4)
    is_negative = ~torch.eye(2, dtype=torch.bool)

    def find_loss():
        scores = score_batch(queries, documents, "token")
        return contrastive_loss(scores, is_negative, objective, 0.5)

    before = find_loss()
    before.backward()
    with torch.no_grad():
        queries.vectors.sub_(0.05 * queries.vectors.grad)
    assert find_loss() < before
