r"""The projection head.

.. math::
    z_i = \text{LayerNorm}\left(W_2\, \text{GELU}\left(\text{LayerNorm}\left(
          W_1 h_i^{(L)} + b_1\right)\right) + b_2\right) \quad (3.3)

If members are read out (:mod:`.readout`), :math:`B p_i` is added to :math:`b_2`.
"""

from __future__ import annotations

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn


class ProjectionHead(nn.Module):
    """Node states to vectors of length 1, ready for cosine similarity."""

    def __init__(self, hidden_dim: int, projection_dim: int) -> None:
        super().__init__()
        self.inner = nn.Linear(hidden_dim, hidden_dim)
        self.inner_norm = nn.LayerNorm(hidden_dim)
        self.outer = nn.Linear(hidden_dim, projection_dim)
        self.outer_norm = nn.LayerNorm(projection_dim)

    def forward(self, h: Tensor, read: Tensor | None = None) -> Tensor:
        """(P, d) states to (P, d_p) vectors."""
        outer = self.outer(F.gelu(self.inner_norm(self.inner(h))))
        if read is not None:
            outer = outer + read
        return F.normalize(self.outer_norm(outer), dim=-1)
