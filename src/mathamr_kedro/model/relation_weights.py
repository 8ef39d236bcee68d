r"""The matrices W_r of all relations and layers, decomposed (thesis 2.4.3).

``basis``: :math:`W_r = \sum_b a_{rb} V_b`, all relations share the matrices
:math:`V_b`. ``none``: one free matrix each.

The matrices are made once per step for all relations: with R relations and B bases that
is R B products of matrices, while every other order needs N B of them for N nodes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mathamr_kedro.model.config import ModelConfig


def xavier_uniform(*shape: int) -> nn.Parameter:
    """A parameter, Xavier-uniform over its last two dimensions."""
    bound = (6.0 / (shape[-2] + shape[-1])) ** 0.5
    return nn.Parameter(torch.empty(*shape).uniform_(-bound, bound))


class RelationWeights(nn.Module):
    """Composes the matrices (L, R, d, d), applied from the right."""

    def __init__(self, config: ModelConfig, num_relations: int) -> None:
        super().__init__()
        self.shape = (config.num_layers, num_relations) + (config.hidden_dim,) * 2
        layers, relations, d, _ = self.shape
        self.decomposition, b = config.decomposition, config.num_bases
        if self.decomposition == "basis":
            self.coefficients = xavier_uniform(layers, relations, b)
            self.bases = xavier_uniform(layers, b, d, d)
        else:
            self.matrices = xavier_uniform(*self.shape)

    def forward(self, relations: Tensor | None = None) -> Tensor:
        """Compose the matrices.

        Args:
            relations: (K,) for only these, (L, K, d, d); all if ``None``.
        """
        is_free = self.decomposition == "none"
        mine: Tensor = self.matrices if is_free else self.coefficients
        if relations is not None:
            mine = mine.index_select(1, relations)
        if is_free:
            return mine
        layers, d = self.shape[0], self.shape[-1]
        return torch.bmm(mine, self.bases.flatten(2)).view(layers, -1, d, d)
