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
positive pair is no part of the denominator, so the loss may fall below 0. If a graph is
the first of several pairings, its :math:`\ell_i` is their mean: all pairings count the
same, as in Figure 3.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model import multi_positive_info_nce
from mathamr_kedro.model.maxsim import best_products


class PairLoss(NamedTuple):
    """The loss of a pairing, and the share of nodes whose positive is ranked first."""

    loss: Tensor
    accuracy: Tensor


def compare_graphs(
    first: RaggedVectors[Tensor], second: RaggedVectors[Tensor], temperature: float
) -> PairLoss:
    """Eq. 2, the mean over the nodes of the first graphs; both have the same order."""
    similar = best_products(first, second)  # (nodes, formulas)
    formula = torch.arange(len(first), device=similar.device)
    is_own = first.owners()[:, None] == formula
    loss = multi_positive_info_nce(similar, temperature, is_own, ~is_own)
    others = similar.masked_fill(is_own, -torch.inf).max(1).values
    is_right = similar[is_own] > others
    return PairLoss(loss, is_right.float().mean())
