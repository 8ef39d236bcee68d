"""A trained MaRF: items in, token vectors of both encoders and of their fusion out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.model import ComputeConfig
from mathamr_kedro.systems.marf.batches import encode_rows
from mathamr_kedro.systems.marf.config import ModelConfig
from mathamr_kedro.systems.marf.context_encoder import ContextEncoder
from mathamr_kedro.systems.marf.formula_encoder import FormulaEncoder
from mathamr_kedro.systems.marf.fusion import GatedFusion
from mathamr_kedro.systems.marf.items import Item
from mathamr_kedro.systems.marf.losses import pool_tokens
from mathamr_kedro.systems.marf.training import MarfTraining
from mathamr_kedro.systems.marf.vocabulary import TokenVocabulary

_TEXTS_FUSED_AT_ONCE = 32


@dataclass(frozen=True, eq=False)
class EncodedItems:
    """What MaRF says of some items; all vectors have the length 1."""

    pooled: Tensor
    """(N, d) mean of the tokens of each text."""
    context: RaggedVectors[Tensor]
    """A row per item: the tokens of its text."""
    formula: RaggedVectors[Tensor]
    """A row per formula: its tokens, or their mean for passage-level scoring."""
    formulas_of: list[int]
    """How many formulas each item has."""
    fused: RaggedVectors[Tensor]
    """A row per formula, or one where an item has none: the tokens of the text."""

    @property
    def fused_of(self) -> list[int]:
        """How many fused rows each item has."""
        return [max(1, number) for number in self.formulas_of]


class MarfModel:
    """The model in a folder.

    Args:
        folder: of a training that has ended.
        config: what decided its weights.
    """

    def __init__(self, folder: Path, config: ModelConfig) -> None:
        device = ComputeConfig().choose_device()
        self._config = config
        self._vocabulary = TokenVocabulary.load(folder)
        self._context = ContextEncoder(folder / "context").to(device).eval()
        self._formula = FormulaEncoder(
            len(self._vocabulary), config.width, config.layers, config.heads
        )
        MarfTraining.load_weights(self._formula, folder / "formula.arrays")
        self._formula = self._formula.to(device).eval()
        self._fusion = GatedFusion(self._context.width, config.width, config.heads)
        MarfTraining.load_weights(self._fusion, folder / "fusion.arrays")
        self._fusion = self._fusion.to(device).eval()

    @torch.no_grad()
    def encode(self, items: Sequence[Item]) -> EncodedItems:
        """Encode some items, at least one."""
        texts = list(
            self._context.split([item.text for item in items], self._config.max_tokens)
        )
        states = encode_rows(self._context, texts)
        context = RaggedVectors(F.normalize(states.vectors, dim=-1), states.ptr)
        numbers = [len(item.formulas) for item in items]
        tokens = [self._vocabulary.number(f) for item in items for f in item.formulas]
        # an item without a formula has one of no tokens for the fusion
        formula = encode_rows(self._formula, tokens or [self._vocabulary.number([])])
        return EncodedItems(
            pool_tokens(states),
            context,
            self._reduce(formula) if tokens else formula.take(formula.ptr[:0]),
            numbers,
            self._fuse(context, formula, numbers),
        )

    def _reduce(self, formula: RaggedVectors[Tensor]) -> RaggedVectors[Tensor]:
        if self._config.scoring == "passage":
            return RaggedVectors.one_each(pool_tokens(formula))
        return RaggedVectors(F.normalize(formula.vectors, dim=-1), formula.ptr)

    def _fuse(
        self,
        context: RaggedVectors[Tensor],
        formula: RaggedVectors[Tensor],
        numbers: Sequence[int],
    ) -> RaggedVectors[Tensor]:
        empty = formula.vectors[:0]
        rows: list[Tensor] = []
        owners: list[int] = []
        bounds, place = formula.host_ptr, 0
        for item, number in enumerate(numbers):
            for _ in range(number):
                rows.append(formula.vectors[bounds[place] : bounds[place + 1]])
                place += 1
            rows += [] if number else [empty]
            owners += [item] * max(1, number)
        parts = []
        for start in range(0, len(rows), _TEXTS_FUSED_AT_ONCE):
            end = start + _TEXTS_FUSED_AT_ONCE
            device = context.ptr.device
            texts = context.take(torch.tensor(owners[start:end], device=device))
            found = RaggedVectors.of(rows[start:end])
            parts.append(self._fusion.fuse(texts, found.to(device)))
        return RaggedVectors.join(parts)
