r"""Formula vectors that agree with the paths of formula trees.

A formula of the tree store is a bag of paths: its symbols, and two symbols with the
edges down from the first to the second::

    x^2 + y  (SLT)    V!x   N!2   +   V!y                       paths of no edge
                      V!x a N!2   V!x n +   + n V!y             of one
                      V!x nn V!y                                of two

Bags are sound judges of likeness (BM25 over them is the baseline to beat), but need an
index of terms and know nothing of the text around. The vectors :math:`t_i` of the bags
are the *teacher*: weights are :math:`\sqrt{\text{tf} \cdot \text{idf}}`, put into a
few hundred dimensions by random signs. What a batch says about the formulas of
documents for a formula of a query should be what the teacher says:

.. math::
    \mathcal{L} = \frac{1}{n} \sum_i \text{KL}\left(
        \text{softmax}_j(t_i^\top t_j / \tau_t) \,\|\,
        \text{softmax}_j(z_i^\top z_j / \tau)\right)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from mathamr_kedro.errors import ConfigurationError
from mathamr_kedro.graph.batches import GraphBatch
from mathamr_kedro.graph.tensor_shards import GraphShards
from mathamr_kedro.graph.tensors import FORMULA
from mathamr_kedro.learning.augmentation import mix_bits
from mathamr_kedro.learning.maxsim import MultiVectors

_GRAPHS = 256
"""Graphs described at once."""
_HALF = 11
_TERM_BITS = 2 * _HALF
"""Paths are told apart by so many bits."""


@dataclass(frozen=True)
class DistillationConfig:
    """How much formula vectors learn from the paths of their trees."""

    weight: float = 0.0
    """Of this loss beside the contrastive ones; 0: no distillation."""
    temperature: float = 0.1
    """Of the teacher: lower ones look at the nearest formulas alone."""
    path_length: int = 3
    """Edges of the longest paths."""
    dimension: int = 256
    """Of the teacher's vectors."""
    document_weight: float = 0.0
    """Of the same loss between document vectors and those of a sentence encoder."""
    document_temperature: float = 0.05
    document_vectors: str | None = None
    """``.npy`` file with a vector of the sentence encoder for each graph."""

    def __post_init__(self) -> None:
        for name in ("weight", "document_weight", "path_length"):
            if getattr(self, name) < 0:
                raise ConfigurationError(
                    f"Expected {name} of at least 0 in distillation "
                    f"(got {getattr(self, name)!r})"
                )
        for name in ("temperature", "document_temperature", "dimension"):
            if getattr(self, name) <= 0:
                raise ConfigurationError(
                    f"Expected a positive {name} in distillation "
                    f"(got {getattr(self, name)!r})"
                )


def list_paths(batch: GraphBatch, longest: int) -> tuple[Tensor, Tensor]:
    """List the paths inside formulas: (M,) virtual nodes, and (M,) terms for paths.

    The virtual node is a position in ``batch.virtual_node``; equal terms are equal
    paths, up to collisions of their bits.
    """
    schema, kinds = batch.schema, batch.node_type.long()
    owner = _find_owners(batch)
    source, target = batch.source.long(), batch.target.long()
    inside = (owner[source] >= 0) & (owner[source] == owner[target])
    # Trees: one edge comes in. The largest is taken where a graph has several.
    step = torch.where(inside, source * schema.num_forward + batch.relation.long(), -1)
    above = torch.full_like(owner, -1)
    above = above.scatter_reduce(0, target, step, "amax")
    node = torch.arange(len(owner), device=owner.device)
    start, path = node, torch.zeros_like(node)
    alive = owner >= 0
    owners, terms = [], []
    for length in range(longest + 1):
        ends = mix_bits(mix_bits(kinds[start] * 8 + length) ^ path) ^ kinds
        owners.append(owner[alive])
        terms.append(mix_bits(ends)[alive] & ((1 << _TERM_BITS) - 1))
        alive = alive & (above[start] >= 0)
        edge = above[start].clamp(min=0)
        path = mix_bits(path + edge % schema.num_forward + 1)
        start = torch.where(alive, edge // schema.num_forward, start)
    return torch.cat(owners), torch.cat(terms)


def _find_owners(batch: GraphBatch) -> Tensor:
    """(N,) position of the formula that a node belongs to; -1 for none."""
    kind = batch.node_type.long()[batch.virtual_node.long()]
    is_formula = kind == batch.schema.num_node_types + FORMULA
    owner = torch.full_like(batch.node_type.long(), -1)
    position = batch.member_of.long()
    value = torch.where(is_formula[position], position, -1)
    return owner.scatter_reduce(0, batch.member.long(), value, "amax")


class PathTeacher:
    """The vectors of the bags of all formulas in some shards."""

    def __init__(
        self, shards: GraphShards, config: DistillationConfig, device: torch.device
    ) -> None:
        self.weight, self.config = config.weight, config
        rows = int(shards.offsets["representative"][-1])
        # One row more, of zeros, for formulas that stand in no shard.
        self.vectors = torch.zeros(
            rows + 1, config.dimension, dtype=torch.float16, device=device
        )
        # The signs of a term are products: of those of its upper and its lower bits.
        shape = (2, 1 << _HALF, config.dimension)
        signs = torch.randint(2, shape, generator=torch.Generator().manual_seed(0))
        self._signs = (signs * 2 - 1).float().to(device)
        weights = self._weigh_terms(shards, device)
        for batch in _read(shards, device):
            self._describe(batch, weights)

    def _weigh_terms(self, shards: GraphShards, device: torch.device) -> Tensor:
        """Weights of terms by the number of formulas that have them."""
        found = torch.zeros(1 << _TERM_BITS, dtype=torch.int64, device=device)
        total = 0
        for batch in _read(shards, device):
            owners, terms, _ = self._count(batch)
            found += torch.bincount(terms, minlength=len(found))
            total += len(owners.unique())
        return torch.log((total + 1) / (found + 0.5)).clamp(min=0).sqrt()

    def _count(self, batch: GraphBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Formulas, rising, their different terms, and how often each occurs."""
        owners, terms = list_paths(batch, self.config.path_length)
        both, counts = torch.unique(owners << _TERM_BITS | terms, return_counts=True)
        return both >> _TERM_BITS, both & ((1 << _TERM_BITS) - 1), counts

    def _describe(self, batch: GraphBatch, weights: Tensor) -> None:
        owners, terms, counts = self._count(batch)
        if not len(owners):
            return
        values = counts.float().sqrt() * weights[terms]
        upper, lower = self._signs
        signed = upper[terms >> _HALF] * lower[terms & ((1 << _HALF) - 1)]
        signed *= values[:, None]
        formulas, lengths = torch.unique_consecutive(owners, return_counts=True)
        bags = torch.segment_reduce(signed, "sum", lengths=lengths, unsafe=True)
        row_of = torch.full((batch.num_nodes,), -1, device=owners.device)
        row_of[batch.representative.long()] = batch.representative_row.long()
        rows = row_of[batch.virtual_node.long()[formulas]]
        self.vectors[rows] = F.normalize(bags, dim=1).half()  # -1: the spare row
        self.vectors[-1] = 0

    def distil(
        self, queries: MultiVectors, documents: MultiVectors, temperature: Tensor
    ) -> Tensor:
        """The loss between the formulas of queries and those of documents."""
        q, d = (self.vectors[p.row.long()].float() for p in (queries, documents))
        anchor, partner = ((t.abs().amax(1) > 0) & p.is_formula()
                           for t, p in ((q, queries), (d, documents)))  # fmt: skip
        return self.weight * compare_likeness(
            q @ d.T / self.config.temperature,
            queries.vectors @ documents.vectors.T / temperature,
            anchor,
            partner,
        )


class TextTeacher:
    """The vectors that a sentence encoder gave to all posts of some shards."""

    def __init__(
        self,
        vectors: Tensor,
        shards: GraphShards,
        config: DistillationConfig,
        posts: int | None = None,
    ) -> None:
        """Take a row for each of the first ``posts`` graphs; the others have none."""
        posts = len(shards) if posts is None else posts
        if vectors.ndim != 2 or len(vectors) != posts:
            raise ConfigurationError(
                f"Expected a vector for each of {posts} graphs in "
                f"distillation.document_vectors (got shape {tuple(vectors.shape)})"
            )
        vectors = F.pad(vectors, (0, 0, 0, len(shards) - posts))
        self.weight, self.config = config.document_weight, config
        ends = torch.from_numpy(shards.offsets["representative"][1:])
        self._ends = ends.to(vectors.device)
        self._vectors = F.normalize(vectors, dim=1)

    def distil(
        self, queries: MultiVectors, documents: MultiVectors, temperature: Tensor
    ) -> Tensor:
        """The loss between the document vectors of queries and of documents."""
        q, d = (self._find(p) for p in (queries, documents))
        anchor, partner = (t.abs().amax(1) > 0 for t in (q, d))
        return self.weight * compare_likeness(
            q @ d.T / self.config.document_temperature,
            queries.documents() @ documents.documents().T / temperature,
            anchor,
            partner,
        )

    def _find(self, posts: MultiVectors) -> Tensor:
        last = posts.row.long()[posts.ptr[1:].long() - 1]
        return self._vectors[torch.searchsorted(self._ends, last, right=True)]


Teacher: TypeAlias = PathTeacher | TextTeacher


def compare_likeness(
    wanted: Tensor, found: Tensor, anchor: Tensor, partner: Tensor
) -> Tensor:
    """Mean KL divergence of rows of softmaxed likeness; what is not marked is out."""
    lowest = torch.finfo(torch.float32).min
    losses = F.kl_div(
        F.log_softmax(found.float().masked_fill(~partner, lowest), 1),
        F.log_softmax(wanted.masked_fill(~partner, lowest), 1),
        reduction="none",
        log_target=True,
    ).sum(1)
    counted = anchor & partner.any()
    return torch.where(counted, losses, 0.0).sum() / counted.sum().clamp(min=1)


def _read(shards: GraphShards, device: torch.device) -> Iterator[GraphBatch]:
    for start in range(0, len(shards), _GRAPHS):
        chosen = np.arange(start, min(start + _GRAPHS, len(shards)))
        yield shards.assemble(chosen).to(device)
