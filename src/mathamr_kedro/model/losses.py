r"""InfoNCE: positives score higher than negatives.

.. math::
    \mathcal{L}_{NCE} = -\frac{1}{B} \sum_{i=1}^{B} \log
        \frac{\exp(S_{ii} / \tau)}{\sum_j \exp(S_{ij} / \tau)} \quad (3.6)

for scores :math:`S_{ij}` of query i for document j, among them MaxSim divided by the
number of query vectors (:math:`\tilde{S}_{ij}`, Eq. 3.7, :mod:`.maxsim`), a temperature
:math:`\tau`, and document i as the right one for query i. All others of the batch are
negatives, and further columns of S are given (hard) ones.

>>> scores = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
>>> round(info_nce(scores, temperature=0.5).item(), 4)  # log(1 + exp(-2))
0.1269
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor


def info_nce(
    scores: Tensor,
    temperature: Tensor | float,
    excluded: Tensor | None = None,
    symmetric: bool = False,
) -> Tensor:
    """Return Eq. 3.6.

    Args:
        scores: (B, C) of each query for each document, C at least B; document i
            belongs to query i, the others are negatives.
        temperature: divides the scores.
        excluded: (B, C) false negatives: documents that are right for a query too, by
            another pair of the batch. They are left out; never on the diagonal.
        symmetric: whether each of the first B documents also finds its query; the
            loss is then the mean of both directions.
    """
    logits = scores / temperature
    if excluded is not None:
        logits = logits.masked_fill(excluded, torch.finfo(logits.dtype).min)
    right = torch.arange(len(scores), device=scores.device)
    loss = F.cross_entropy(logits, right)
    if symmetric:
        back = F.cross_entropy(logits[:, : len(scores)].T, right)
        loss = (loss + back) / 2
    return loss


def multi_positive_info_nce(
    scores: Tensor, temperature: Tensor | float, positive: Tensor, counted: Tensor
) -> Tensor:
    r"""Return Eq. 3.6 with any number of positives and any choice of negatives.

    .. math::
        \mathcal{L} = -\frac{1}{n} \sum_i \log
            \frac{\sum_{j \in P_i} \exp(S_{ij} / \tau)}
                 {\sum_{j \in C_i} \exp(S_{ij} / \tau)}

    over the n rows that have a positive; 0 if there is none.

    Args:
        scores: (B, C).
        temperature: divides the scores.
        positive: (B, C) what belongs to each row, :math:`P_i`.
        counted: (B, C) what its denominator sums, :math:`C_i`; some losses leave
            out the positives there.
    """
    logits = scores / temperature
    lowest = torch.finfo(logits.dtype).min
    of_all = torch.logsumexp(logits.masked_fill(~counted, lowest), 1)
    of_positive = torch.logsumexp(logits.masked_fill(~positive, lowest), 1)
    has_positive = positive.any(1)
    losses = torch.where(has_positive, of_all - of_positive, 0.0)
    return losses.sum() / has_positive.sum().clamp(min=1)


def measure_accuracy(scores: Tensor) -> Tensor:
    """Return how often document i scores highest for query i, of (B, C) scores."""
    right = torch.arange(len(scores), device=scores.device)
    return (scores.argmax(1) == right).float().mean()
