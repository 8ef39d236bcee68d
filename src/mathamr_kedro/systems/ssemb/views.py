r"""Two views of a formula: the augmentations of SSEmb and of its ablations.

```
substitution       a leaf (probability p1), the parent of a leaf (p2), its parent (p3)
                   takes a random wildcard and loses what hangs below it
attribute masking  labels are hidden
node dropping      nodes go, with their edges                   (GraphCL)
edge perturbation  edges go, as many come between random nodes  (GraphCL)
```

They work on a whole batch at once. Chance comes as numbers that were drawn before
(:class:`Draws`), so a slow twin can see the same.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from mathamr_kedro.systems.ssemb.config import AugmentationConfig
from mathamr_kedro.systems.ssemb.graphs import MASK, WILDCARDS, GraphBatch


class Draws(NamedTuple):
    """Numbers drawn for one view of a batch, uniform between 0 and 1."""

    substitution: Tensor
    """(orders, N) a node is chosen in an order if it is below the probability."""
    wildcard: Tensor
    """(N,) which wildcard the node would take."""
    masking: Tensor
    """(N,)"""
    dropping: Tensor
    """(N,)"""
    perturbation: Tensor
    """(E,)"""
    ends: Tensor
    """(2, E) both ends of the edge that would come instead."""

    @classmethod
    def draw(cls, batch: GraphBatch, orders: int, chance: torch.Generator) -> Draws:
        """Draw on the CPU, so that every device sees the same views."""
        nodes, edges = len(batch.labels), batch.edges.shape[1]
        shapes = ((orders, nodes), nodes, nodes, nodes, edges, (2, edges))
        device = batch.labels.device
        return cls(*(torch.rand(s, generator=chance).to(device) for s in shapes))


def make_view(
    batch: GraphBatch, config: AugmentationConfig, draws: Draws
) -> GraphBatch:
    """Return the graphs as they look after all augmentations of a configuration.

    Args:
        batch: whole graphs.
        config: rates.
        draws: what chance decides.
    """
    labels, stays = _substitute(batch, config.substitution, draws)
    labels = labels.masked_fill(draws.masking < config.attribute_masking, MASK)
    kept = _find_reachable(batch._replace(edges=batch.edges[:, stays]))
    if config.node_dropping:
        dropped = draws.dropping < config.node_dropping
        dropped[batch.ptr[:-1]] = False  # no graph loses all of its nodes
        kept &= ~dropped
    moved = draws.perturbation < config.edge_perturbation
    edges = torch.where(moved, _draw_edges(batch, draws.ends), batch.edges)
    return GraphBatch(labels, edges[:, stays], batch.ptr).keep(kept)


def _substitute(
    batch: GraphBatch, probabilities: tuple[float, ...], draws: Draws
) -> tuple[Tensor, Tensor]:
    """(N,) labels with wildcards, and (E,) which edges do not start at one."""
    parents, children = batch.edges
    level = torch.ones_like(batch.labels, dtype=torch.bool)
    level[parents] = False  # leaves
    chosen = torch.zeros_like(level)
    for probability, drawn in zip(probabilities, draws.substitution, strict=True):
        chosen |= level & (drawn < probability)
        above = torch.zeros_like(level)
        above[parents[level[children]]] = True
        level = above
    wildcard = WILDCARDS.start + (draws.wildcard * len(WILDCARDS)).long()
    return torch.where(chosen, wildcard, batch.labels), ~chosen[parents]


def _find_reachable(batch: GraphBatch) -> Tensor:
    """(N,) whether a path leads from the root of its graph to a node."""
    parents, children = batch.edges
    reached = torch.zeros_like(batch.labels, dtype=torch.bool)
    reached[batch.ptr[:-1]] = True
    while True:  # once for each level of the deepest graph
        further = reached.clone()
        further[children[reached[parents]]] = True
        if torch.equal(further, reached):
            return reached
        reached = further


def _draw_edges(batch: GraphBatch, ends: Tensor) -> Tensor:
    """(2, E) an edge between two nodes of the same graph in place of each edge."""
    graph = batch.graph_of[batch.edges[0]]
    return batch.ptr[graph] + (ends * batch.ptr.diff()[graph]).long()
