r"""The loss of MathAMR+.

.. math::
    \mathcal{L} = \beta\, \mathcal{L}_{MaxSim} + (1 - \beta)\, \mathcal{L}_{doc}
    \quad (4.2)

:math:`\mathcal{L}_{MaxSim}` is InfoNCE (Eq. 3.6, :mod:`mathamr_kedro.model.losses`) on
normalised MaxSim scores (Eq. 3.8), :math:`\mathcal{L}_{doc}` on products of document
vectors (Eq. 4.1); both share the temperature :math:`\tau = \exp(t)`. Vectors of posts
are :class:`~mathamr_kedro.base.ragged.RaggedVectors` with the columns

=========  =====================================================
``kind``   formula, sentence or document
``label``  equal for formulas that look the same, 0 for none
``row``    position of each vector in the shards
=========  =====================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from typing import Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.learning.distillation import PatternTeacher, TextTeacher, is_formula
from mathamr_kedro.model import (
    Precision,
    info_nce,
    measure_accuracy,
    multi_positive_info_nce,
)
from mathamr_kedro.model.maxsim import maxsim, take_documents

INITIAL_TEMPERATURE = 0.05
"""Initial temperature of Eq. 3.6; it is learned (Table 4.5)."""

Teacher: TypeAlias = PatternTeacher | TextTeacher


@dataclass(frozen=True)
class LossConfig:
    """The minimised loss; the defaults are Table 4.5's."""

    objective: Literal["maxsim", "single_vector"] = "maxsim"
    """``single_vector`` compares only document vectors (thesis 4.3.2)."""
    beta: float = 1.0
    """Weight of the MaxSim loss against the document loss (Eq. 4.2)."""
    both_directions: bool = False
    """Also let each document find its query."""
    formula_weight: float = 0.0
    """Weight of the loss between single formulas of both posts (thesis 5.3)."""

    def __post_init__(self) -> None:
        check_range(self, "beta", least=0, most=1)
        check_range(self, "formula_weight", least=0)

    @property
    def uses_maxsim(self) -> bool:
        """Whether posts are compared by MaxSim."""
        return self.objective != "single_vector" and self.beta > 0

    @property
    def needs_documents(self) -> bool:
        """Whether each post must have a document vector."""
        return self.objective == "single_vector" or self.beta < 1


class LossValue(NamedTuple):
    """The loss of a batch, and how often the right document is ranked first."""

    loss: Tensor
    accuracy: Tensor


def formula_nce(
    queries: RaggedVectors, documents: RaggedVectors, temperature: Tensor
) -> Tensor:
    """InfoNCE between single formulas of a post and its pair.

    A formula should be nearer to equal-looking ones of its pair than to formulas of the
    batch that look different.
    """
    pair_of_anchor, pair_of_partner = map(_find_posts, (queries, documents))
    mine, theirs = queries.columns["label"][:, None], documents.columns["label"]
    # How a formula without a label looks is not known.
    both = is_formula(queries)[:, None] & is_formula(documents)
    both = both & (mine > 0) & (theirs > 0)
    equal = both & (mine == theirs)
    positive = equal & (pair_of_anchor[:, None] == pair_of_partner)
    counted = positive | (both & ~equal)
    scores = queries.vectors @ documents.vectors.T
    return multi_positive_info_nce(scores, temperature, positive, counted)


def _find_false_negatives(
    queries: RaggedVectors, documents: RaggedVectors
) -> Tensor | None:
    """(n, m) documents of other pairs of the batch that also answer a query.

    A question may have several answers, a lemma may serve many proofs: document j is
    an answer to query i if pair j has the same query, or the same document. ``None`` if
    the posts are not known.
    """
    if "row" not in queries.columns or "row" not in documents.columns:
        return None
    asked, found = (
        posts.columns["row"][posts.ptr[1:].long() - 1] for posts in (queries, documents)
    )
    same = found[: len(asked), None] == found
    same[:, : len(asked)] |= asked[:, None] == asked
    same.fill_diagonal_(False)
    return same


def _find_posts(posts: RaggedVectors) -> Tensor:
    """(P,) the post of each vector."""
    place = torch.arange(len(posts.vectors), device=posts.ptr.device)
    return torch.searchsorted(posts.ptr[1:], place.to(posts.ptr.dtype), right=True)


class ContrastiveLoss(nn.Module):
    """Eq. 4.2 with a learned temperature."""

    def __init__(
        self,
        config: LossConfig,
        precision: Precision = "fp32",
        teachers: Sequence[Teacher] = (),
    ) -> None:
        super().__init__()
        self.config, self.precision, self.teachers = config, precision, teachers
        self.log_temperature = nn.Parameter(torch.tensor(log(INITIAL_TEMPERATURE)))

    @property
    def temperature(self) -> Tensor:
        """The temperature exp(t)."""
        return self.log_temperature.exp()

    def forward(self, queries: RaggedVectors, documents: RaggedVectors) -> LossValue:
        """Compute the loss; document i belongs to query i, the rest are negatives."""
        config, tau = self.config, self.temperature
        weighted = self._score(queries, documents)
        false_negatives = _find_false_negatives(queries, documents)
        loss = torch.stack(
            [
                w * info_nce(s, tau, false_negatives, config.both_directions)
                for w, s in weighted
            ]
        ).sum()
        if config.formula_weight > 0:
            formulas = formula_nce(queries, documents, tau)
            loss = loss + config.formula_weight * formulas
        scores = weighted[0][1]
        maxsim_scores = scores if config.uses_maxsim else None
        for teacher in self.teachers:
            loss = loss + teacher.distil(queries, documents, tau, maxsim_scores)
        return LossValue(loss, measure_accuracy(scores))

    def _score(
        self, queries: RaggedVectors, documents: RaggedVectors
    ) -> list[tuple[float, Tensor]]:
        """Matrices of scores with their weights in Eq. 4.2, MaxSim first."""
        config = self.config
        is_single = config.objective == "single_vector"
        weighted = []
        if config.uses_maxsim:
            scores = maxsim(queries, documents, self.precision)
            weighted.append((config.beta, scores))
        if config.needs_documents:
            scores = take_documents(queries) @ take_documents(documents).T
            weighted.append((1.0 if is_single else 1 - config.beta, scores))
        return weighted
