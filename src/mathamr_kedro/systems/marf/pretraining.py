r"""Further pretraining of the context encoder (3.4): masked tokens and next sentences.

.. math::
    \mathcal{L} = -\frac{1}{|M|} \sum_{t \in M} \ln p(x_t) - \ln p(b)

of the masked tokens :math:`M`, 15 % of all, and of :math:`b`: whether
the second sentence follows the first one, or is of another text (Devlin et al. 2019).
Tokens are predicted by the embeddings that they are read with. Both heads are dropped
afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor, nn

from mathamr_kedro.systems.marf.networks import ContextEncoder, Ids

_IGNORED = -100
"""Label of tokens that are not masked, as transformers has it."""


class Pretraining(nn.Module):
    """A context encoder with heads for masked tokens and next sentences.

    Args:
        encoder: any of transformers that has a token for masks.
        max_tokens: of two sentences.
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
        is_cuda = self.encoder.device.type == "cuda"
        with torch.autocast("cuda", torch.bfloat16, enabled=is_cuda):
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
