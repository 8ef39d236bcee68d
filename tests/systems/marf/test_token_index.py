"""MaxSim over documents of several rows against Algorithm 1."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.systems.marf import token_index
from mathamr_kedro.systems.marf.token_index import TokenIndex


def score_slowly(query, rows):
    """Algorithm 1: the mean over the fused rows of a document of their MaxSim."""
    scores = []
    for row in rows:
        best = [max(float(q @ d) for d in row) for q in query]
        scores.append(sum(best) / len(query))
    return sum(scores) / len(scores) if scores else -np.inf


@pytest.mark.parametrize("at_once", [1, 7, 1 << 15])
def test_scores_as_their_slow_twin_in_any_order(tmp_path, monkeypatch, at_once) -> None:
    monkeypatch.setattr(TokenIndex, "documents_per_shard", 4)
    monkeypatch.setattr(token_index, "_VECTORS_AT_ONCE", at_once)
    rng = np.random.default_rng(0)
    documents = [
        [
            rng.normal(size=(rng.integers(1, 5), 3)).astype(np.float16)
            for _ in range(rng.integers(0, 4))
        ]
        for _ in range(10)
    ]
    index = TokenIndex(tmp_path, "fused", torch.device("cpu"))
    for shard, start in enumerate(range(0, 10, 4)):
        part = documents[start : start + 4]
        rows = [torch.from_numpy(row) for document in part for row in document]
        index.write(shard, RaggedVectors.of(rows), [len(d) for d in part])
    query = rng.normal(size=(4, 3)).astype(np.float32)
    asked = rng.permutation(10)[:8]
    found = index.score(torch.from_numpy(query), asked)
    expected = [score_slowly(query, documents[n]) for n in asked]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert np.isinf(expected).any()


def test_a_query_without_tokens_scores_nothing(tmp_path) -> None:
    index = TokenIndex(tmp_path, "formula", torch.device("cpu"))
    index.write(0, RaggedVectors.of([torch.ones(1, 3)]), [1])
    assert np.isinf(index.score(torch.zeros(0, 3), np.array([0]))).all()
