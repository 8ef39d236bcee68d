"""The relational convolution on CUDA devices by Triton kernels.

Three kernels forward and five backward per layer. ``precision`` decides the products:
``fp32`` uses three TF32 products for one (errors near 2e-7), ``tf32`` one (7e-4),
``bf16`` stores factors in bfloat16 (4e-3); sums are always in ``float32``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from mathamr_kedro.graph import GraphBatch
from mathamr_kedro.model.row_plan import build_plan
from mathamr_kedro.model.triton_kernels import gather_nodes_kernel
from mathamr_kedro.model.triton_layer_kernels import (
    begin_layer_kernel,
    end_layer_kernel,
    gelu_gradient_kernel,
    layer_norm_kernel,
)
from mathamr_kedro.model.triton_rows import NODE_BLOCK, Launcher, TiledRows, tile_plan

EPS = 1e-5
"""Of LayerNorm, as in torch."""


class TritonBackend:
    """Row products by Triton; hidden widths 16, 32, 64 and 128."""

    name = "triton"

    def __init__(self, precision: str = "fp32") -> None:
        self._precision = precision
        self._type = torch.bfloat16 if precision == "bf16" else torch.float32

    def prepare(self, batch: GraphBatch, keep: Tensor | None = None) -> TiledRows:
        """Plan and tile the rows of a batch, which may have spare entries."""
        return tile_plan(build_plan(batch, keep))

    def convolve(
        self,
        x: Tensor,
        weight: Tensor,
        root: Tensor,
        bias: Tensor,
        shift: Tensor | None,
        graph: TiledRows,
    ) -> Tensor:
        """Compute Eq. 2.4; arguments as in the reference backend."""
        launch = Launcher(graph, x.shape[1], self._precision)
        rounded = (t.to(self._type).contiguous() for t in (x, weight, root))
        others = (bias.contiguous(), None if shift is None else shift.contiguous())
        return _Convolution.apply(*rounded, *others, launch).to(x.dtype)

    def run_layers(
        self,
        h: Tensor,
        weight: Tensor,
        root: Tensor,
        bias: Tensor,
        shift: Tensor | None,
        gamma: Tensor,
        beta: Tensor,
        graph: TiledRows,
    ) -> Tensor:
        """Run all layers of Eq. 3.1 at once; parameters are stacked by layer."""
        launch = Launcher(graph, h.shape[1], self._precision)
        weight, root = (t.to(self._type).contiguous() for t in (weight, root))
        # The kernels count in plain rows, and sums of products come back transposed.
        shift = None if shift is None else shift.contiguous()
        if torch.is_grad_enabled():
            return _Layers.apply(h, weight, root, bias, shift, gamma, beta, launch)
        return _run_forward(
            h, weight, root, bias, shift, gamma, beta, launch, keep=False
        )[0]


class _Convolution(torch.autograd.Function):
    """One convolution (Eq. 2.4 before the activation)."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        root: Tensor,
        bias: Tensor,
        shift: Tensor | None,
        launch: Launcher,
    ) -> Tensor:
        plan = launch.plan
        pooled = launch.sum_members(x, weighted=False)
        rows = launch.multiply(x, pooled, weight, shift)
        out = torch.empty_like(x)
        gather_nodes_kernel[launch.node_grid()](
            x, root, bias, rows, plan.node_ptr, plan.out_row, plan.out_weight, out,
            plan.num_nodes, launch.hidden, NODE_BLOCK, False, launch.precision,
            num_warps=4,
        )  # fmt: skip
        ctx.save_for_backward(x, pooled, weight, root)
        ctx.launch, ctx.shifted = launch, shift is not None
        return out

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, x_pooled, weight, root = ctx.saved_tensors
        launch = ctx.launch
        plan = launch.plan
        grad = grad.contiguous()
        pooled = launch.sum_members(grad, weighted=True)
        d_rows = launch.multiply_back(grad, pooled, weight)
        d_x = torch.empty_like(x)
        gather_nodes_kernel[launch.node_grid()](
            grad, root, root, d_rows, plan.node_ptr, plan.in_row, plan.out_weight, d_x,
            plan.num_nodes, launch.hidden, NODE_BLOCK, True, launch.precision,
            num_warps=4,
        )  # fmt: skip
        d_weight, d_shift = launch.multiply_outer(
            x, x_pooled, grad, pooled, ctx.shifted
        )
        d_bias = grad.sum(0, dtype=torch.float64).float()
        return (
            d_x,
            d_weight[:-1].to(weight.dtype),
            d_weight[-1].to(root.dtype),
            d_bias,
            d_shift,
            None,
        )


def _run_forward(  # noqa: PLR0913, PLR0917
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
    """Run all layers; returns what a backward pass needs if it is to be kept."""
    plan, layers, n = launch.plan, len(weight), launch.plan.num_nodes
    h = h.contiguous()
    x = torch.empty_like(h, dtype=weight.dtype)
    layer_norm_kernel[launch.node_grid()](
        h, gamma[0], beta[0], x, n, EPS, launch.hidden, NODE_BLOCK, num_warps=4
    )
    states, inputs, pools, pres = [h], [x], [], []
    for i in range(layers):
        pooled = launch.sum_members(x, weighted=False)
        rows = launch.multiply(
            x, pooled, weight[i], None if shift is None else shift[i]
        )
        last, following = i == layers - 1, min(i + 1, layers - 1)
        h_next = torch.empty_like(h)
        pre = torch.empty_like(x) if keep else x
        x_next = x if last else torch.empty_like(x)
        end_layer_kernel[launch.node_grid()](
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
    def forward(  # noqa: PLR0913, PLR0917
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
        gelu_gradient_kernel[launch.node_grid()](
            d_h, pres[-1], g, n, launch.hidden, NODE_BLOCK, num_warps=4
        )
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
            begin_layer_kernel[launch.node_grid()](
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
