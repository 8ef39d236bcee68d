"""Packed scans against a double loop, on ragged and adversarial posts."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.vectors.scan_torch import TorchScanner
from tests.vectors.conftest import slow_maxsim


def unit(rng, *shape):
    vectors = rng.standard_normal(shape)
    return (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype("f4")


def ragged(matrices):
    return RaggedVectors.of(matrices).to("cpu")


def draw_case(name, rng):
    """Queries and documents of one kind of trouble."""
    lengths = {
        "ragged": rng.integers(1, 40, 70),
        "one vector each": np.ones(50, dtype=int),
        "one long post": np.array([1, 2, 400, 3]),
        "one post": np.array([5]),
    }.get(name, rng.integers(1, 6, 30))
    documents = [unit(rng, n, 8) for n in lengths]
    queries = [unit(rng, n, 8) for n in (1, 7, 130)]
    if name == "duplicates":
        documents = [documents[i % 3] for i in range(30)]
    if name == "opposite":  # every product is negative
        queries = [np.repeat(unit(rng, 1, 8), 3, 0)]
        documents = [-queries[0][:1] for _ in documents]
    return queries, documents


CASES = [
    "ragged",
    "one vector each",
    "one long post",
    "one post",
    "duplicates",
    "opposite",
]


@pytest.mark.parametrize("columns", [4, 64, 12_288])
@pytest.mark.parametrize("case", CASES)
def test_scan_is_within_its_slack_of_a_double_loop(case, columns):
    queries, documents = draw_case(case, np.random.default_rng(1))
    packed = TorchScanner(ragged(documents), columns)
    batch = ragged(queries)
    scores = packed.scan(batch)
    truth = np.array([[slow_maxsim(q, d) for d in documents] for q in queries])
    error = np.abs(scores.numpy() - truth[:, packed.order.numpy()]).max()
    assert error <= packed.slack(batch)
    assert sorted(packed.order.tolist()) == list(range(len(documents)))


def test_slack_of_single_precision_is_small():
    batch = ragged([np.eye(32, dtype="f4")[:16]])
    packed = TorchScanner(RaggedVectors.one_each(torch.eye(32)))
    assert packed.slack(batch) < 4e-6


@pytest.mark.parametrize("case", CASES)
def test_pairs_in_double_precision_equal_a_double_loop(case):
    rng = np.random.default_rng(2)
    queries, documents = draw_case(case, rng)
    which = np.sort(rng.integers(0, len(queries), 50))
    chosen = rng.integers(0, len(documents), 50)
    scores = TorchScanner(ragged(documents)).score_pairs(
        ragged(queries), torch.from_numpy(which), torch.from_numpy(chosen)
    )
    truth = [
        slow_maxsim(queries[q], documents[d])
        for q, d in zip(which, chosen, strict=True)
    ]
    np.testing.assert_allclose(scores.numpy(), truth, rtol=0, atol=1e-14)


def test_blocks_repeat_few_vectors():
    rng = np.random.default_rng(3)
    documents = [unit(rng, n, 8) for n in rng.integers(1, 30, 200)]
    packed = TorchScanner(ragged(documents), columns=100)
    padded = packed.num_bytes() / (8 * 4)
    assert padded <= 1.3 * sum(map(len, documents))


def test_slack_counts_every_rounding():
    """n products summed in single precision are off by n 2^-24; then a mean."""
    posts = RaggedVectors.of([torch.eye(8)[:3]])
    queries = RaggedVectors.of([torch.eye(8)[:2], torch.eye(8)[:5]])
    expected = (8 + 5 + 4) * 2.0**-24
    assert TorchScanner(posts).slack(queries) == pytest.approx(expected, rel=1e-9)
