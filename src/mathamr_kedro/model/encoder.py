r"""The stack of residual relational layers.

.. math::
    h_i^{(l)} = h_i^{(l-1)} + \text{GELU}\left(\text{RGCN}^{(l)}\left(
        \text{LayerNorm}(h_i^{(l-1)}), \mathcal{N}_i, \mathcal{R}\right)\right)
    \quad (3.1)
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from mathamr_kedro.graph import GraphSchema
from mathamr_kedro.model.backends import Backend
from mathamr_kedro.model.config import ModelConfig
from mathamr_kedro.model.relation_weights import RelationWeights, xavier_uniform


class RelationalEncoder(nn.Module):
    """L layers; parameters are stacked by layer so that a backend can fuse them."""

    def __init__(self, config: ModelConfig, schema: GraphSchema) -> None:
        super().__init__()
        layers, d, relations = (
            config.num_layers,
            config.hidden_dim,
            schema.num_relations,
        )
        self.weights = RelationWeights(config, relations)
        self.root = xavier_uniform(layers, d, d)
        self.bias = nn.Parameter(torch.zeros(layers, d))
        self.norm_weight = nn.Parameter(torch.ones(layers, d))
        self.norm_bias = nn.Parameter(torch.zeros(layers, d))
        if config.edge_attributes:
            self.edge_attributes = xavier_uniform(relations, d)
        else:
            self.register_parameter("edge_attributes", None)

    def forward(self, h: Tensor, graph: Any, backend: Backend) -> Tensor:
        """(N, d) final states of all nodes."""
        relations: Tensor | None = getattr(graph, "relations", None)
        weight = self.weights(relations)
        shift = self._shift(weight, relations)
        run_layers = getattr(backend, "run_layers", None)
        if run_layers is not None:
            norm = (self.norm_weight, self.norm_bias)
            fused: Tensor = run_layers(
                h, weight, self.root, self.bias, shift, *norm, graph
            )
            return fused
        # Unbound at once: indexing one by one would make a gradient of full size each.
        stacked = (weight, self.root, self.bias, self.norm_weight, self.norm_bias)
        shifts = [None] * len(weight) if shift is None else shift.unbind()
        layers = zip(*(t.unbind() for t in stacked), shifts, strict=True)
        for w, root, bias, norm_weight, norm_bias, s in layers:
            x = F.layer_norm(h, h.shape[1:], norm_weight, norm_bias)
            update = backend.convolve(x, w, root, bias, s, graph)
            h = h + F.gelu(update)
        return h

    def _shift(self, weight: Tensor, relations: Tensor | None) -> Tensor | None:
        """(L, R, d) e_r W_r: what edge attributes add to a mean of neighbours."""
        if self.edge_attributes is None:
            return None
        mine: Tensor = self.edge_attributes
        if relations is not None:
            mine = mine.index_select(0, relations)
        return torch.einsum("rd,lrde->lre", mine, weight)
