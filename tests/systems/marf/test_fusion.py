"""The fusion against Eq. 4 to 6, number by number."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.systems.marf.networks import GatedFusion

D, W, HEADS = 8, 6, 2


@pytest.fixture(scope="module")
def fusion() -> GatedFusion:
    torch.manual_seed(2)
    module = GatedFusion(D, W, HEADS).eval()
    for parameter in module.parameters():  # the start, zero, would hide mistakes
        torch.nn.init.normal_(parameter, std=0.4)
    return module


def linear(weight, bias, x):
    return [
        sum(w * v for w, v in zip(row, x, strict=True)) + b
        for row, b in zip(weight, bias, strict=False)
    ]


def network(module, x):
    first, _, last = module
    hidden = linear(first.weight.tolist(), first.bias.tolist(), x)
    hidden = [h * 0.5 * (1 + math.erf(h / math.sqrt(2))) for h in hidden]
    return linear(last.weight.tolist(), last.bias.tolist(), hidden)


def attend(attention, x, formula):
    """Multi-head attention of one token to the tokens of a formula (Eq. 4)."""
    biases = attention.in_proj_bias.tolist()
    q = linear(attention.q_proj_weight.tolist(), biases[:D], x)
    keys = [
        linear(attention.k_proj_weight.tolist(), biases[D : 2 * D], f) for f in formula
    ]
    values = [
        linear(attention.v_proj_weight.tolist(), biases[2 * D :], f) for f in formula
    ]
    size, joined = D // HEADS, []
    for head in range(HEADS):
        cut = slice(head * size, (head + 1) * size)
        logits = [
            sum(a * b for a, b in zip(q[cut], key[cut], strict=True)) / math.sqrt(size)
            for key in keys
        ]
        total = sum(math.exp(v) for v in logits)
        joined += [
            sum(
                math.exp(v) / total * value[cut][d]
                for v, value in zip(logits, values, strict=True)
            )
            for d in range(size)
        ]
    out = attention.out_proj
    return linear(out.weight.tolist(), out.bias.tolist(), joined)


def fuse_slowly(fusion, text, formula):
    found = []
    for token in text:
        x = [v * math.sqrt(D) for v in token]
        if formula:
            h = attend(fusion.attention, x, formula)
            gate = [1 / (1 + math.exp(-g)) for g in network(fusion.gate, h)]
            x = [
                g * u + v
                for g, u, v in zip(gate, network(fusion.update, h), x, strict=True)
            ]
        length = math.sqrt(sum(v * v for v in x))
        found.append([v / length for v in x])
    return found


def make_rows(lengths, width, seed):
    rng = np.random.default_rng(seed)
    rows = [rng.normal(size=(n, width)).astype(np.float32) for n in lengths]
    rows = [
        r / np.maximum(np.linalg.norm(r, axis=1, keepdims=True), 1e-9) for r in rows
    ]
    return RaggedVectors.of([torch.from_numpy(r) for r in rows]), rows


def test_fused_tokens_as_their_slow_twin_in_any_company(fusion) -> None:
    context, texts = make_rows([3, 1, 4, 2], D, 0)
    formula, formulas = make_rows([2, 5, 0, 1], W, 1)
    found = fusion.fuse(context, formula)
    assert found.ptr.tolist() == context.ptr.tolist()
    expected = [
        row
        for text, tokens in zip(texts, formulas, strict=True)
        for row in fuse_slowly(fusion, text.tolist(), tokens.tolist())
    ]
    np.testing.assert_allclose(found.vectors.detach().numpy(), expected, atol=2e-5)


def test_a_text_without_formulas_stays_as_it_is(fusion) -> None:
    context, _ = make_rows([3, 2], D, 3)
    mixed, _ = make_rows([0, 2], W, 4)
    none, _ = make_rows([0, 0], W, 4)
    found = fusion.fuse(context, mixed).vectors
    torch.testing.assert_close(found[:3], context.vectors[:3])
    assert not torch.allclose(found[3:], context.vectors[3:])
    torch.testing.assert_close(fusion.fuse(context, none).vectors, context.vectors)


def test_training_starts_from_the_context_encoder_and_has_gradients() -> None:
    start = GatedFusion(D, W, HEADS)
    context, _ = make_rows([3, 2], D, 5)
    formula, _ = make_rows([2, 0], W, 6)
    found = start.fuse(context, formula)
    torch.testing.assert_close(found.vectors, context.vectors)
    (found.vectors * torch.randn_like(found.vectors)).sum().backward()
    assert start.update[-1].weight.grad.abs().sum() > 0
    assert all(torch.isfinite(p.grad).all() for p in start.parameters())


def test_the_paper_counts_its_weights() -> None:
    millions = sum(p.numel() for p in GatedFusion(768, 512, 8).parameters()) / 1e6
    assert millions < 5


def test_heads_divide_the_width_of_the_context() -> None:
    with pytest.raises(ConfigurationError, match=r"divide the width.*10 \(got 4\)"):
        GatedFusion(10, W, 4)
