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

from typing import Literal

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model.maxsim import maxsim
from mathamr_kedro.systems.marf.config import Scoring

_LEAST = 1e-6
"""A score that is not positive has no logarithm."""


def score_batch(
    queries: RaggedVectors[Tensor], documents: RaggedVectors[Tensor], scoring: Scoring
) -> Tensor:
    """(B, C) scores: MaxSim of tokens, or the cosine of their means."""
    if scoring == "token":
        return maxsim(_normalise(queries), _normalise(documents))
    return pool_tokens(queries) @ pool_tokens(documents).T


def pool_tokens(items: RaggedVectors[Tensor]) -> Tensor:
    """(B, k) mean of the tokens of each item, of length 1; 0 where it has none."""
    vectors, lengths = items.vectors.float(), items.lengths
    sums = torch.segment_reduce(vectors, "sum", lengths=lengths, unsafe=True)
    return F.normalize(sums, dim=-1)


def contrastive_loss(
    scores: Tensor,
    is_negative: Tensor,
    temperature: float,
    objective: Literal["softmax", "ratio"],
) -> Tensor:
    """Return Eq. 3 for a batch in which document i answers query i.

    Args:
        scores: (B, B) of each query for each document.
        is_negative: (B, B) documents that do not answer a query; others are left out.
        temperature: divides the scores of ``softmax``.
        objective: see above.
    """
    own = scores.diagonal()
    if objective == "ratio":
        positive = own.clamp_min(_LEAST)
        others = (scores.clamp_min(_LEAST) * is_negative).sum(1)
        return ((positive + others) / positive).log().mean()
    hidden = scores.masked_fill(~is_negative, float("-inf")) / temperature
    every = torch.cat([own[:, None] / temperature, hidden], dim=1)
    return (every.logsumexp(1) - own / temperature).mean()


def _normalise(items: RaggedVectors[Tensor]) -> RaggedVectors[Tensor]:
    return RaggedVectors(F.normalize(items.vectors.float(), dim=-1), items.ptr)
