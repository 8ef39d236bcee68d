r"""What document nodes read from the vector of a frozen sentence encoder.

The vector :math:`t_g` of the text of graph :math:`g` reaches its document node
:math:`v` twice: before the first layer, so that sentences and formulas hear of it from
there, and inside the projection head (:mod:`.projection`):

.. math::
    h_v^{(0)} \mathrel{+}= S\, t_g, \qquad
    z_v = \text{LayerNorm}\left(W_2\,\text{GELU}(\ldots) + b_2 + E\, t_g\right)

so that the graph adds structure to what the text says instead of learning words again.
Graphs without a text (single formulas) have :math:`t_g = 0` and lose nothing. Beyond
the thesis; ``docs/results/pool.md`` has what it changes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.graph import DOCUMENT, GraphBatch
from mathamr_kedro.model.config import ModelConfig
from mathamr_kedro.model.member_pooling import place_rows

_SCALE = 8.0
"""Of the first ``E``: the text speaks as loudly as the graph from the start."""


class TextInput(nn.Module):
    """Vectors of texts to terms of document nodes."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.start = nn.Linear(config.text_dim, config.hidden_dim, bias=False)
        self.end = nn.Linear(config.text_dim, config.projection_dim, bias=False)
        nn.init.orthogonal_(self.end.weight, gain=_SCALE)

    @torch.no_grad()
    def fit(self, texts: Tensor) -> None:
        """Let ``E`` begin with the principal axes of some vectors of texts.

        In these few numbers their similarities are nearly what they are in all; along
        random axes they are not.
        """
        width = self.end.out_features
        if width >= self.end.in_features:  # nothing is lost along any axes
            return
        axes = torch.linalg.eigh(texts.double().T @ texts.double()).eigenvectors
        self.end.weight.copy_(_SCALE * axes.T.flip(0)[:width])

    def begin(self, batch: GraphBatch) -> Tensor:
        """(N, d) what is added to the first states."""
        nodes = batch.representative[self._find_documents(batch)]
        return place_rows(self.start(self._read(batch)), nodes, batch.num_nodes)

    def finish(self, batch: GraphBatch) -> Tensor:
        """(P, d_p) what is added inside the projection head."""
        rows = self._find_documents(batch)
        return place_rows(self.end(self._read(batch)), rows, len(batch.representative))

    @staticmethod
    def _find_documents(batch: GraphBatch) -> Tensor:
        """(G,) the last representative of each graph, which is its document."""
        return (batch.representative_ptr[1:] - 1).long()

    def _read(self, batch: GraphBatch) -> Tensor:
        """(G, width) the texts; zero for graphs without a document node."""
        width = self.start.in_features
        if batch.text is None or batch.text.shape[1] != width:
            found = "none" if batch.text is None else f"{batch.text.shape[1]} numbers"
            raise MalformedInputError(
                f"Expected graphs with vectors of {width} numbers of a sentence "
                f"encoder (got {found}); set preprocessing.text_model to the model "
                "that the encoder was trained with and run the stage 'preprocessing'"
            )
        kinds = batch.representative_kind[self._find_documents(batch)]
        return torch.where((kinds == DOCUMENT)[:, None], batch.text, 0.0)
