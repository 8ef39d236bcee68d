"""Initial states: embeddings of content nodes, initialisations of virtual nodes.

The six initialisations of Table 4.13:

=========================  ========================================================
``zero``                   zero vectors
``zero_embedding``         a learned vector per kind, zero at first
``random_embedding``       a learned vector per kind, Xavier-uniform at first
``mean``                   mean over the members
``mean_projection``        one linear layer of that mean
``mean_typed_projection``  one linear layer per kind of that mean
=========================  ========================================================

Members of the document node are the formula and sentence nodes and the root, so its
mean is over their means, before any projection.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mathamr_kedro.graph import KIND_NAMES, GraphBatch, GraphSchema
from mathamr_kedro.model.config import ModelConfig
from mathamr_kedro.model.member_pooling import (
    gather_rows,
    look_up,
    mean_members,
    place_rows,
)
from mathamr_kedro.model.relation_weights import xavier_uniform

_KINDS = len(KIND_NAMES)


class NodeEmbedding(nn.Module):
    """Node types to states of width d (thesis 3.3.1)."""

    def __init__(self, config: ModelConfig, schema: GraphSchema) -> None:
        super().__init__()
        self.init, d = config.virtual_init, config.hidden_dim
        self.content = xavier_uniform(schema.num_node_types, d)
        if self.init.endswith("embedding"):
            self.virtual = xavier_uniform(_KINDS, d)
            if self.init == "zero_embedding":
                nn.init.zeros_(self.virtual)
        if self.init.endswith("projection"):
            layers = _KINDS if self.init == "mean_typed_projection" else 1
            self.projection = nn.ModuleList(nn.Linear(d, d) for _ in range(layers))

    def forward(self, batch: GraphBatch) -> Tensor:
        """(N, d) first states of all nodes of a batch."""
        virtual: Tensor = self.content.new_zeros(_KINDS, self.content.shape[1])
        if self.init.endswith("embedding"):
            virtual = self.virtual
        h = look_up(torch.cat([self.content, virtual]), batch.node_type)
        return self._add_means(h, batch) if self.init.startswith("mean") else h

    def _add_means(self, h: Tensor, batch: GraphBatch) -> Tensor:
        """Fill in the rows of virtual nodes, which are zero in ``h``."""
        n, nodes = len(h), batch.virtual_node
        kind = batch.node_type[nodes.clamp(max=n - 1)] - batch.schema.num_node_types
        means = mean_members(gather_rows(h, batch.member), batch)
        # Nothing has a document as a member: its row is not read.
        below = place_rows(means, nodes, n)
        means = mean_members(gather_rows(h + below, batch.member), batch)
        return h + place_rows(self._project(means, kind), nodes, n)

    def _project(self, means: Tensor, kind: Tensor) -> Tensor:
        if self.init == "mean":
            return means
        if len(self.projection) == 1:
            return self.projection[0](means)
        out = torch.zeros_like(means)
        # Every layer over all virtual nodes: shapes that depend on kinds would make the
        # host wait, and could not be captured.
        for k, layer in enumerate(self.projection):
            out = torch.where((kind == k)[:, None], layer(means), out)
        return out
