"""Scans of small codes against plain NumPy over what the codes stand for."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.vectors.codes import Codec
from mathamr_kedro.vectors.pooling import pool_vectors
from mathamr_kedro.vectors.scan_codes import CodeScanner, _fill_up
from tests.vectors.conftest import slow_maxsim
from tests.vectors.test_scan_torch import CASES, draw_case, ragged, unit

KINDS = ["int8", "principal", "binary"]


def slow_decode(documents, kind, axes=None):
    """The vectors that codes stand for, number by number, and how sure those of a
    document are: a number in the middle of two codes may get either."""
    rows = np.concatenate(documents).astype(np.float64)
    if axes is not None:
        mean = rows.mean(0)
        turned = [(d - mean) @ axes for d in documents]
        decoded, doubts = slow_decode(turned, "int8")
        return [mean + t @ axes.T for t in decoded], doubts
    decoded, doubts = np.empty_like(rows), np.zeros_like(rows)
    for column in range(rows.shape[1]):
        numbers = rows[:, column]
        if kind == "int8":
            middle = (numbers.min() + numbers.max()) / 2
            step = max((numbers.max() - numbers.min()) / 254, 1e-12)
            exact = (numbers - middle) / step
            codes = [round(float(c)) for c in exact]
            decoded[:, column] = [middle + step * c for c in codes]
            doubts[:, column] = step * (np.abs(exact - codes) > 0.5 - 2e-4)
        else:
            mean = numbers.mean()
            apart = np.abs(numbers - mean).mean()
            above = numbers > mean + 1e-9
            decoded[:, column] = np.where(above, mean + apart, mean - apart)
    ends = np.cumsum([len(d) for d in documents])[:-1]
    return np.split(decoded, ends), [d.sum() for d in np.split(doubts, ends)]


@pytest.mark.parametrize("kind", KINDS)
def test_scan_equals_maxsim_over_decoded_vectors(kind):
    """All but the rounding of the query, which is known."""
    rng = np.random.default_rng(1)
    queries = [unit(rng, n, 20) for n in (1, 7, 130)]  # bits fill no whole byte
    documents = [unit(rng, n, 20) for n in rng.integers(1, 40, 70)]
    packed = CodeScanner(ragged(documents), kind, columns=64)
    batch = ragged(queries)
    asked = packed._codec.encode_queries(batch.vectors)
    rounded = asked.codes * asked.scale[:, None] / packed._codec.scale
    axes = packed._codec.axes
    if axes is not None:
        rounded, axes = rounded @ axes.T, axes.double().numpy()
    decoded, doubts = slow_decode(documents, kind, axes)
    assert np.count_nonzero(doubts) < 10
    slack = 2e-5 + np.array(doubts)[packed.order]
    # The offset is multiplied with the query as it is, the code with the rounded one.
    offset = packed._codec.offset.numpy()
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


@pytest.mark.parametrize("width", [1, 7, 20])
def test_principal_axes_are_those_of_the_largest_singular_values(width):
    rows = np.random.default_rng(2).normal(size=(500, width)) * np.arange(1, width + 1)
    rows += 3.0  # the mean is no axis
    axes = Codec.fit(torch.from_numpy(rows.astype(np.float32)), "principal").axes
    _, _, expected = np.linalg.svd(rows - rows.mean(0), full_matrices=False)
    expected = expected[: (width + 1) // 2]
    assert axes.shape == (width, (width + 1) // 2)
    # The sign of an axis is free.
    np.testing.assert_allclose(np.abs(expected @ axes.numpy()), np.eye(len(expected)),
                               atol=1e-3)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bound", [None, 0.6])
@pytest.mark.parametrize("case", CASES)
def test_scan_is_within_its_slack_of_a_double_loop(case, bound, kind):
    queries, documents = draw_case(case, np.random.default_rng(1))
    fewer, loss = pool_vectors(RaggedVectors.of(documents), bound)
    packed = CodeScanner(ragged(documents), kind, 64, fewer.to("cpu"), loss)
    batch = ragged(queries)
    truth = np.array([[slow_maxsim(q, d) for d in documents] for q in queries])
    error = np.abs(packed.scan(batch).numpy() - truth[:, packed.order.numpy()]).max()
    assert error <= packed.slack(batch)
    if bound is None and kind == "int8":
        assert packed.slack(batch) < 0.05


@pytest.mark.parametrize(
    ("kind", "share"), [("int8", 4), ("principal", 8), ("binary", 32)]
)
def test_codes_take_a_share_of_the_memory(kind, share):
    documents = [unit(np.random.default_rng(0), 16, 128) for _ in range(32)]
    assert CodeScanner(ragged(documents), kind).num_bytes() == 32 * 16 * 512 // share


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_codec_of_equal_numbers_and_of_half_precision(dtype):
    vectors = torch.tensor([[1.0, 0.0], [1.0, 0.5]], dtype=getattr(torch, dtype))
    for kind in KINDS:
        codec = Codec.fit(vectors, kind)
        back = codec.decode(codec.unpack(codec.encode(vectors)))
        np.testing.assert_allclose(back.numpy(), vectors.numpy(), atol=2e-3)


def test_each_number_that_is_added_may_be_off_by_a_rounding():
    rng = np.random.default_rng(2)
    scanner = CodeScanner(ragged([unit(rng, 3, 20)]))
    vector = unit(rng, 1, 20)
    one, four = (scanner.slack(ragged([np.repeat(vector, n, axis=0)])) for n in (1, 4))
    assert four - one == pytest.approx(3 * 2.0**-22, rel=1e-3)


def test_one_query_vector_is_multiplied_alone_and_several_in_sixteens():
    for count, filled in ((1, 1), (2, 16), (16, 16), (17, 32)):
        codes = torch.ones(count, 5)
        columns = _fill_up(codes)
        assert columns.shape == (5, filled)
        assert torch.equal(columns[:, :count], codes.T)
        assert not columns[:, count:].any()
