r"""Fusion of what the two encoders say (3.3): gated cross-attention.

.. math::
    H = \mathrm{MHA}(Q = E_c,\, K = E_f,\, V = E_f) \quad (4) \qquad
    \hat{H} = \mathrm{FFN}_G(H) \odot \mathrm{FFN}(H) \quad (5) \qquad
    O = \hat{H} + E_c \quad (6)

Both networks have one hidden layer of the width of the context, the gate ends in a
sigmoid: 4.3 million weights for a width of 768, within the paper's five. The last layer
of :math:`\mathrm{FFN}` starts at zero, so that training starts from the context encoder
as it is.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.ragged import RaggedVectors


class GatedFusion(nn.Module):
    """Adds to the tokens of a text what they find in a formula.

    Args:
        context_width: of the vectors of the text.
        formula_width: of those of the formula.
        heads: of the attention; divides the former.

    Raises:
        ConfigurationError: it does not.
    """

    def __init__(self, context_width: int, formula_width: int, heads: int) -> None:
        super().__init__()
        if context_width % heads:
            raise ConfigurationError(
                f"Expected heads to divide the width of the context encoder, "
                f"{context_width} (got {heads!r})"
            )
        self.scale = context_width**0.5
        self.attention = nn.MultiheadAttention(
            context_width, heads, kdim=formula_width, vdim=formula_width,
            batch_first=True,
        )  # fmt: skip
        self.gate = _build_network(context_width)
        self.update = _build_network(context_width)
        for parameter in self.update[-1].parameters():
            nn.init.zeros_(parameter)

    def forward(self, context: Tensor, formula: Tensor, is_real: Tensor) -> Tensor:
        """Fuse texts with one formula each.

        Args:
            context: (B, N, d) tokens of texts, of length 1.
            formula: (B, M, w) tokens of formulas, filled up with any.
            is_real: (B, M) which of them are; none at all: the text stays as it is.

        Returns:
            (B, N, d) fused tokens, of length 1.
        """
        x = context * self.scale  # components of about 1, as those of formulas
        has_any = is_real.any(1)
        is_hidden = ~is_real
        is_hidden[:, 0] &= has_any  # attention to nothing would be no number
        found, _ = self.attention(
            x, formula, formula, key_padding_mask=is_hidden, need_weights=False
        )
        update = torch.sigmoid(self.gate(found)) * self.update(found)
        fused = torch.where(has_any[:, None, None], update + x, x)
        return F.normalize(fused, dim=-1)

    def fuse(
        self, context: RaggedVectors[Tensor], formula: RaggedVectors[Tensor]
    ) -> RaggedVectors[Tensor]:
        """Fuse text i with formula i; those of no tokens change nothing."""
        if not len(formula.vectors):
            return context
        tokens, is_token = context.padded()
        found = self(tokens, *formula.padded())
        return RaggedVectors(found[is_token], context.ptr)


def _build_network(width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
