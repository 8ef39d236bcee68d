r"""Readout of members by virtual nodes, in addition to their own state.

A state of width d must represent a whole formula or sentence after every layer, which
is about enough for the bag of its symbols. The readout pools *features* of the members,
more than d of them, so that each can detect one pattern of symbols and edges:

.. math::
    p_v = \text{LayerNorm}\left(\frac{1}{|M_v|} \sum_{i \in M_v}
          \text{GELU}\left(A\, \text{LayerNorm}(h_i^{(L)}) + a\right)\right)

:math:`B p_v` is added inside the projection head (:mod:`.projection`). Beyond the
thesis; ``docs/results/pool.md`` has what it changes.
"""

from __future__ import annotations

import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from mathamr_kedro.graph import GraphBatch
from mathamr_kedro.model.config import ModelConfig
from mathamr_kedro.model.member_pooling import gather_rows, mean_members, place_rows


class MemberReadout(nn.Module):
    """Final states of members to an additive term of their virtual node's vector."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.hidden_dim)
        self.features = nn.Linear(config.hidden_dim, config.readout_dim)
        self.pooled_norm = nn.LayerNorm(config.readout_dim)
        self.out = nn.Linear(config.readout_dim, config.projection_dim, bias=False)

    def forward(self, h: Tensor, batch: GraphBatch) -> Tensor:
        """(P, d_p) terms of all representatives; zeros for those without members."""
        members = gather_rows(self.norm(h), batch.member)
        pooled = self.pooled_norm(mean_members(F.gelu(self.features(members)), batch))
        terms = place_rows(self.out(pooled), batch.virtual_node, len(h))
        return gather_rows(terms, batch.representative)
