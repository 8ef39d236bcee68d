"""All residual layers (Eq. 3.1) by Triton kernels, forward and backward.

One kernel does the self-loop product, the sum of rows, bias, GELU, the residual sum and
the LayerNorm of the next layer; its mirror does the same backward.
"""
# ruff: noqa: PLR0913, PLR0917

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from mathamr_kedro.model.triton_rows import NODE_BLOCK, Launcher
from mathamr_kedro.model.triton_sums import add_rows

EPS = 1e-5  # of LayerNorm, as in torch


@triton.jit
def _normalise(values, eps, hidden: tl.constexpr):
    """LayerNorm before its affine part, and the reciprocal standard deviation."""
    centred = values - (tl.sum(values, 1) / hidden)[:, None]
    # Rounded to nearest: a whole row shares the error of its scale, in every layer.
    deviation = tl.sqrt_rn(tl.sum(centred * centred, 1) / hidden + eps)
    scale = tl.div_rn(tl.zeros_like(deviation) + 1.0, deviation)
    return centred * scale[:, None], scale


@triton.jit
def _gelu(x):
    """Eq. 3.2."""
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def _gelu_slope(x):
    """Derivative of Eq. 3.2."""
    density = 0.3989422804014327 * tl.exp(-0.5 * x * x)
    return 0.5 * (1.0 + tl.erf(x * 0.7071067811865476)) + x * density


@triton.jit
def _layer_norm_kernel(
    h, gamma, beta, x, num_nodes, eps, hidden: tl.constexpr, block: tl.constexpr
):
    """X = LayerNorm(h)."""
    r = tl.program_id(0) * block + tl.arange(0, block)
    mine = (r < num_nodes)[:, None]
    d = tl.arange(0, hidden)
    at = r[:, None] * hidden + d[None, :]
    unit, _ = _normalise(tl.load(h + at, mask=mine, other=0.0), eps, hidden)
    y = unit * tl.load(gamma + d)[None, :] + tl.load(beta + d)[None, :]
    tl.store(x + at, y.to(x.dtype.element_ty), mask=mine)


@triton.jit
def _gelu_gradient_kernel(
    d_out, pre, out, num_nodes, hidden: tl.constexpr, block: tl.constexpr
):
    """Out = gradient at ``pre`` of _gelu(pre), given that at its value."""
    r = tl.program_id(0) * block + tl.arange(0, block)
    mine = (r < num_nodes)[:, None]
    at = r[:, None] * hidden + tl.arange(0, hidden)[None, :]
    slope = _gelu_slope(tl.load(pre + at, mask=mine, other=0.0).to(tl.float32))
    value = tl.load(d_out + at, mask=mine, other=0.0) * slope
    tl.store(out + at, value.to(out.dtype.element_ty), mask=mine)


@triton.jit
def _end_layer_kernel(
    x,
    root,
    bias,
    rows,
    ptr,
    column,
    weight,
    h,
    gamma,
    beta,
    pre,
    h_next,
    x_next,
    num_nodes,
    eps,
    hidden: tl.constexpr,
    block: tl.constexpr,
    precision: tl.constexpr,
    last: tl.constexpr,
    keep: tl.constexpr,
):
    """Pre = x root + bias + Q rows; h_next = h + _gelu(pre); x_next = LN(h_next).

    ``pre`` is written only if a backward pass follows.
    """
    r = tl.program_id(0) * block + tl.arange(0, block)
    inside = r < num_nodes
    mine = inside[:, None]
    d = tl.arange(0, hidden)
    at = r[:, None] * hidden + d[None, :]
    matrix = d[:, None] * hidden + d[None, :]
    states = tl.load(x + at, mask=mine, other=0.0)
    total = tl.dot(states, tl.load(root + matrix), input_precision=precision)
    total += tl.load(bias + d)[None, :]
    total = add_rows(total, rows, ptr, column, weight, r, inside, d, hidden, True)
    if keep:
        tl.store(pre + at, total.to(pre.dtype.element_ty), mask=mine)
    value = tl.load(h + at, mask=mine, other=0.0) + _gelu(total)
    tl.store(h_next + at, value, mask=mine)
    if not last:
        unit, _ = _normalise(value, eps, hidden)
        y = unit * tl.load(gamma + d)[None, :] + tl.load(beta + d)[None, :]
        tl.store(x_next + at, y.to(x_next.dtype.element_ty), mask=mine)


@triton.jit
def _begin_layer_kernel(
    g,
    root,
    rows,
    ptr,
    column,
    h,
    gamma,
    d_next,
    pre_before,
    d_h,
    g_before,
    gamma_part,
    beta_part,
    bias_part,
    num_nodes,
    eps,
    hidden: tl.constexpr,
    block: tl.constexpr,
    precision: tl.constexpr,
    first: tl.constexpr,
):
    """Backward of :func:`_end_layer_kernel` and of the LayerNorm before the layer.

    ``g`` is the gradient at ``pre``, ``d_next`` that at the layer's output; writes the
    gradient at its input, at ``pre`` of the layer before, and sums over the block for
    gamma, beta and bias.
    """
    pid = tl.program_id(0)
    r = pid * block + tl.arange(0, block)
    inside = r < num_nodes
    mine = inside[:, None]
    d = tl.arange(0, hidden)
    at = r[:, None] * hidden + d[None, :]
    transposed = d[None, :] * hidden + d[:, None]
    grad = tl.load(g + at, mask=mine, other=0.0)
    total = tl.dot(grad, tl.load(root + transposed), input_precision=precision)
    total = add_rows(total, rows, ptr, column, column, r, inside, d, hidden, False)
    unit, scale = _normalise(tl.load(h + at, mask=mine, other=0.0), eps, hidden)
    total = tl.where(mine, total, 0.0)
    tl.store(gamma_part + pid * hidden + d, tl.sum(total * unit, 0))
    tl.store(beta_part + pid * hidden + d, tl.sum(total, 0))
    tl.store(bias_part + pid * hidden + d, tl.sum(grad.to(tl.float32), 0))
    # The gradient of LayerNorm with y = unit * gamma + beta, where u is that at unit:
    # scale * (u - mean(u) - unit * mean(u * unit)).
    at_unit = total * tl.load(gamma + d)[None, :]
    mean = tl.sum(at_unit, 1) / hidden
    along = tl.sum(at_unit * unit, 1) / hidden
    value = scale[:, None] * (at_unit - mean[:, None] - unit * along[:, None])
    # The residual connection passes the gradient at the output on unchanged.
    value += tl.load(d_next + at, mask=mine, other=0.0)
    tl.store(d_h + at, value, mask=mine)
    if not first:
        pre = tl.load(pre_before + at, mask=mine, other=0.0).to(tl.float32)
        before = value * _gelu_slope(pre)
        tl.store(g_before + at, before.to(g_before.dtype.element_ty), mask=mine)


def run_layers(
    h: Tensor,
    weight: Tensor,
    root: Tensor,
    bias: Tensor,
    shift: Tensor | None,
    gamma: Tensor,
    beta: Tensor,
    launch: Launcher,
) -> Tensor:
    """(N, d) final states of all nodes; parameters are stacked by layer."""
    args = (h, weight, root, bias, shift, gamma, beta, launch)
    if torch.is_grad_enabled():
        return _Layers.apply(*args)
    return _run_forward(*args, keep=False)[0]


def _run_forward(
    h: Tensor,
    weight: Tensor,
    root: Tensor,
    bias: Tensor,
    shift: Tensor | None,
    gamma: Tensor,
    beta: Tensor,
    launch: Launcher,
    keep: bool,
) -> tuple[Tensor, list[Tensor]]:
    """Run all layers; return what a backward pass needs, if it is kept."""
    plan, layers, n = launch.plan, len(weight), launch.plan.num_nodes
    h = h.contiguous()
    x = torch.empty_like(h, dtype=weight.dtype)
    _layer_norm_kernel[launch.node_grid()](
        h, gamma[0], beta[0], x, n, EPS, launch.hidden, NODE_BLOCK, num_warps=4
    )
    states, inputs, pools, pres = [h], [x], [], []
    for i in range(layers):
        pooled = launch.sum_members(x, weighted=False)
        rows = launch.multiply(
            x, pooled, weight[i], None if shift is None else shift[i]
        )
        # The last layer has no LayerNorm after it; its kernel still needs addresses.
        last, following = i == layers - 1, min(i + 1, layers - 1)
        h_next = torch.empty_like(h)
        pre = torch.empty_like(x) if keep else x
        x_next = x if last else torch.empty_like(x)
        _end_layer_kernel[launch.node_grid()](
            x, root[i], bias[i], rows, plan.node_ptr, plan.out_row, plan.out_weight,
            h, gamma[following], beta[following], pre, h_next, x_next, n, EPS,
            launch.hidden, NODE_BLOCK, launch.precision, last, keep, num_warps=4,
        )  # fmt: skip
        if keep:
            pools.append(pooled)
            pres.append(pre)
            if not last:
                states.append(h_next)
                inputs.append(x_next)
        h, x = h_next, x_next
    return h, [*states, *inputs, *pools, *pres]


class _Layers(torch.autograd.Function):
    """All residual layers: h + GELU(convolution(LayerNorm(h))) for each (Eq. 3.1)."""

    @staticmethod
    def forward(
        ctx: Any,
        h: Tensor,
        weight: Tensor,
        root: Tensor,
        bias: Tensor,
        shift: Tensor | None,
        gamma: Tensor,
        beta: Tensor,
        launch: Launcher,
    ) -> Tensor:
        out, kept = _run_forward(
            h, weight, root, bias, shift, gamma, beta, launch, keep=True
        )
        ctx.save_for_backward(weight, root, gamma, *kept)
        ctx.launch, ctx.shifted = launch, shift is not None
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        weight, root, gamma, *saved = ctx.saved_tensors
        launch, layers = ctx.launch, len(weight)
        plan, n = launch.plan, launch.plan.num_nodes
        states, inputs, pools, pres = (
            saved[i * layers : (i + 1) * layers] for i in range(4)
        )
        d_h = grad.contiguous()
        g = torch.empty_like(inputs[0])
        _gelu_gradient_kernel[launch.node_grid()](
            d_h, pres[-1], g, n, launch.hidden, NODE_BLOCK, num_warps=4
        )
        # Every block of nodes writes sums of its own, which are added afterwards:
        # atomic additions would differ from run to run.
        part = d_h.new_empty(3, layers, launch.node_grid()[0], launch.hidden)
        weights, shifts = [], []
        for i in reversed(range(layers)):
            pooled = launch.sum_members(g, weighted=True)
            rows = launch.multiply_back(g, pooled, weight[i])
            d_weight, d_shift = launch.multiply_outer(
                inputs[i], pools[i], g, pooled, ctx.shifted
            )
            weights.append(d_weight)
            shifts.append(d_shift)
            first = i == 0
            below, g_below = torch.empty_like(d_h), g if first else torch.empty_like(g)
            _begin_layer_kernel[launch.node_grid()](
                g, root[i], rows, plan.node_ptr, plan.in_row, states[i], gamma[i], d_h,
                pres[max(i - 1, 0)], below, g_below, part[0, i], part[1, i], part[2, i],
                n, EPS, launch.hidden, NODE_BLOCK, launch.precision, first, num_warps=4,
            )  # fmt: skip
            d_h, g = below, g_below
        stacked = torch.stack(weights[::-1])
        d_gamma, d_beta, d_bias = part.sum(2, dtype=torch.float64).to(part.dtype)
        return (
            d_h,
            stacked[:, :-1].to(weight.dtype),
            stacked[:, -1].to(root.dtype),
            d_bias,
            torch.stack(shifts[::-1]) if ctx.shifted else None,
            d_gamma,
            d_beta,
            None,
        )
