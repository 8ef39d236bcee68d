r"""The R-GCN of one representation: graphs in, a vector for each node out.

.. math::
    h_i^{(l+1)} = \sigma\left(\sum_{r \in R} \sum_{j \in N_i^r} \frac{1}{c_{i,r}}
        W_r^{(l)} h_j^{(l)} + W_0^{(l)} h_i^{(l)}\right), \quad c_{i,r} = |N_i^r|
    \quad (1)

:math:`\sigma` is ReLU, but after the last layer, where vectors get length 1.
:math:`h_i^{(0)}` is a learned vector of the label and one of its type.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from mathamr_kedro.graph import GraphBatch
from mathamr_kedro.model import ComputeConfig, ModelConfig, choose_backend
from mathamr_kedro.model.member_pooling import look_up
from mathamr_kedro.model.relation_weights import RelationWeights, xavier_uniform
from mathamr_kedro.systems.formula_rgcn.config import RgcnConfig
from mathamr_kedro.systems.formula_rgcn.vocabulary import Vocabulary


class NodeEncoder(nn.Module):
    """An R-GCN; the convolution is computed by our backends."""

    types: Tensor

    def __init__(self, config: RgcnConfig, vocabulary: Vocabulary) -> None:
        super().__init__()
        d, layers = config.hidden_dim, config.num_layers
        self.vocabulary = vocabulary
        types = torch.tensor(vocabulary.types, dtype=torch.int32)
        self.register_buffer("types", types, persistent=False)
        scale = d**-0.5
        self.label_vectors = nn.Parameter(torch.randn(len(types), d) * scale)
        self.type_vectors = nn.Parameter(torch.randn(int(types.max()) + 1, d) * scale)
        shape = ModelConfig(
            hidden_dim=d,
            num_layers=layers,
            decomposition=config.decomposition,
            num_bases=config.num_bases,
        )
        self.weights = RelationWeights(shape, vocabulary.schema.num_relations)
        self.root = xavier_uniform(layers, d, d)
        self.bias = nn.Parameter(torch.zeros(layers, d))
        self.compute = ComputeConfig()

    def forward(self, batch: GraphBatch) -> Tensor:
        """(N, d) vectors of length 1, of the nodes of graphs side by side."""
        h = look_up(self.label_vectors, batch.node_type)
        h = h + look_up(self.type_vectors, self.types[batch.node_type.long()])
        d = self.bias.shape[1]
        backend = choose_backend(
            self.compute.backend, self.compute.precision, h.device, d
        )
        graph: Any = backend.prepare(batch)
        weight = self.weights(getattr(graph, "relations", None))
        layers = zip(weight.unbind(), self.root.unbind(), self.bias, strict=True)
        for number, (w, root, bias) in enumerate(layers):
            h = backend.convolve(h, w, root, bias, None, graph)
            if number < len(weight) - 1:
                h = F.relu(h)
        return F.normalize(h, dim=1)
