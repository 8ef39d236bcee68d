r"""The two losses by which the encoder is fine-tuned, over vectors of length 1.

Contrastive (Chopra, Hadsell and LeCun 2005), for pairs with a score :math:`y` of
1 (high, medium), 0.5 (low) or 0, the distance :math:`d = 1 - \cos` and a margin
:math:`m`:

.. math::
    \mathcal{L}_C = \frac{1}{2B} \sum_i y_i d_i^2 + (1 - y_i) \max(0, m - d_i)^2

Multiple negatives (Henderson et al. 2017), for pairs of score 1 with the scale
:math:`s`; candidates of other pairs are negatives, unless they are candidates of the
same query, or the same text:

.. math::
    \mathcal{L}_N = -\frac{1}{B} \sum_i \log \frac{e^{s \cos(q_i, c_i)}}
        {\sum_{j \in N_i} e^{s \cos(q_i, c_j)}}, \quad
    N_i = \{i\} \cup \{j : q_j \ne q_i, c_j \ne c_i\}
"""

from __future__ import annotations

import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from mathamr_kedro.model import info_nce

_MARGIN = 0.5
"""Distance that unrelated formulas keep; the paper names none."""
_SCALE = 20.0
"""Of cosines, as in sentence-transformers."""


def contrastive_loss(queries: Tensor, candidates: Tensor, scores: Tensor) -> Tensor:
    r"""Return :math:`\mathcal{L}_C`.

    Args:
        queries: (B, k) of length 1.
        candidates: (B, k) of length 1.
        scores: (B,) from 0 to 1.
    """
    distance = 1.0 - (queries * candidates).sum(1)
    near = scores * distance.square()
    far = (1.0 - scores) * F.relu(_MARGIN - distance).square()
    return 0.5 * (near + far).mean()


def multiple_negatives_loss(
    queries: Tensor, candidates: Tensor, query_ids: Tensor, candidate_ids: Tensor
) -> Tensor:
    r"""Return :math:`\mathcal{L}_N`.

    Args:
        queries: (B, k) of length 1.
        candidates: (B, k) of length 1.
        query_ids: (B,) equal for equal texts.
        candidate_ids: (B,) equal for equal texts.
    """
    same = (query_ids[:, None] == query_ids) | (candidate_ids[:, None] == candidate_ids)
    same.fill_diagonal_(False)
    return info_nce(_SCALE * queries @ candidates.T, temperature=1.0, excluded=same)
