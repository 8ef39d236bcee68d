"""Operator trees and texts to vectors of length 1, a batch at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from mathamr_kedro.formula.graphs import build_shared_graph
from mathamr_kedro.systems.ssemb.config import StructureConfig
from mathamr_kedro.systems.ssemb.graphs import GraphTableBuilder, LabelVocabulary
from mathamr_kedro.systems.ssemb.network import StructureEncoder
from mathamr_kedro.systems.ssemb.training import LABELS, WEIGHTS
from mathamr_kedro.text import SentenceEncoder, find_text_model

if TYPE_CHECKING:
    from mathamr_kedro.formula import FormulaTree

T = TypeVar("T")
_TREES_AT_ONCE, _TEXTS_AT_ONCE = 2048, 512


class TreeEncoder:
    """StructEmb, trained.

    Args:
        folder: where the training left it.
        config: settings of the training.

    Raises:
        MissingInputError: nothing was trained.
    """

    def __init__(self, folder: Path, config: StructureConfig) -> None:
        self._vocabulary = LabelVocabulary.read(folder / LABELS)
        count = len(self._vocabulary)
        self._model = StructureEncoder.load(folder / WEIGHTS, config, count)
        self._device = torch.device(_find_device())
        self._model.to(self._device)

    def encode(self, trees: Iterable[FormulaTree]) -> Iterator[NDArray[np.float32]]:
        """Yield (B, k) vectors of batches of operator trees, in their order."""
        for some in _take_some(trees, _TREES_AT_ONCE):
            builder = GraphTableBuilder()
            for tree in some:
                builder.add(build_shared_graph(tree))
            batch = builder.finish(self._vocabulary).take(np.arange(len(some)))
            with torch.inference_mode():
                vectors = self._model(batch.to(self._device))
                normed = torch.nn.functional.normalize(vectors, dim=1)
            yield normed.cpu().numpy()


class TextEncoder:
    """SemEmb: a sentence encoder.

    Args:
        model: its name or folder.

    Raises:
        MissingInputError: it is not there.
    """

    def __init__(self, model: str) -> None:
        self._encoder = SentenceEncoder(find_text_model(model), _find_device())

    def encode(self, texts: Iterable[str]) -> Iterator[NDArray[np.float32]]:
        """Yield (B, k) vectors of batches of texts, in their order."""
        for some in _take_some(texts, _TEXTS_AT_ONCE):
            yield self._encoder.encode(some)


def _find_device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _take_some(items: Iterable[T], number: int) -> Iterator[list[T]]:
    stream = iter(items)
    while some := list(islice(stream, number)):
        yield some
