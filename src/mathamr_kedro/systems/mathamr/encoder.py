r"""A sentence encoder that can be fine-tuned, with torch and transformers only.

.. math:: v = \frac{\sum_t m_t h_t}{\lVert \sum_t m_t h_t \rVert}

of the last states :math:`h_t` of the tokens that are there (:math:`m_t = 1`): the mean
of the states, of length 1. The models of Sentence-BERT that the project knows, and the
paper's all-distilroberta-v1, pool so. It is fine-tuned by two losses: contrastive
(Chopra, Hadsell and LeCun 2005), for pairs with a score :math:`y` of 1 (high, medium),
0.5 (low) or 0, the distance :math:`d = 1 - \cos` and a margin :math:`m`:

.. math::
    \mathcal{L}_C = \frac{1}{2B} \sum_i y_i d_i^2 + (1 - y_i) \max(0, m - d_i)^2

and multiple negatives (Henderson et al. 2017), for pairs of score 1 with the scale
:math:`s`; candidates of other pairs are negatives, unless they are candidates of the
same query, or the same text:

.. math::
    \mathcal{L}_N = -\frac{1}{B} \sum_i \log \frac{e^{s \cos(q_i, c_i)}}
        {\sum_{j \in N_i} e^{s \cos(q_i, c_j)}}, \quad
    N_i = \{i\} \cup \{j : q_j \ne q_i, c_j \ne c_i\}
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
from mathamr_kedro.model import current_compute, info_nce
from mathamr_kedro.systems.weights import Transformer, autocast

_POOLING = Path("1_Pooling") / "config.json"
_OTHER_WEIGHTS = ("*.bin", "*.h5", "*.msgpack", "*.onnx", "onnx", "openvino", ".*")
_MARGIN = 0.5
"""Distance that unrelated formulas keep; the paper names none."""
_SCALE = 20.0
"""Of cosines, as in sentence-transformers."""


class TextEncoder(Transformer):
    """Texts, of at most so many tokens, to vectors of length 1.

    Raises:
        ConfigurationError: a model of sentence-transformers has no mean pooling.
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
        with autocast(self.device):
            states = self.model(**tokens).last_hidden_state  # (B, tokens, k)
        states = states.float()
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


def contrastive_loss(queries: Tensor, candidates: Tensor, scores: Tensor) -> Tensor:
    r"""Return :math:`\mathcal{L}_C` of (B, k) vectors of length 1, and (B,) scores."""
    distance = 1.0 - (queries * candidates).sum(1)
    near = scores * distance.square()
    far = (1.0 - scores) * F.relu(_MARGIN - distance).square()
    return 0.5 * (near + far).mean()


def multiple_negatives_loss(
    queries: Tensor, candidates: Tensor, query_ids: Tensor, candidate_ids: Tensor
) -> Tensor:
    r"""Return :math:`\mathcal{L}_N` of (B, k) vectors; equal texts have equal ids."""
    same = (query_ids[:, None] == query_ids) | (candidate_ids[:, None] == candidate_ids)
    same.fill_diagonal_(False)
    return info_nce(_SCALE * queries @ candidates.T, temperature=1.0, excluded=same)
