"""MathAMR+ (thesis, chapter 3): math graphs to one vector per representative.

::

    node types ─ NodeEmbedding ─> h0 ─ RelationalEncoder ─> hL ─ representatives
                                                              └─ ProjectionHead ─> z
                                                     members ─ MemberReadout ─┤
    vectors of texts ─── TextInput ─> (added to h0 of documents, sentences) ──┘
"""

from __future__ import annotations

import logging
from typing import Any

from torch import Tensor, nn

from mathamr_kedro.graph import GraphBatch, GraphSchema
from mathamr_kedro.model.backends import Backend, choose_backend
from mathamr_kedro.model.config import ComputeConfig, ModelConfig
from mathamr_kedro.model.encoder import RelationalEncoder
from mathamr_kedro.model.member_pooling import gather_rows
from mathamr_kedro.model.node_embedding import NodeEmbedding
from mathamr_kedro.model.projection import ProjectionHead
from mathamr_kedro.model.readout import MemberReadout
from mathamr_kedro.model.text_input import TextInput

logger = logging.getLogger(__name__)


class MathAMRPlus(nn.Module):
    """The encoder of the thesis.

    ::

        model = MathAMRPlus(ModelConfig(), shards.schema)
        vectors = model(shards.assemble([0, 1]))     # (representatives, 32)
    """

    def __init__(self, config: ModelConfig, schema: GraphSchema) -> None:
        super().__init__()
        self.config, self.schema = config, schema
        self.nodes = NodeEmbedding(config, schema)
        self.encoder = RelationalEncoder(config, schema)
        self.head = ProjectionHead(config.hidden_dim, config.projection_dim)
        self.readout = MemberReadout(config) if config.readout_dim else None
        self.text = TextInput(config) if config.text_dim else None
        self.compute = ComputeConfig()
        self._backend: Backend | None = None

    def set_compute(self, compute: ComputeConfig) -> MathAMRPlus:
        """Choose backend and precision; the device is where the parameters are."""
        self.compute, self._backend = compute, None
        return self

    @property
    def backend(self) -> Backend:
        """The backend in use."""
        if self._backend is None:
            self._backend = choose_backend(
                self.compute.backend,
                self.compute.precision,
                self.head.inner.weight.device,
                self.config.hidden_dim,
            )
        return self._backend

    def forward(self, batch: GraphBatch, keep: Tensor | None = None) -> Tensor:
        """(P, d_p) vectors of the representatives of a batch.

        Args:
            batch: graphs side by side.
            keep: (2 E,) which directed edges stay (edge dropout); all if ``None``.
        """
        return self.encode(batch, self.prepare(batch, keep))

    def prepare(self, batch: GraphBatch, keep: Tensor | None = None) -> Any:
        """Arrange a batch for the backend; see :meth:`forward`."""
        if not self.config.content_edges:
            fixed = batch.joins_virtual().repeat(2)
            keep = fixed if keep is None else keep & fixed
        return self.backend.prepare(batch, keep)

    def encode(self, batch: GraphBatch, graph: Any) -> Tensor:
        """Encode a batch that was prepared."""
        start = self.nodes(batch)
        if self.text is not None:
            start = start + self.text.begin(batch)
        h = self.encoder(start, graph, self.backend)
        read = None if self.readout is None else self.readout(h, batch)
        if self.text is not None:
            said = self.text.finish(batch)
            read = said if read is None else read + said
        vectors: Tensor = self.head(gather_rows(h, batch.representative), read)
        return vectors

    def count_parameters(self) -> dict[str, int]:
        """Number of parameters of each component, and of all."""
        encoder, nodes = self.encoder, self.nodes
        virtual = [p for n, p in nodes.named_parameters() if n != "content"]
        parts = {
            "node embeddings": [nodes.content],
            "virtual nodes": virtual,
            "relation weights": list(encoder.weights.parameters()),
            "self-loops": [encoder.root, encoder.bias],
            "layer norms": [encoder.norm_weight, encoder.norm_bias],
            "edge attributes": [encoder.edge_attributes],
            "projection head": list(self.head.parameters()),
            "readout": [] if self.readout is None else list(self.readout.parameters()),
            "texts": [] if self.text is None else list(self.text.parameters()),
        }
        counts = {
            name: sum(p.numel() for p in group if p is not None)
            for name, group in parts.items()
        }
        return counts | {"all": sum(counts.values())}

    def log_parameters(self) -> None:
        """Log the number of parameters of each component."""
        counts = self.count_parameters()
        total = counts.pop("all")
        parts = ", ".join(f"{name} {count:,}" for name, count in counts.items())
        logger.info("%s parameters: %s", f"{total:,}", parts)
