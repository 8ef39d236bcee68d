"""Triton kernels that end a residual layer (Eq. 3.1), forward and backward.

One kernel does the self-loop product, the sum of rows, bias, GELU, the residual sum and
the LayerNorm of the next layer; its mirror does the same backward.
"""
# ruff: noqa: PLR0913, PLR0917

from __future__ import annotations

import triton
import triton.language as tl

from mathamr_kedro.model.triton_kernels import add_rows


@triton.jit
def normalise(values, eps, hidden: tl.constexpr):
    """LayerNorm before its affine part, and the reciprocal standard deviation."""
    centred = values - (tl.sum(values, 1) / hidden)[:, None]
    # Rounded to nearest: a whole row shares the error of its scale, in every layer.
    deviation = tl.sqrt_rn(tl.sum(centred * centred, 1) / hidden + eps)
    scale = tl.div_rn(tl.zeros_like(deviation) + 1.0, deviation)
    return centred * scale[:, None], scale


@triton.jit
def gelu(x):
    """Eq. 3.2."""
    return 0.5 * x * (1.0 + tl.erf(x * 0.7071067811865476))


@triton.jit
def gelu_slope(x):
    """Derivative of Eq. 3.2."""
    density = 0.3989422804014327 * tl.exp(-0.5 * x * x)
    return 0.5 * (1.0 + tl.erf(x * 0.7071067811865476)) + x * density


@triton.jit
def layer_norm_kernel(
    h, gamma, beta, x, num_nodes, eps, hidden: tl.constexpr, block: tl.constexpr
):
    """X = LayerNorm(h)."""
    r = tl.program_id(0) * block + tl.arange(0, block)
    mine = (r < num_nodes)[:, None]
    d = tl.arange(0, hidden)
    at = r[:, None] * hidden + d[None, :]
    unit, _ = normalise(tl.load(h + at, mask=mine, other=0.0), eps, hidden)
    y = unit * tl.load(gamma + d)[None, :] + tl.load(beta + d)[None, :]
    tl.store(x + at, y.to(x.dtype.element_ty), mask=mine)


@triton.jit
def gelu_gradient_kernel(
    d_out, pre, out, num_nodes, hidden: tl.constexpr, block: tl.constexpr
):
    """Out = gradient at ``pre`` of gelu(pre), given that at its value."""
    r = tl.program_id(0) * block + tl.arange(0, block)
    mine = (r < num_nodes)[:, None]
    at = r[:, None] * hidden + tl.arange(0, hidden)[None, :]
    slope = gelu_slope(tl.load(pre + at, mask=mine, other=0.0).to(tl.float32))
    value = tl.load(d_out + at, mask=mine, other=0.0) * slope
    tl.store(out + at, value.to(out.dtype.element_ty), mask=mine)


@triton.jit
def end_layer_kernel(
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
    """Pre = x root + bias + Q rows; h_next = h + gelu(pre); x_next = LN(h_next).

    ``pre`` is written only where a backward pass will ask for it.
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
    value = tl.load(h + at, mask=mine, other=0.0) + gelu(total)
    tl.store(h_next + at, value, mask=mine)
    if not last:
        unit, _ = normalise(value, eps, hidden)
        y = unit * tl.load(gamma + d)[None, :] + tl.load(beta + d)[None, :]
        tl.store(x_next + at, y.to(x_next.dtype.element_ty), mask=mine)


@triton.jit
def begin_layer_kernel(
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
    """Backward of :func:`end_layer_kernel` and of the LayerNorm before the layer.

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
    unit, scale = normalise(tl.load(h + at, mask=mine, other=0.0), eps, hidden)
    total = tl.where(mine, total, 0.0)
    tl.store(gamma_part + pid * hidden + d, tl.sum(total * unit, 0))
    tl.store(beta_part + pid * hidden + d, tl.sum(total, 0))
    tl.store(bias_part + pid * hidden + d, tl.sum(grad.to(tl.float32), 0))
    at_unit = total * tl.load(gamma + d)[None, :]
    mean = tl.sum(at_unit, 1) / hidden
    along = tl.sum(at_unit * unit, 1) / hidden
    value = scale[:, None] * (at_unit - mean[:, None] - unit * along[:, None])
    value += tl.load(d_next + at, mask=mine, other=0.0)
    tl.store(d_h + at, value, mask=mine)
    if not first:
        pre = tl.load(pre_before + at, mask=mine, other=0.0).to(tl.float32)
        before = value * gelu_slope(pre)
        tl.store(g_before + at, before.to(g_before.dtype.element_ty), mask=mine)
