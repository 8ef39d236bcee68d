r"""The relational convolution one neighbourhood at a time, as Eq. 2.4 is written.

.. math::
    h_i = W_0 x_i + b + \sum_{r \in \mathcal{R}} \sum_{j \in \mathcal{N}_i^r}
          \frac{1}{|\mathcal{N}_i^r|} W_r (x_j + e_r)

Slow and plain, in ``float64``: the reference of the fast backends in tests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import TypeAlias

import torch
from torch import Tensor

from mathamr_kedro.graph import GraphBatch

_Neighbourhoods: TypeAlias = Mapping[tuple[int, int], list[int]]
"""The sources of the edges into node ``i`` by relation ``r``, for each (i, r)."""


class ReferenceBackend:
    """Eq. 2.4 as a loop."""

    name = "reference"

    def prepare(self, batch: GraphBatch, keep: Tensor | None = None) -> _Neighbourhoods:
        """Collect the neighbourhoods of a batch, without dropped edges."""
        source, target, relation = (t.tolist() for t in batch.list_edges())
        dropped = [] if keep is None else (~keep).nonzero().flatten().tolist()
        gone = set(dropped)
        members: dict[tuple[int, int], list[int]] = defaultdict(list)
        for e, (j, i, r) in enumerate(zip(source, target, relation, strict=True)):
            if e not in gone:
                members[i, r].append(j)
        return members

    def convolve(
        self,
        x: Tensor,
        weight: Tensor,
        root: Tensor,
        bias: Tensor,
        shift: Tensor | None,
        graph: _Neighbourhoods,
    ) -> Tensor:
        """Compute Eq. 2.4 before the activation.

        Args:
            x: (N, d) node states.
            weight: (R, d, d) matrices, applied from the right: ``x @ weight[r]``.
            root: (d, d) the self-loop matrix.
            bias: (d,)
            shift: (R, d) edge-attribute vectors times their matrices, or ``None``.
            graph: from :meth:`prepare`.
        """
        incoming: list[list[Tensor]] = [[] for _ in range(len(x))]
        for (i, r), neighbours in graph.items():
            mean = torch.stack([x[j] @ weight[r] for j in neighbours]).mean(0)
            incoming[i].append(mean if shift is None else mean + shift[r])
        zero = torch.zeros_like(bias)
        sums = [torch.stack(parts).sum(0) if parts else zero for parts in incoming]
        return x @ root + bias + torch.stack(sums)
