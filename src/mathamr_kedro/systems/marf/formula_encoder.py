r"""The formula encoder: eight layers of a transformer over tokens of LaTeX (3.2, B.3).

The paper names Llama 3 as its architecture; here are the same layers, without the mask
that hides later tokens:

.. math::
    x' = x + W_o\, \mathrm{attention}(R W_q n(x),\, R W_k n(x),\, W_v n(x)), \qquad
    x'' = x' + W_d\,(\mathrm{SiLU}(W_g n(x')) \odot W_u n(x'))

with root mean square normalisation :math:`n` and rotary positions :math:`R`.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

_BASE = 10_000.0
"""Of the rotary angles."""


class FormulaEncoder(nn.Module):
    """Tokens of formulas to vectors.

    Args:
        vocabulary: different tokens.
        width: of the vectors; a multiple of twice ``heads``.
        layers: number of layers.
        heads: heads of attention.
    """

    def __init__(self, vocabulary: int, width: int, layers: int, heads: int) -> None:
        super().__init__()
        self.width, self._head_width = width, width // heads
        self.embedding = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        self.layers = nn.ModuleList(_Layer(width, heads) for _ in range(layers))
        self.norm = nn.RMSNorm(width)

    def forward(self, ids: Tensor, is_real: Tensor) -> Tensor:
        """Encode formulas of several lengths.

        Args:
            ids: (B, L) tokens, filled up with any.
            is_real: (B, L) which of them are.

        Returns:
            (B, L, width) vectors; those of filled up places mean nothing.
        """
        x = self.embedding(ids)
        angles = _find_angles(ids.shape[1], self._head_width, ids.device)
        for layer in self.layers:
            x = layer(x, angles, is_real[:, None, None, :])
        out: Tensor = self.norm(x)
        return out


class _Layer(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.head_width = heads, width // heads
        self.attention_norm, self.mlp_norm = nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate_up = nn.Linear(width, 8 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def forward(self, x: Tensor, angles: Tensor, is_key: Tensor) -> Tensor:
        batch, length, width = x.shape
        qkv = self.qkv(self.attention_norm(x))
        qkv = qkv.view(batch, length, 3, self.heads, self.head_width)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        q, k = _rotate(q, angles), _rotate(k, angles)
        found = F.scaled_dot_product_attention(q, k, v, attn_mask=is_key)
        x = x + self.out(found.transpose(1, 2).reshape(batch, length, width))
        gate, up = self.gate_up(self.mlp_norm(x)).chunk(2, dim=-1)
        out: Tensor = x + self.down(F.silu(gate) * up)
        return out


def _find_angles(length: int, width: int, device: torch.device) -> Tensor:
    """(length, width / 2) angle of each place in each pair of dimensions."""
    steps = torch.arange(0, width, 2, device=device) / width
    return torch.arange(length, device=device)[:, None] * _BASE**-steps


def _rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Turn the first half of the dimensions against the second one."""
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)
