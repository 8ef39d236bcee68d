"""MaxSim as the thesis computes it: the slow twin of ``learning.maxsim``."""

from __future__ import annotations

import torch
from torch import Tensor

from mathamr_kedro.base.ragged import RaggedVectors


def padded_maxsim(queries: RaggedVectors, documents: RaggedVectors) -> Tensor:
    """Compute MaxSim padded and masked, as the thesis does (3.4.1)."""
    q, q_real = queries.padded()
    d, d_real = documents.padded()
    similar = torch.einsum("itk,jsk->ijts", q, d)
    best = similar.masked_fill(~d_real[None, :, None, :], -torch.inf).amax(-1)
    total = best.masked_fill(~q_real[:, None, :], 0.0).sum(-1)
    return total / q_real.sum(-1)[:, None]
