r"""Node pairs of the same formula against node pairs of different ones.

For two graphs of each formula of a batch, a node :math:`i` of the first graph is paired
with the node of largest cosine in the second graph of its own formula, :math:`z^+_j`,
and in that of each of the :math:`N - 1` others, :math:`z^-_k`:

.. math::
    \ell_i = -\log \frac{\exp(\text{sim}(z_i, z_j^+) / \tau)}
        {\sum_{k=1}^{N-1} \exp(\text{sim}(z_i, z_k^-) / \tau)} \quad (2)

    \mathcal{L} = \frac{1}{2} \left(\frac{1}{M^l} \sum_{i=1}^{M^l} \ell_i +
        \frac{1}{M^o} \sum_{i=1}^{M^o} \ell_i\right) \quad (3)

over the :math:`M^l` nodes of layout graphs and the :math:`M^o` of operator graphs. The
positive pair does not stand in the denominator, so the loss may fall below 0. Where a
graph is the first of several pairings, its :math:`\ell_i` is their mean: all pairings
count the same, as in Figure 3.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model.maxsim import find_partners


class PairLoss(NamedTuple):
    """The loss of a batch, and how many nodes have their best partner at home."""

    loss: Tensor
    accuracy: Tensor

    @classmethod
    def of_graphs(
        cls,
        graphs: Mapping[str, RaggedVectors[Tensor]],
        pairs: Sequence[tuple[str, str]],
        temperature: float,
    ) -> PairLoss:
        """Compare graphs (``slg``, ``slg_sub``, ...) of the same formulas, in order."""
        found = [cls.of_pairing(graphs[a], graphs[b], temperature) for a, b in pairs]
        loss, accuracy = (
            torch.stack(parts).mean() for parts in zip(*found, strict=True)
        )
        return cls(loss, accuracy)

    @classmethod
    def of_pairing(
        cls,
        first: RaggedVectors[Tensor],
        second: RaggedVectors[Tensor],
        temperature: float,
    ) -> PairLoss:
        """Eq. 2, the mean over the nodes of the first graphs."""
        best, where = find_partners(first, second)
        args = (first.vectors, second.vectors, first.ptr, best, where)
        logits = _PairProducts.apply(*args) / temperature
        own = first.owners()[:, None]
        positive = logits.gather(1, own).squeeze(1)
        others = logits.scatter(1, own, -torch.inf)
        losses = others.logsumexp(1) - positive
        is_right = positive > others.max(1).values
        return cls(losses.mean(), is_right.float().mean())


class _PairProducts(torch.autograd.Function):
    """Products of nodes with partners that are known, and their gradients.

    Of the products of all nodes with all nodes, one for each graph counts; gradients
    are sums over those alone, in an order that never changes.
    """

    @staticmethod
    def forward(
        ctx: Any, q: Tensor, d: Tensor, q_ptr: Tensor, best: Tensor, where: Tensor
    ) -> Tensor:
        ctx.save_for_backward(q, d, where)
        ctx.start = int(q_ptr[0])
        return best.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        q, d, where = ctx.saved_tensors
        mine = slice(ctx.start, ctx.start + len(where))
        d_q = torch.zeros_like(q)
        d_q[mine] = F.embedding_bag(
            where, d, per_sample_weights=grad.contiguous(), mode="sum"
        )
        partner, order = where.flatten().sort(stable=True)
        starts = torch.arange(len(d) + 1, device=d.device)
        d_d = F.embedding_bag(
            order // where.shape[1] + ctx.start,
            q,
            torch.searchsorted(partner, starts),
            per_sample_weights=grad.flatten()[order],
            include_last_offset=True,
            mode="sum",
        )
        return d_q, d_d, None, None, None
