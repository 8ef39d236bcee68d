r"""A sentence encoder that can be fine-tuned, with torch and transformers only.

.. math:: v = \frac{\sum_t m_t h_t}{\lVert \sum_t m_t h_t \rVert}

of the last states :math:`h_t` of the tokens that are there (:math:`m_t = 1`): the mean
of the states, of length 1. The models of Sentence-BERT that the project knows, and the
paper's all-distilroberta-v1, pool so.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from numpy.typing import NDArray
from torch import Tensor

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.model import current_compute
from mathamr_kedro.systems.transformer import Transformer

_POOLING = Path("1_Pooling") / "config.json"
_OTHER_WEIGHTS = ("*.bin", "*.h5", "*.msgpack", "*.onnx", "onnx", "openvino", ".*")


class TextEncoder(Transformer):
    """Texts to vectors of length 1.

    Args:
        folder: of a model in the format of transformers, or of sentence-transformers
            with mean pooling.
        max_length: tokens beyond are cut.

    Raises:
        ConfigurationError: the package transformers is missing, or the model pools
            otherwise.
        MalformedInputError: the folder holds no such model.
    """

    def __init__(self, folder: Path, max_length: int) -> None:
        _check_pooling(folder)
        super().__init__(folder)
        longest = getattr(self.model.config, "max_position_embeddings", max_length)
        # RoBERTa and MPNet count positions from 2.
        self._max_length = min(max_length, longest - 2)
        self.to(current_compute().choose_device())

    def forward(self, texts: Sequence[str]) -> Tensor:
        """(B, k) vectors of length 1."""
        tokens = self.tokenizer(
            list(texts),
            padding=True,
            truncation=True,
            max_length=self._max_length,
            return_tensors="pt",
        ).to(self.device)
        states = self.model(**tokens).last_hidden_state  # (B, tokens, k)
        mask = tokens["attention_mask"].unsqueeze(-1).to(states.dtype)
        return F.normalize((states * mask).sum(1), dim=1)

    @torch.inference_mode()
    def encode(self, texts: Sequence[str], batch_size: int = 64) -> NDArray[np.float32]:
        """(N, k) vectors of length 1, without dropout; texts of one length together."""
        was_training = self.training
        self.eval()
        vectors = np.zeros((len(texts), self.width), dtype=np.float32)
        order = np.argsort([-len(text) for text in texts], kind="stable")
        for start in range(0, len(texts), batch_size):
            rows = order[start : start + batch_size]
            vectors[rows] = self([texts[row] for row in rows]).float().cpu().numpy()
        self.train(was_training)
        return vectors


def copy_model(source: Path, folder: Path) -> None:
    """Copy what an encoder reads, so that another machine can train it."""
    _check_pooling(source)
    has_tensors = any(source.glob("*.safetensors"))
    skipped = _OTHER_WEIGHTS if has_tensors else _OTHER_WEIGHTS[1:]
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns(*skipped))


def _check_pooling(folder: Path) -> None:
    path = folder / _POOLING
    if not path.is_file():
        return
    values = json.loads(path.read_text(encoding="utf-8"))
    modes = [name for name, on in values.items() if name.startswith("pooling_mode_")
             and on is True]  # fmt: skip
    if modes and modes != ["pooling_mode_mean_tokens"]:
        raise ConfigurationError(
            f"Expected a text model with mean pooling in {str(folder)!r} (got {modes})"
        )
