"""The same encoder on PyTorch Geometric's relational convolutions, to compare with."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn
from torch_geometric.nn import FastRGCNConv, RGCNConv

from mathamr_kedro.graph import GraphBatch
from mathamr_kedro.model.mathamr_plus import MathAMRPlus


class PygBackend:
    """Takes the place of our backends; PyG reads the plain list of edges."""

    name = "pyg"

    def prepare(self, batch: GraphBatch, keep: Tensor | None = None) -> Any:
        """List the edges that stay."""
        source, target, relation = batch.list_edges()
        if keep is not None:
            rest = len(source) - len(keep)
            everything = torch.cat([keep, keep.new_ones(rest)])
            source, target, relation = (
                t[everything] for t in (source, target, relation)
            )
        return torch.stack([source, target]), relation


class PygTwin(MathAMRPlus):
    """MathAMR+ with ``RGCNConv`` or ``FastRGCNConv``, and the weights of a model."""

    def __init__(self, model: MathAMRPlus, kind: str) -> None:
        super().__init__(model.config, model.schema)
        self.load_state_dict(model.state_dict())
        conv = {"rgcn": RGCNConv, "fast": FastRGCNConv}[kind]
        d, bases = model.config.hidden_dim, model.config.num_bases
        self.convs = nn.ModuleList(
            conv(d, d, model.schema.num_relations, num_bases=bases)
            for _ in range(model.config.num_layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(d) for _ in self.convs)
        with torch.no_grad():
            for i, (layer, norm) in enumerate(zip(self.convs, self.norms, strict=True)):
                layer.weight.copy_(model.encoder.weights.bases[i])
                layer.comp.copy_(model.encoder.weights.coefficients[i])
                layer.root.copy_(model.encoder.root[i])
                layer.bias.copy_(model.encoder.bias[i])
                norm.weight.copy_(model.encoder.norm_weight[i])
                norm.bias.copy_(model.encoder.norm_bias[i])
        self.encoder = nn.Module()  # type: ignore[assignment]
        self._backend = PygBackend()  # type: ignore[assignment]

    def encode(self, batch: GraphBatch, graph: Any) -> Tensor:
        """Encode with PyG's convolutions."""
        h = self.nodes(batch)
        for conv, norm in zip(self.convs, self.norms, strict=True):
            h = h + F.gelu(conv(norm(h), *graph))
        return self.head(h[batch.representative])

    def stacked_gradients(self) -> dict[str, Tensor]:
        """Gradients under the names of the model that this is the twin of."""
        named = {n: p.grad for n, p in self.named_parameters()}
        grads = {n: g for n, g in named.items() if n.startswith(("nodes", "head"))}
        stacks = {
            "encoder.weights.coefficients": [c.comp for c in self.convs],
            "encoder.weights.bases": [c.weight for c in self.convs],
            "encoder.root": [c.root for c in self.convs],
            "encoder.bias": [c.bias for c in self.convs],
            "encoder.norm_weight": [n.weight for n in self.norms],
            "encoder.norm_bias": [n.bias for n in self.norms],
        }
        stacked = {n: torch.stack([p.grad for p in ps]) for n, ps in stacks.items()}
        return grads | stacked
