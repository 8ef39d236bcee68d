"""BERT's forward pass, as much as a sentence encoder needs (Devlin et al. 2019).

::

    embeddings -> 6 x [ self-attention -> add & norm -> two layers -> add & norm ]
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor
from torch.nn import functional

from mathamr_kedro.arrays import read_arrays
from mathamr_kedro.text.wordpiece import WordPieces

_LONGEST = 256
"""Tokens of a text that count, as this model was trained."""
_TOKENS_AT_ONCE = 8192


class SentenceEncoder:
    """Texts to unit vectors: the mean of the last states of their tokens.

    Args:
        folder: with ``config.json``, ``vocab.txt`` and ``model.safetensors``.
        device: where to compute.
    """

    def __init__(self, folder: Path, device: str = "cpu") -> None:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        self._heads = int(config["num_attention_heads"])
        self._layers = int(config["num_hidden_layers"])
        self._eps = float(config["layer_norm_eps"])
        self._width = int(config["hidden_size"])
        self._device = torch.device(device)
        arrays = read_arrays(folder / "model.safetensors")
        self._weights = {
            name: torch.from_numpy(array).to(self._device)
            for name, array in arrays.items()
        }
        self._pieces = WordPieces(folder / "vocab.txt")

    @torch.no_grad()
    def encode(self, texts: Sequence[str]) -> Tensor:
        """(N, k) float32 vectors of length 1, on the CPU."""
        ids = [self._pieces.encode(text, _LONGEST) for text in texts]
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        vectors = torch.empty(len(ids), self._width)
        start = 0
        while start < len(order):
            end = start + 1
            while (
                end < len(order)
                and (end + 1 - start) * len(ids[order[end]]) <= _TOKENS_AT_ONCE
            ):
                end += 1
            batch = order[start:end]
            vectors[batch] = self._encode_batch([ids[i] for i in batch]).cpu()
            start = end
        return vectors

    def _encode_batch(self, ids: list[list[int]]) -> Tensor:
        longest = max(map(len, ids))
        padded = torch.tensor([row + [0] * (longest - len(row)) for row in ids])
        lengths = torch.tensor([len(row) for row in ids])
        is_real = torch.arange(longest) < lengths[:, None]
        padded, is_real = padded.to(self._device), is_real.to(self._device)
        x = self._embed(padded)  # (B, T, k)
        for layer in range(self._layers):
            x = self._layer(x, is_real, f"encoder.layer.{layer}.")
        total = (x * is_real[..., None]).sum(1) / is_real.sum(1)[:, None]
        return functional.normalize(total, dim=1)

    def _embed(self, ids: Tensor) -> Tensor:
        w = self._weights
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = x + w["embeddings.token_type_embeddings.weight"][0]
        return self._norm(x, "embeddings.")

    def _layer(self, x: Tensor, is_real: Tensor, name: str) -> Tensor:
        batch, length, width = x.shape
        query, key, value = (
            self._linear(x, f"{name}attention.self.{part}")
            .view(batch, length, self._heads, width // self._heads)
            .transpose(1, 2)
            for part in ("query", "key", "value")
        )
        mixed = functional.scaled_dot_product_attention(
            query, key, value, attn_mask=is_real[:, None, None, :]
        )
        mixed = mixed.transpose(1, 2).reshape(batch, length, width)
        mixed = self._linear(mixed, f"{name}attention.output.dense")
        x = self._norm(x + mixed, f"{name}attention.output.")
        inner = functional.gelu(self._linear(x, f"{name}intermediate.dense"))
        return self._norm(
            x + self._linear(inner, f"{name}output.dense"), f"{name}output."
        )

    def _linear(self, x: Tensor, name: str) -> Tensor:
        w = self._weights
        return functional.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])

    def _norm(self, x: Tensor, name: str) -> Tensor:
        w = self._weights
        return functional.layer_norm(
            x,
            (self._width,),
            w[f"{name}LayerNorm.weight"],
            w[f"{name}LayerNorm.bias"],
            self._eps,
        )
