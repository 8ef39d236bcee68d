r"""What nodes read from the vectors of a frozen sentence encoder.

The vector :math:`t_v` of the text of node :math:`v` reaches it twice: before the first
layer, so that its neighbours receive it from there, and inside the projection head
(:mod:`.projection`):

.. math::
    h_v^{(0)} \mathrel{+}= S\, t_v, \qquad
    z_v = \text{LayerNorm}\left(W_2\,\text{GELU}(\ldots) + b_2 + E\, t_v\right)

so that the graph adds structure to the text instead of learning words again.
The text of a document node is that of its graph. All others, and graphs without text
(single formulas), have :math:`t_v = 0`. Beyond the thesis; ``docs/results/pool.md`` has
what it changes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.graph import DOCUMENT, GraphBatch
from mathamr_kedro.model.config import ModelConfig
from mathamr_kedro.model.member_pooling import place_rows

_SCALE = 8.0
"""Scale of the first ``E``: texts weigh as much as graphs from the start."""


class TextInput(nn.Module):
    """Vectors of texts to terms of the nodes that read them."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.start = nn.Linear(config.text_dim, config.hidden_dim, bias=False)
        self.end = nn.Linear(config.text_dim, config.projection_dim, bias=False)
        nn.init.orthogonal_(self.end.weight, gain=_SCALE)

    @torch.no_grad()
    def fit(self, texts: Tensor) -> None:
        """Initialise ``E`` with the principal axes of some vectors of texts.

        These few dimensions nearly preserve similarities; random ones do not.
        """
        width = self.end.out_features
        if width >= self.end.in_features:  # nothing is lost along any axes
            return
        axes = torch.linalg.eigh(texts.double().T @ texts.double()).eigenvectors
        self.end.weight.copy_(_SCALE * axes.T.flip(0)[:width])

    def begin(self, batch: GraphBatch) -> Tensor:
        """(N, d) what is added to the first states."""
        rows, texts = self._read(batch)
        nodes = batch.representative[rows]
        return place_rows(self.start(texts), nodes, batch.num_nodes)

    def finish(self, batch: GraphBatch) -> Tensor:
        """(P, d_p) what is added inside the projection head."""
        rows, texts = self._read(batch)
        return place_rows(self.end(texts), rows, len(batch.representative))

    def _read(self, batch: GraphBatch) -> tuple[Tensor, Tensor]:
        """(G,) representatives that read, and (G, width) their texts.

        Zeros are of graphs without a document node.
        """
        width = self.start.in_features
        if batch.text is None or batch.text.shape[1] != width:
            found = "none" if batch.text is None else f"{batch.text.shape[1]} numbers"
            raise MalformedInputError(
                f"Expected graphs with vectors of {width} numbers of a sentence "
                f"encoder (got {found}); set preprocessing.text_model to the model "
                "that the encoder was trained with and run the stage 'preprocessing'"
            )
        # The last representative of each graph is its document.
        rows = (batch.representative_ptr[1:] - 1).long()
        kinds = batch.representative_kind[rows]
        texts = torch.where((kinds == DOCUMENT)[:, None], batch.text, 0.0)
        return rows, texts
