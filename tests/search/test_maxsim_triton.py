"""The fused kernel against a double loop; on a GPU or in Triton's interpreter.

Without a GPU: ``TRITON_INTERPRET=1 pytest tests/search/test_maxsim_triton.py`` with
the package triton and numpy 2.2.
"""

from __future__ import annotations

import importlib.util
import os

import numpy as np
import pytest
import torch

from mathamr_kedro.search.exact_space import ExactSpace
from mathamr_kedro.search.maxsim import QueryBatch, RaggedRows

from .conftest import slow_maxsim, slow_ranking

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("triton") is None
        or not (torch.cuda.is_available() or os.environ.get("TRITON_INTERPRET")),
        reason="needs triton, and a GPU or TRITON_INTERPRET=1",
    ),
    pytest.mark.filterwarnings("ignore:Conversion of an array"),
]
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def unit(rng, *shape, dtype="f4"):
    vectors = rng.standard_normal(shape)
    vectors /= np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors.astype(dtype)


def pack(documents, **tiling):
    from mathamr_kedro.search.maxsim_triton import BlockedPosts, Tiling

    rows = torch.from_numpy(np.concatenate(documents)).to(DEVICE)
    ptr = torch.from_numpy(np.cumsum([0, *map(len, documents)])).to(DEVICE)
    return BlockedPosts(RaggedRows(rows, ptr), Tiling(**tiling))


@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("lengths", [[1] * 40, [3, 1, 17, 2, 2, 5] * 6, [9]])
@pytest.mark.parametrize("queries", [[16], [1, 20, 3, 33], [5] * 9])
def test_scan_is_within_its_slack_of_a_double_loop(dtype, lengths, queries):
    rng = np.random.default_rng(1)
    documents = [unit(rng, n, 16, dtype=dtype) for n in lengths]
    batch = [unit(rng, n, 16, dtype=dtype) for n in queries]
    packed = pack(documents, groups=2, posts=16, warps=4)
    tokens = QueryBatch.of(batch).to(DEVICE)
    scores = packed.scan(tokens).cpu().numpy()
    truth = np.array([[slow_maxsim(q, d) for d in documents] for q in batch])
    error = np.abs(scores - truth[:, packed.order.cpu().numpy()]).max()
    assert error <= packed.slack(tokens)


def test_padding_stays_small():
    rng = np.random.default_rng(0)
    documents = [unit(rng, n, 16) for n in rng.integers(1, 30, 300)]
    packed = pack(documents, posts=16)
    padded = packed.num_bytes() / (16 * 4)
    assert padded <= 1.15 * sum(map(len, documents))


@pytest.mark.gpu
def test_search_on_the_device_equals_loops():
    rng = np.random.default_rng(2)
    documents = [unit(rng, n, 32, dtype="f2") for n in rng.integers(1, 30, 400)]
    documents[7:12] = [documents[3]] * 5  # ties
    queries = [unit(rng, n, 32, dtype="f2") for n in (1, 16, 40)]
    space = ExactSpace("cuda")
    lengths = [len(d) for d in documents]
    space.add(np.concatenate(documents), np.cumsum([0, *lengths]))
    allowed = rng.random(400) < 0.9
    names = np.array([str(i) for i in range(400)], dtype=object)
    found = space.search(QueryBatch.of(queries), 50, allowed, names.take)
    for query, best in zip(queries, found, strict=True):
        scores = {
            str(i): slow_maxsim(query, d) for i, d in enumerate(documents) if allowed[i]
        }
        order = names[best.places.numpy()].tolist()
        assert order == slow_ranking(scores, 50)
        np.testing.assert_allclose(best.scores, [scores[k] for k in order], atol=1e-5)
