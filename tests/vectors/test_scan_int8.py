"""Scans of small codes against plain NumPy over what the codes stand for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr_kedro.vectors.scan_int8 import Codec, Int8Scanner
from tests.vectors.test_scan_torch import ragged, unit


def slow_decode(documents):
    """The vectors that codes stand for, number by number, and how sure those of a
    document are: a number in the middle of two codes may get either."""
    rows = np.concatenate(documents).astype(np.float64)
    decoded, doubts = np.empty_like(rows), np.zeros_like(rows)
    for column in range(rows.shape[1]):
        numbers = rows[:, column]
        middle = (numbers.min() + numbers.max()) / 2
        step = max((numbers.max() - numbers.min()) / 254, 1e-12)
        exact = (numbers - middle) / step
        codes = [round(float(c)) for c in exact]
        decoded[:, column] = [middle + step * c for c in codes]
        doubts[:, column] = step * (np.abs(exact - codes) > 0.5 - 2e-4)
    ends = np.cumsum([len(d) for d in documents])[:-1]
    return np.split(decoded, ends), [d.sum() for d in np.split(doubts, ends)]


def test_scan_equals_maxsim_over_decoded_vectors():
    """All but the rounding of the query, which is known."""
    rng = np.random.default_rng(1)
    queries = [unit(rng, n, 20) for n in (1, 7, 130)]
    documents = [unit(rng, n, 20) for n in rng.integers(1, 40, 70)]
    packed = Int8Scanner(ragged(documents), columns=64)
    batch = ragged(queries)
    asked = packed.codec.encode_queries(batch.vectors)
    rounded = asked.codes * asked.scale[:, None] / packed.codec.scale
    decoded, doubts = slow_decode(documents)
    assert np.count_nonzero(doubts) < 10
    slack = 2e-5 + np.array(doubts)[packed.order]
    # The offset is multiplied with the query as it is, the code with the rounded one.
    offset = packed.codec.offset.numpy()
    start = 0
    for query, scores in zip(queries, packed.scan(batch).numpy(), strict=True):
        mine = rounded[start : start + len(query)].numpy()
        start += len(query)
        truth = [
            np.mean([max(r @ (d - offset) + q @ offset for d in rows)
                     for r, q in zip(mine, query, strict=True)])
            for rows in decoded
        ]  # fmt: skip
        assert (np.abs(scores - np.array(truth)[packed.order]) <= slack).all()


def test_codes_take_a_fourth_of_the_memory():
    documents = [unit(np.random.default_rng(0), 16, 128) for _ in range(32)]
    assert Int8Scanner(ragged(documents)).num_bytes() == 32 * 16 * 512 // 4


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_codec_of_equal_numbers_and_of_half_precision(dtype):
    vectors = torch.tensor([[1.0, 0.0], [1.0, 0.5]], dtype=getattr(torch, dtype))
    codec = Codec.fit(vectors)
    back = codec.offset + codec.scale * codec.encode(vectors)
    np.testing.assert_allclose(back.numpy(), vectors.numpy(), atol=2e-3)
