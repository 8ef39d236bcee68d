"""The relational convolution in plain torch: on the CPU, and on any GPU.

Rows are sorted by relation (:mod:`.row_plan`), so the product is one matrix product per
relation. A CPU runs them one after another; a GPU would wait for each, so there rows
are padded to blocks within their relation and multiplied at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from mathamr_kedro.graph import GraphBatch
from mathamr_kedro.model.row_plan import RowPlan

_BLOCK = 32


class _LoopProducts:
    """The two products over rows sorted by relation, one relation after another."""

    def __init__(self, plan: RowPlan) -> None:
        ptr = plan.relation_ptr.tolist()
        self._bounds = [(r, a, b) for r, (a, b) in enumerate(pairwise(ptr)) if b > a]

    def multiply(self, rows: Tensor, weight: Tensor) -> Tensor:
        """(T, d) each row times the matrix of its relation."""
        out = torch.empty_like(rows)
        for r, a, b in self._bounds:
            torch.mm(rows[a:b], weight[r], out=out[a:b])
        return out

    def multiply_outer(self, left: Tensor, right: Tensor, like: Tensor) -> Tensor:
        """(R, d, d) sum of outer products of the rows of each relation."""
        out = torch.zeros_like(like)
        for r, a, b in self._bounds:
            torch.mm(left[a:b].T, right[a:b], out=out[r])
        return out


class _BlockProducts:
    """The same of rows padded to blocks within their relation, all at once."""

    def __init__(self, plan: RowPlan) -> None:
        ptr = plan.relation_ptr.long()
        blocks = (ptr.diff() + _BLOCK - 1) // _BLOCK
        device = ptr.device
        relation = torch.arange(len(blocks), device=device).repeat_interleave(blocks)
        self._block_ptr = F.pad(blocks.cumsum(0), (1, 0))
        inside = torch.arange(len(relation), device=device) - self._block_ptr[relation]
        start = ptr[relation] + inside * _BLOCK
        row = start[:, None] + torch.arange(_BLOCK, device=device)
        self._relation = relation
        self._is_real = row < ptr[relation + 1][:, None]
        self._row = torch.where(self._is_real, row, 0)

    def _pad(self, rows: Tensor) -> Tensor:
        return rows[self._row] * self._is_real[..., None].to(rows.dtype)

    def multiply(self, rows: Tensor, weight: Tensor) -> Tensor:
        """See :class:`_LoopProducts`."""
        product = torch.bmm(self._pad(rows), weight[self._relation])
        out = torch.zeros_like(rows)
        out[self._row[self._is_real]] = product[self._is_real]
        return out

    def multiply_outer(self, left: Tensor, right: Tensor, like: Tensor) -> Tensor:
        """See :class:`_LoopProducts`."""
        # Padded rows are zero, so blocks can be summed without a mask.
        parts = torch.bmm(self._pad(left).transpose(1, 2), self._pad(right))
        everything = torch.arange(len(parts), device=parts.device)
        flat = _sum_segments(parts.flatten(1), everything, self._block_ptr)
        return flat.view_as(like)


def _sum_segments(
    rows: Tensor, index: Tensor, ptr: Tensor, weight: Tensor | None = None
) -> Tensor:
    """(K, d) sum of ``rows[index[i]]`` for i from ``ptr[k]`` to ``ptr[k + 1] - 1``."""
    # Sums each segment in its order; index_add_ would add atomically on CUDA.
    return F.embedding_bag(
        index.to(ptr.dtype),
        rows,
        ptr,
        mode="sum",
        include_last_offset=True,
        per_sample_weights=weight,
    )


@dataclass(frozen=True)
class _SortedRows:
    """A plan with its products, in which only relations that are present have numbers.

    A few posts use some hundred of some thousand relations: the matrices of the others
    are not composed.
    """

    plan: RowPlan
    products: _LoopProducts | _BlockProducts
    relations: Tensor
    """(K,) relations by their numbers in the plan, ascending."""


class TorchBackend:
    """Row products in torch; ``precision="bf16"`` rounds the factors of products."""

    name = "torch"

    def __init__(self, precision: str = "fp32") -> None:
        self._round = torch.bfloat16 if precision == "bf16" else None

    def prepare(self, batch: GraphBatch, keep: Tensor | None = None) -> _SortedRows:
        """Plan the rows of a batch."""
        plan, relations = RowPlan.of_batch(batch, keep).trim().number_present()
        on_cpu = plan.gather.device.type == "cpu"
        products = _LoopProducts if on_cpu else _BlockProducts
        return _SortedRows(plan, products(plan), relations)

    def convolve(
        self,
        x: Tensor,
        weight: Tensor,
        root: Tensor,
        bias: Tensor,
        shift: Tensor | None,
        graph: _SortedRows,
    ) -> Tensor:
        """Compute Eq. 2.4; arguments as in the reference backend.

        ``weight`` and ``shift`` are those of all relations or of ``graph.relations``.
        """
        if len(weight) != len(graph.relations):
            weight = weight.index_select(0, graph.relations)
            shift = None if shift is None else shift.index_select(0, graph.relations)
        return _Convolution.apply(x, weight, root, bias, shift, graph, self._round)


class _Convolution(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        root: Tensor,
        bias: Tensor,
        shift: Tensor | None,
        graph: _SortedRows,
        rounding: torch.dtype | None,
    ) -> Tensor:
        plan = graph.plan
        scale = plan.scale.to(x.dtype)
        pooled = _sum_segments(x, plan.member, plan.member_ptr)
        rows = torch.cat([x, pooled]).index_select(0, plan.gather)
        rows *= scale[:, None]
        weight = weight.to(rounding or x.dtype)
        out = graph.products.multiply(rows.to(weight.dtype), weight).to(x.dtype)
        if shift is not None:
            out.addcmul_(
                plan.shift.to(x.dtype)[:, None], shift.index_select(0, plan.relation)
            )
        node = _sum_segments(
            out, plan.out_row, plan.node_ptr, plan.out_weight.to(x.dtype)
        )
        ctx.save_for_backward(x, rows, weight, root)
        ctx.graph, ctx.has_shift = graph, shift is not None
        return torch.addmm(bias, x, root).add_(node)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, rows, weight, root = ctx.saved_tensors
        plan, products = ctx.graph.plan, ctx.graph.products
        grad = grad.contiguous()
        member_weight = plan.member_weight.to(grad.dtype)
        pooled = _sum_segments(grad, plan.member, plan.member_ptr, member_weight)
        at_rows = torch.cat([grad, pooled]).index_select(0, plan.scatter)
        rounded = at_rows.to(weight.dtype)
        d_rows = products.multiply(rounded, weight.transpose(1, 2)).to(grad.dtype)
        d_rows *= plan.scale.to(grad.dtype)[:, None]
        # `rows` were scaled in the forward pass already.
        d_weight = products.multiply_outer(rows.to(weight.dtype), rounded, weight)
        d_shift = None
        if ctx.has_shift:
            everything = torch.arange(plan.num_rows, device=grad.device)
            d_shift = _sum_segments(
                at_rows, everything, plan.relation_ptr, plan.shift.to(grad.dtype)
            )
        d_x = grad @ root.T
        d_x += _sum_segments(d_rows, plan.in_row, plan.node_ptr)
        d_weight = d_weight.to(x.dtype)
        return d_x, d_weight, x.T @ grad, grad.sum(0), d_shift, None, None
