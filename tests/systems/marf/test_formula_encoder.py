"""The formula encoder against its equations, number by number."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from mathamr_kedro.systems.marf.networks import FormulaEncoder, encode_rows

FORMULAS = [np.array(ids, np.int32) for ids in ([3, 1, 4], [1], [], [5, 9, 2, 6, 5])]


@pytest.fixture(scope="module")
def encoder() -> FormulaEncoder:
    torch.manual_seed(1)
    return FormulaEncoder(vocabulary=12, width=8, layers=2, heads=2).eval()


def norm(x, weight):
    root = math.sqrt(sum(v * v for v in x) / len(x) + np.finfo(np.float32).eps)
    return [v / root * w for v, w in zip(x, weight, strict=True)]


def times(matrix, x):
    return [sum(w * v for w, v in zip(row, x, strict=True)) for row in matrix]


def rotate(x, place):
    """Turn dimension i against dimension i + half by place / 10000^(2i / width)."""
    half = len(x) // 2
    found = [0.0] * len(x)
    for i in range(half):
        angle = place * 10_000 ** (-2 * i / len(x))
        cos, sin = math.cos(angle), math.sin(angle)
        found[i] = x[i] * cos - x[i + half] * sin
        found[i + half] = x[i + half] * cos + x[i] * sin
    return found


def run_layer(layer, tokens):
    """One layer, one token after another, from the docstring's two equations."""
    width, heads = len(tokens[0]), layer.heads
    size = width // heads
    w = {name: p.tolist() for name, p in layer.named_parameters()}
    qkv = [times(w["qkv.weight"], norm(x, w["attention_norm.weight"])) for x in tokens]
    out = []
    for place, x in enumerate(tokens):
        joined = []
        for head in range(heads):
            cut = slice(head * size, (head + 1) * size)
            query = rotate(qkv[place][:width][cut], place)
            logits = [
                sum(
                    a * b
                    for a, b in zip(
                        query, rotate(o[width : 2 * width][cut], n), strict=True
                    )
                )
                / math.sqrt(size)
                for n, o in enumerate(qkv)
            ]
            total = sum(math.exp(v) for v in logits)
            values = [o[2 * width :][cut] for o in qkv]
            joined += [
                sum(
                    math.exp(v) / total * value[d]
                    for v, value in zip(logits, values, strict=True)
                )
                for d in range(size)
            ]
        y = [a + b for a, b in zip(x, times(w["out.weight"], joined), strict=True)]
        both = times(w["gate_up.weight"], norm(y, w["mlp_norm.weight"]))
        gate, up = both[: len(both) // 2], both[len(both) // 2 :]
        hidden = [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up, strict=True)]
        out.append(
            [a + b for a, b in zip(y, times(w["down.weight"], hidden), strict=True)]
        )
    return out


def encode_slowly(encoder, ids):
    tokens = [encoder.embedding.weight[int(n)].tolist() for n in ids]
    if not tokens:
        return []
    for layer in encoder.layers:
        tokens = run_layer(layer, tokens)
    return [norm(x, encoder.norm.weight.tolist()) for x in tokens]


@pytest.mark.parametrize(("halves", "atol"), [(False, 2e-5), (True, 5e-2)])
def test_vectors_as_their_slow_twin_in_any_company(
    encoder, monkeypatch, halves, atol
) -> None:
    """In single precision, and where a processor has matrix units for bfloat16."""
    has = {"amx_bf16": halves}
    monkeypatch.setattr("torch.cpu.get_capabilities", lambda: has, raising=False)
    found = encode_rows(encoder, FORMULAS)
    assert found.ptr.tolist() == [0, 3, 4, 4, 9]
    for n, ids in enumerate(FORMULAS):
        start, end = found.ptr[n], found.ptr[n + 1]
        expected = np.array(encode_slowly(encoder, ids)).reshape(-1, 8)
        mine = found.vectors[start:end].detach().numpy()
        np.testing.assert_allclose(mine, expected, atol=atol)


def test_many_formulas_come_back_in_their_order(encoder) -> None:
    rng = np.random.default_rng(0)
    rows = [
        rng.integers(0, 12, rng.integers(0, 9)).astype(np.int32) for _ in range(150)
    ]
    found = encode_rows(encoder, rows)
    for n, row in enumerate(rows):
        alone = encode_rows(encoder, [row]).vectors
        mine = found.vectors[found.ptr[n] : found.ptr[n + 1]]
        torch.testing.assert_close(mine, alone, atol=1e-5, rtol=1e-4)


def test_the_paper_counts_its_weights() -> None:
    encoder = FormulaEncoder(vocabulary=8000, width=512, layers=8, heads=8)
    millions = sum(p.numel() for p in encoder.parameters()) / 1e6
    assert 30 < millions < 50
