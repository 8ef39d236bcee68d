r"""Distillation: similarities of vectors that agree with those of a teacher.

What a batch says about the documents for a query should be what the teacher says, who
has vectors :math:`t_i` of the same posts or formulas:

.. math::
    \mathcal{L} = \frac{1}{n} \sum_i \text{KL}\left(
        \text{softmax}_j(t_i^\top t_j / \tau_t) \,\|\,
        \text{softmax}_j(z_i^\top z_j / \tau)\right)

Formulas learn from the patterns of their trees (:mod:`.pattern_teacher`), posts
from a sentence encoder (:class:`TextTeacher`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from mathamr_kedro.base.errors import MalformedInputError
from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.graph import FORMULA, GraphShards
from mathamr_kedro.model.maxsim import take_documents

_TEXT_TEMPERATURE = 0.05
"""Of the teacher of documents, as for the released encoders; 0.1 is as good
(docs/results/pool.md)."""


@dataclass(frozen=True)
class DistillationConfig:
    """How much vectors learn from their teachers."""

    weight: float = 0.0
    """Of the loss of formulas beside the contrastive ones; 0: no distillation."""
    trees: Literal["layout", "operator", "both"] = "layout"
    """Whose patterns formulas learn from; ``both``: in equal parts."""
    temperature: float = 0.1
    """Of the teacher of formulas: lower ones look only at the nearest formulas."""
    document_weight: float = 0.0
    """Of the same loss between document vectors and those of a sentence encoder."""
    score_weight: float = 0.0
    """Of the same loss between MaxSim scores and those of the sentence encoder."""
    document_vectors: str | None = None
    """``.npy`` file with a vector of the sentence encoder for each graph."""

    @property
    def uses_texts(self) -> bool:
        """Whether vectors of a sentence encoder are needed."""
        return self.document_weight > 0 or self.score_weight > 0

    def __post_init__(self) -> None:
        check_range(self, "weight", "document_weight", "score_weight", least=0)
        check_range(self, "temperature", above=0)


class TextTeacher:
    """The vectors that a sentence encoder gave to all posts of some shards."""

    def __init__(
        self, vectors: Tensor, shards: GraphShards, config: DistillationConfig
    ) -> None:
        if vectors.ndim != 2 or len(vectors) != len(shards):
            raise MalformedInputError(
                f"Expected a vector for each of {len(shards)} graphs in "
                f"distillation.document_vectors (got shape {tuple(vectors.shape)})"
            )
        self.config = config
        ends = torch.from_numpy(shards.offsets["representative"][1:])
        self._ends = ends.to(vectors.device)
        self._vectors = F.normalize(vectors, dim=1)

    def distil(
        self,
        queries: RaggedVectors,
        documents: RaggedVectors,
        temperature: Tensor,
        scores: Tensor | None = None,
    ) -> Tensor:
        """The losses of document vectors and of MaxSim ``scores``, as weighted."""
        q, d = (self._find(p) for p in (queries, documents))
        anchor, partner = (t.abs().amax(1) > 0 for t in (q, d))
        wanted = q @ d.T / _TEXT_TEMPERATURE
        weighted: list[tuple[float, Tensor]] = []
        if self.config.document_weight > 0:
            similar = take_documents(queries) @ take_documents(documents).T
            weighted.append((self.config.document_weight, similar))
        if self.config.score_weight > 0 and scores is not None:
            weighted.append((self.config.score_weight, scores))
        loss = wanted.new_zeros(())
        for weight, scored in weighted:
            found = scored / temperature
            loss = loss + weight * compare_similarities(wanted, found, anchor, partner)
        return loss

    def _find(self, posts: RaggedVectors) -> Tensor:
        last = posts.columns["row"].long()[posts.ptr[1:].long() - 1]
        return self._vectors[torch.searchsorted(self._ends, last, right=True)]


def is_formula(posts: RaggedVectors) -> Tensor:
    """(P,) which vectors are formulas of posts; spare ones are not."""
    place = torch.arange(len(posts.vectors), device=posts.ptr.device)
    is_inside = (place >= posts.ptr[0]) & (place < posts.ptr[-1])
    return is_inside & (posts.columns["kind"] == FORMULA)


def compare_similarities(
    wanted: Tensor, found: Tensor, anchor: Tensor, partner: Tensor
) -> Tensor:
    """Mean KL divergence of rows of softmaxed similarities.

    Args:
        wanted: (n, m) the teacher's, divided by its temperature.
        found: (n, m) the student's, divided by its temperature.
        anchor: (n,) rows that count.
        partner: (m,) columns that count.
    """
    lowest = torch.finfo(torch.float32).min
    losses = F.kl_div(
        F.log_softmax(found.float().masked_fill(~partner, lowest), 1),
        F.log_softmax(wanted.masked_fill(~partner, lowest), 1),
        reduction="none",
        log_target=True,
    ).sum(1)
    counted = anchor & partner.any()
    return torch.where(counted, losses, 0.0).sum() / counted.sum().clamp(min=1)
