r"""The two encoders of MaRF, their fusion, scores and losses.

**Context encoder** (3.1): the last states of the tokens of any encoder of transformers.

**Formula encoder** (3.2, B.3): eight layers of a transformer over tokens of LaTeX. The
paper names Llama 3 as its architecture; here are the same layers, without the mask that
hides later tokens:

.. math::
    x' = x + W_o\, \mathrm{attention}(R W_q n(x),\, R W_k n(x),\, W_v n(x)), \qquad
    x'' = x' + W_d\,(\mathrm{SiLU}(W_g n(x')) \odot W_u n(x'))

with root mean square normalisation :math:`n` and rotary positions :math:`R`.

**Fusion** (3.3): gated cross-attention.

.. math::
    H = \mathrm{MHA}(Q = E_c,\, K = E_f,\, V = E_f) \quad (4) \qquad
    \hat{H} = \mathrm{FFN}_G(H) \odot \mathrm{FFN}(H) \quad (5) \qquad
    O = \hat{H} + E_c \quad (6)

Both networks have one hidden layer of the width of the context, the gate ends in a
sigmoid: 4.3 million weights for a width of 768, within the paper's five. The last layer
of :math:`\mathrm{FFN}` starts at zero, so that training starts from the context encoder
as it is.

**Loss** (3.2):

.. math::
    \mathcal{L} = \mathbb{E}\left[-\ln
      \frac{S(E_q, E_d^+)}{S(E_q, E_d^+) + \sum_i S(E_q, E_{d_i}^-)}\right] \quad (3)

As it is printed, :math:`S` is the score itself (``ratio``). The loss of ColBERT, which
the paper builds on, has :math:`\exp(S / \tau)` in its place (``softmax``), and so has
InfoNCE, which it names for formulas. :math:`S` is MaxSim (Eq. 2), divided by the number
of query tokens: long queries would otherwise have another temperature than short ones.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor, nn

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model import info_nce
from mathamr_kedro.model.maxsim import maxsim
from mathamr_kedro.systems.marf.config import Objective, Scoring
from mathamr_kedro.systems.weights import Transformer, autocast
from mathamr_kedro.text.sentence_encoder import has_matrix_units

Ids: TypeAlias = NDArray[np.int32]
"""Numbers of the tokens of a text or formula."""

_ANGLE_BASE = 10_000.0
"""Of the rotary positions."""
_ROWS_AT_ONCE = 64
_TEMPERATURE = 0.05
"""Divides the scores of ``softmax``; not in the paper."""
_LEAST = 1e-6
"""A score that is not positive has no logarithm."""
_IGNORED = -100
"""Label of tokens that are not masked, as transformers has it."""


class ContextEncoder(Transformer):
    """Texts to ids of tokens, and these to vectors."""

    def forward(self, ids: Tensor, is_real: Tensor) -> Tensor:
        """(B, L, width) last states of tokens; those filled up mean nothing."""
        states: Tensor = self.model(
            input_ids=ids, attention_mask=is_real.long()
        ).last_hidden_state
        return states

    def split(
        self, texts: Sequence[str], max_tokens: int, marks: bool = True
    ) -> list[Ids]:
        """Return the ids of each text, with the marks that the model expects."""
        found = self.tokenizer(
            list(texts), truncation=True, max_length=max_tokens,
            add_special_tokens=marks,
        )  # fmt: skip
        # a model without marks has no token for an empty text, and MaxSim needs one
        return [np.array(ids or [0], dtype=np.int32) for ids in found["input_ids"]]

    @torch.no_grad()
    def add_tokens(self, tokens: Sequence[str]) -> None:
        """Read some strings as one token each, which starts as the mean of its pieces.

        They are read as they are written, whatever the model does with capitals.
        """
        from transformers import AddedToken  # noqa: PLC0415 - takes seconds

        pieces = self.split(tokens, sys.maxsize, marks=False) if tokens else []
        old = self.model.get_input_embeddings().weight.clone()
        self.tokenizer.add_tokens([AddedToken(t, normalized=False) for t in tokens])
        self.model.resize_token_embeddings(len(self.tokenizer), mean_resizing=False)
        new = self.model.get_input_embeddings().weight
        for token, ids in zip(tokens, pieces, strict=True):
            place = self.tokenizer.convert_tokens_to_ids(token)
            new[place] = old[torch.from_numpy(ids).long()].mean(0)


class FormulaEncoder(nn.Module):
    """Tokens of formulas to vectors, whose width is a multiple of twice the heads."""

    def __init__(self, vocabulary: int, width: int, layers: int, heads: int) -> None:
        super().__init__()
        self.width, self._head_width = width, width // heads
        self.embedding = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        self.layers = nn.ModuleList(_Layer(width, heads) for _ in range(layers))
        self.norm = nn.RMSNorm(width)

    def forward(self, ids: Tensor, is_real: Tensor) -> Tensor:
        """(B, L, width) vectors of tokens; those filled up mean nothing."""
        x = self.embedding(ids)
        steps = torch.arange(0, self._head_width, 2, device=ids.device)
        place = torch.arange(ids.shape[1], device=ids.device)[:, None]
        angles = place * _ANGLE_BASE ** -(steps / self._head_width)
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


def _rotate(x: Tensor, angles: Tensor) -> Tensor:
    """Turn the first half of the dimensions against the second one."""
    first, second = x.chunk(2, dim=-1)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1)


class GatedFusion(nn.Module):
    """Adds to the tokens of a text what they find in a formula.

    Tokens of the text are projected to the width ``projected`` first, unless it is 0.
    That starts as a rotation: angles stay, as far as there is room for them.
    """

    def __init__(
        self, context_width: int, formula_width: int, heads: int, projected: int = 0
    ) -> None:
        super().__init__()
        self.project: nn.Linear | None = None
        if projected and projected != context_width:
            self.project = nn.Linear(context_width, projected, bias=False)
            nn.init.orthogonal_(self.project.weight)
            context_width = projected
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
        width = context_width
        self.gate, self.update = (
            nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, width))
            for _ in range(2)
        )
        for parameter in self.update[-1].parameters():
            nn.init.zeros_(parameter)

    def forward(self, context: Tensor, formula: Tensor, is_real: Tensor) -> Tensor:
        """Fuse texts with one formula each; one of no tokens changes nothing.

        Args:
            context: (B, N, d) tokens of texts, of length 1; so is what comes out.
            formula: (B, M, w) tokens of formulas, filled up with any.
            is_real: (B, M) which of them are.
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
        if self.project is not None:
            tokens = F.normalize(self.project(context.vectors), dim=-1)
            context = RaggedVectors(tokens, context.ptr)
        if not len(formula.vectors):
            return context
        tokens, is_token = context.padded()
        found = self(tokens, *formula.padded())
        return RaggedVectors(found[is_token], context.ptr)


def encode_rows(encoder: nn.Module, rows: Sequence[Ids]) -> RaggedVectors[Tensor]:
    """Return the vectors of all tokens, one row after another.

    Rows of a length are encoded together, some at once, in bfloat16 where that is
    faster: rows are kept in half precision.
    """
    order = np.argsort([len(row) for row in rows], kind="stable")
    parts = [
        _encode_together(encoder, [rows[i] for i in order[a : a + _ROWS_AT_ONCE]])
        for a in range(0, len(rows), _ROWS_AT_ONCE)
    ]
    back = torch.from_numpy(np.argsort(order)).to(parts[0].vectors.device)
    return RaggedVectors.join(parts).take(back)


def _encode_together(encoder: nn.Module, rows: Sequence[Ids]) -> RaggedVectors[Tensor]:
    device = next(encoder.parameters()).device
    lengths = torch.tensor([len(row) for row in rows], device=device)
    ids = np.zeros((len(rows), max(1, *map(len, rows))), dtype=np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row)] = row
    is_real = torch.arange(ids.shape[1], device=device) < lengths[:, None]
    # a row of none would make every weight of its attention no number
    is_seen = is_real | (lengths == 0)[:, None]
    with torch.autocast(device.type, torch.bfloat16, has_matrix_units(device)):
        found = encoder(torch.from_numpy(ids).to(device), is_seen)
    return RaggedVectors(found[is_real].float(), F.pad(lengths.cumsum(0), (1, 0)))


def score_batch(
    queries: RaggedVectors[Tensor], documents: RaggedVectors[Tensor], scoring: Scoring
) -> Tensor:
    """(B, C) scores: MaxSim of tokens, or the cosine of their means."""
    if scoring == "token":
        return maxsim(scale_tokens(queries), scale_tokens(documents))
    return pool_tokens(queries) @ pool_tokens(documents).T


def scale_tokens(items: RaggedVectors[Tensor]) -> RaggedVectors[Tensor]:
    """Return tokens of length 1."""
    return RaggedVectors(F.normalize(items.vectors.float(), dim=-1), items.ptr)


def pool_tokens(items: RaggedVectors[Tensor]) -> Tensor:
    """(B, k) mean of the tokens of each item, of length 1; 0 if it has none."""
    vectors, lengths = items.vectors.float(), items.lengths
    sums = torch.segment_reduce(vectors, "sum", lengths=lengths, unsafe=True)
    return F.normalize(sums, dim=-1)


def contrastive_loss(
    scores: Tensor,
    is_negative: Tensor,
    objective: Objective,
    temperature: float = _TEMPERATURE,
) -> Tensor:
    """Return Eq. 3 for (B, B) scores, where document i answers query i.

    Documents that are neither the answer of a query nor its negative are skipped.
    """
    if objective == "softmax":
        own = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
        return info_nce(scores, temperature, excluded=~(is_negative | own))
    positive = scores.diagonal().clamp_min(_LEAST)
    others = (scores.clamp_min(_LEAST) * is_negative).sum(1)
    return ((positive + others) / positive).log().mean()


class Pretraining(nn.Module):
    r"""Further pretraining of the context encoder (3.4), by two heads.

    .. math::
        \mathcal{L} = -\frac{1}{|M|} \sum_{t \in M} \ln p(x_t) - \ln p(b)

    of the masked tokens :math:`M`, 15 % of all, and of :math:`b`: whether the second
    sentence follows the first one, or is of another text (Devlin et al. 2019). Tokens
    are predicted by the embeddings that they are read with. Both heads are dropped
    afterwards.
    """

    def __init__(self, encoder: ContextEncoder, max_tokens: int) -> None:
        super().__init__()
        from transformers import DataCollatorForLanguageModeling  # noqa: PLC0415

        self.encoder, width = encoder, encoder.width
        self.words = nn.Sequential(
            nn.Linear(width, width), nn.GELU(), nn.LayerNorm(width)
        )
        self.follows = nn.Linear(width, 2)
        self._longest = (max_tokens - 3) // 2
        self._mask: Any = DataCollatorForLanguageModeling(encoder.tokenizer)
        config = encoder.model.config
        self._has_types = getattr(config, "type_vocab_size", 0) > 1

    def forward(
        self, first: Sequence[Ids], second: Sequence[Ids], follows: Sequence[bool]
    ) -> Tensor:
        """Return the loss of pairs of sentences."""
        batch = self._mask(
            [self._join(a, b) for a, b in zip(first, second, strict=True)]
        ).to(self.encoder.device)
        labels = batch.pop("labels")
        with autocast(self.encoder.device):
            states = self.encoder.model(**batch).last_hidden_state
        states = states.float()
        is_masked = labels != _IGNORED
        embeddings = self.encoder.model.get_input_embeddings().weight
        words = self.words(states[is_masked]) @ embeddings.T
        kinds = torch.tensor(follows, device=labels.device).long()
        loss = F.cross_entropy(self.follows(states[:, 0]), kinds)
        if len(words):  # so few tokens may have no mask among them
            loss = loss + F.cross_entropy(words, labels[is_masked])
        return loss

    def _join(self, first: Ids, second: Ids) -> dict[str, list[int]]:
        tokenizer, longest = self.encoder.tokenizer, self._longest
        end = tokenizer.sep_token_id
        head = [tokenizer.cls_token_id, *first[:longest].tolist(), end]
        tail = [*second[:longest].tolist(), end]
        found = {"input_ids": head + tail}
        if self._has_types:
            found["token_type_ids"] = [0] * len(head) + [1] * len(tail)
        return found
