r"""Scores of all queries of a batch for all documents, and the loss over them.

.. math::
    \mathcal{L} = \mathbb{E}\left[-\ln
      \frac{S(E_q, E_d^+)}{S(E_q, E_d^+) + \sum_i S(E_q, E_{d_i}^-)}\right] \quad (3)

As it is printed, :math:`S` is the score itself (``ratio``). The loss of ColBERT, which
the paper builds on, has :math:`\exp(S / \tau)` in its place (``softmax``), and so has
InfoNCE, which it names for formulas.

:math:`S` is MaxSim (Eq. 2), divided by the number of query tokens: long queries would
otherwise have another temperature than short ones. The order of documents is the same.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model import info_nce
from mathamr_kedro.model.maxsim import maxsim
from mathamr_kedro.systems.marf.config import Objective, Scoring

_TEMPERATURE = 0.05
"""Divides the scores of ``softmax``; not in the paper."""
_LEAST = 1e-6
"""A score that is not positive has no logarithm."""


def score_batch(
    queries: RaggedVectors[Tensor], documents: RaggedVectors[Tensor], scoring: Scoring
) -> Tensor:
    """(B, C) scores: MaxSim of tokens, or the cosine of their means."""
    if scoring == "token":
        return maxsim(scale_tokens(queries), scale_tokens(documents))
    return pool_tokens(queries) @ pool_tokens(documents).T


def scale_tokens(items: RaggedVectors[Tensor]) -> RaggedVectors[Tensor]:
    """Return tokens of length 1."""
    return RaggedVectors(F.normalize(items.vectors.float(), dim=-1), items.ptr)


def pool_tokens(items: RaggedVectors[Tensor]) -> Tensor:
    """(B, k) mean of the tokens of each item, of length 1; 0 if it has none."""
    vectors, lengths = items.vectors.float(), items.lengths
    sums = torch.segment_reduce(vectors, "sum", lengths=lengths, unsafe=True)
    return F.normalize(sums, dim=-1)


def contrastive_loss(
    scores: Tensor,
    is_negative: Tensor,
    objective: Objective,
    temperature: float = _TEMPERATURE,
) -> Tensor:
    """Return Eq. 3 for a batch in which document i answers query i.

    Args:
        scores: (B, B) of each query for each document.
        is_negative: (B, B) documents that do not answer a query; others are skipped.
        objective: see above.
        temperature: divides the scores of ``softmax``.
    """
    if objective == "softmax":
        own = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
        return info_nce(scores, temperature, excluded=~(is_negative | own))
    positive = scores.diagonal().clamp_min(_LEAST)
    others = (scores.clamp_min(_LEAST) * is_negative).sum(1)
    return ((positive + others) / positive).log().mean()
