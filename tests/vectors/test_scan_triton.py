"""The fused kernel against a double loop; on a GPU or in Triton's interpreter.

Without a GPU: ``TRITON_INTERPRET=1 pytest tests/vectors/test_scan_triton.py``
with the package triton and numpy 2.2.
"""

from __future__ import annotations

import importlib.util
import os

import numpy as np
import pytest
import torch

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.vectors.scan import ExactSpace
from tests.vectors.conftest import slow_maxsim, slow_ranking

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
    from mathamr_kedro.vectors.scan_triton import Tiling, TritonScanner

    return TritonScanner(gather(documents), Tiling(**tiling))


def gather(documents):
    return RaggedVectors.of(documents).to(DEVICE)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
@pytest.mark.parametrize("lengths", [[1] * 40, [3, 1, 17, 2, 2, 5] * 6, [9]])
@pytest.mark.parametrize("queries", [[16], [1, 20, 3, 33], [5] * 9])
def test_scan_is_within_its_slack_of_a_double_loop(dtype, lengths, queries):
    rng = np.random.default_rng(1)
    documents = [unit(rng, n, 16, dtype=dtype) for n in lengths]
    batch = [unit(rng, n, 16, dtype=dtype) for n in queries]
    packed = pack(documents, groups=2, posts=16, warps=4)
    tokens = RaggedVectors.of(batch).to(DEVICE, torch.float32)
    scores = packed.scan(tokens).cpu().numpy()
    truth = np.array([[slow_maxsim(q, d) for d in documents] for q in batch])
    error = np.abs(scores - truth[:, packed.order.cpu().numpy()]).max()
    assert error <= packed.slack(tokens)


@pytest.mark.parametrize("dtype", ["f4", "f2"])
def test_pairs_in_double_precision_equal_a_double_loop(dtype):
    rng = np.random.default_rng(4)
    documents = [unit(rng, n, 16, dtype=dtype) for n in (1, 8, 9, 40, 3)]
    batch = [unit(rng, n, 16, dtype=dtype) for n in (1, 16, 35)]
    documents[4] = -np.repeat(batch[0], 3, 0)  # every product is negative
    pairs = np.array([(q, d) for q in range(3) for d in rng.permutation(5)])
    scores = pack(documents).score_pairs(
        RaggedVectors.of(batch).to(DEVICE, torch.float32),
        *torch.from_numpy(pairs).to(DEVICE).T.contiguous(),
    )
    truth = [slow_maxsim(batch[q], documents[d]) for q, d in pairs]
    np.testing.assert_allclose(scores.cpu(), truth, rtol=0, atol=1e-14)


def test_padding_stays_small():
    rng = np.random.default_rng(0)
    documents = [unit(rng, n, 16) for n in rng.integers(1, 30, 300)]
    packed = pack(documents, posts=16)
    padded = packed.num_bytes() / (16 * 4)
    assert padded <= 1.15 * sum(map(len, documents))


@pytest.mark.gpu
@pytest.mark.parametrize(("width", "dtype"), [(32, "f2"), (128, "f4")])
def test_search_on_the_device_equals_loops(width, dtype):
    rng = np.random.default_rng(2)
    documents = [unit(rng, n, width, dtype=dtype) for n in rng.integers(1, 30, 400)]
    documents[7:12] = [documents[3]] * 5  # ties
    queries = [unit(rng, n, width, dtype=dtype) for n in (1, 16, 140)]
    space = ExactSpace("cuda")
    space.add(RaggedVectors.of(documents))
    allowed = rng.random(400) < 0.9
    names = np.array([str(i) for i in range(400)], dtype=object)
    asked = RaggedVectors.of(queries)
    found = space.search(asked, 50, names.take, space.hide(allowed))
    for query, best in zip(queries, found, strict=True):
        scores = {
            str(i): slow_maxsim(query, d) for i, d in enumerate(documents) if allowed[i]
        }
        assert best.ids == slow_ranking(scores, 50)
        truth = [scores[k] for k in best.ids]
        np.testing.assert_allclose(best.scores, truth, atol=1e-5)


@pytest.mark.gpu
def test_more_blocks_than_a_second_grid_axis_holds():
    from mathamr_kedro.vectors.scan_triton import Tiling, TritonScanner

    count = 16 * 65_600
    drawn = torch.randn(count, 16, device="cuda", dtype=torch.float16)
    rows = torch.nn.functional.normalize(drawn, dim=1)
    packed = TritonScanner(RaggedVectors.one_each(rows), Tiling(2, 16, 4))
    queries = RaggedVectors.one_each(rows[:3].float())
    truth = rows[:3].double() @ rows[packed.order].double().T
    error = (packed.scan(queries).double() - truth).abs().max()
    assert error <= packed.slack(queries)
