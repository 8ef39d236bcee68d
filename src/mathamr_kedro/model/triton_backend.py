"""The relational convolution on CUDA devices by Triton kernels.

Three kernels forward and five backward per layer. ``precision`` decides the products:
``fp32`` uses three TF32 products for one (errors near 2e-7), ``tf32`` one (7e-4),
``bf16`` stores factors in bfloat16 (4e-3); sums are always in ``float32``.
"""
# ruff: noqa: PLR0913, PLR0917

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from mathamr_kedro.graph import GraphBatch
from mathamr_kedro.model.row_plan import RowPlan
from mathamr_kedro.model.tiles import TiledRows
from mathamr_kedro.model.triton_layers import run_layers
from mathamr_kedro.model.triton_rows import NODE_BLOCK, Launcher
from mathamr_kedro.model.triton_sums import add_rows


@triton.jit
def _gather_nodes_kernel(
    x,
    root,
    bias,
    rows,
    ptr,
    column,
    weight,
    out,
    num_nodes,
    hidden: tl.constexpr,
    block: tl.constexpr,
    backward: tl.constexpr,
    precision: tl.constexpr,
):
    """Out = x root + bias + Q rows; backward: out = x root^T + P rows."""
    r = tl.program_id(0) * block + tl.arange(0, block)
    inside = r < num_nodes
    d = tl.arange(0, hidden)
    at = r[:, None] * hidden + d[None, :]
    mine = inside[:, None]
    states = tl.load(x + at, mask=mine, other=0.0)
    if backward:
        matrix = d[None, :] * hidden + d[:, None]
    else:
        matrix = d[:, None] * hidden + d[None, :]
    # One kernel for the self-loop and the sum of rows, so that states are written once.
    total = tl.dot(states, tl.load(root + matrix), input_precision=precision)
    if not backward:
        total += tl.load(bias + d)[None, :]
    total = add_rows(
        total, rows, ptr, column, weight, r, inside, d, hidden, not backward
    )
    tl.store(out + at, total.to(out.dtype.element_ty), mask=mine)


class TritonBackend:
    """Row products by Triton; hidden widths 16, 32, 64 and 128."""

    name = "triton"

    def __init__(self, precision: str = "fp32") -> None:
        self._precision = precision
        self._type = torch.bfloat16 if precision == "bf16" else torch.float32

    def prepare(self, batch: GraphBatch, keep: Tensor | None = None) -> TiledRows:
        """Plan and tile the rows of a batch, which may have spare entries."""
        return TiledRows.of_plan(RowPlan.of_batch(batch, keep))

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
        return run_layers(h, weight, root, bias, shift, gamma, beta, launch)


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
        _gather_nodes_kernel[launch.node_grid()](
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
        # Forward, the row of a virtual node adds to each member with the member's
        # weight; the gradient at that row is the sum with the same weights.
        pooled = launch.sum_members(grad, weighted=True)
        d_rows = launch.multiply_back(grad, pooled, weight)
        d_x = torch.empty_like(x)
        _gather_nodes_kernel[launch.node_grid()](
            # The second `root` takes the place of the bias, which only the forward pass
            # reads.
            grad, root, root, d_rows, plan.node_ptr, plan.in_row, plan.out_weight, d_x,
            plan.num_nodes, launch.hidden, NODE_BLOCK, True, launch.precision,
            num_warps=4,
        )  # fmt: skip
        d_weight, d_shift = launch.multiply_outer(
            x, x_pooled, grad, pooled, ctx.shifted
        )
        # Over all nodes of a batch, single precision loses digits.
        d_bias = grad.sum(0, dtype=torch.float64).float()
        return (
            d_x,
            d_weight[:-1].to(weight.dtype),
            d_weight[-1].to(root.dtype),
            d_bias,
            d_shift,
            None,
        )
