"""Hard negatives: documents that look like the right one and are not.

Candidates are the documents of the training pairs. Which of them are right for a pair
is decided by groups: pairs are of one group if they share a question or a document, if
two of their documents are the same graph, or if their questions are linked as
duplicates; so are pairs of pairs, and so on. A negative is always of another group::

    pair 0  q1 a1 ─ same question ─ pair 1  q1 a2 ─ equal graphs ─ pair 2  q2 a3
    pair 3  q4 a4     negatives of pair 0: a4 alone
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.progress import report_progress
from mathamr_kedro.base.ragged import RaggedVectors
from mathamr_kedro.graph import GraphShards
from mathamr_kedro.learning.encoding import encode_shards
from mathamr_kedro.learning.pairs import NOTHING, Positions, TrainingPairs
from mathamr_kedro.model import MathAMRPlus
from mathamr_kedro.model.maxsim import maxsim, take_documents

_BLOCK = {"cpu": (64, 1024), "cuda": (1024, 4096)}
"""Queries and documents that are compared at once."""


@dataclass(frozen=True)
class NegativesConfig:
    """Where hard negatives come from, beyond the thesis."""

    source: Literal["none", "bm25", "model"] = "none"
    """``bm25``: words and LaTeX tokens of question and answer; ``model``: an encoder
    that was trained without them."""
    kept: int = 8
    """Negatives that each pair keeps; an epoch draws ``hard_negatives`` of them."""
    skip: int = 3
    """The nearest are skipped: many of them are right answers that nobody marked."""
    pool: int | None = None
    """Documents to search among, drawn by the seed; ``None``: all."""
    rounds: int = 1
    """``model``: trainings after the first, each from the weights of the one before and
    with the negatives that those find."""
    compare: Literal["maxsim", "document"] = "maxsim"
    """``model``: by all vectors, or by document vectors alone (far less work)."""

    def __post_init__(self) -> None:
        for name, least in (("kept", 1), ("skip", 0), ("rounds", 1)):
            if getattr(self, name) < least:
                raise ConfigurationError(
                    f"Expected {name} of at least {least} (got {getattr(self, name)!r})"
                )
        if self.pool is not None and self.pool < 2:
            raise ConfigurationError(
                f"Expected a pool of at least 2 documents (got {self.pool!r})"
            )


def group_pairs(
    pairs: TrainingPairs,
    shards: GraphShards,
    duplicates: Iterable[tuple[int, int]] = (),
) -> Positions:
    """(N,) the group of each pair; documents of one group are right for all of it.

    Args:
        pairs: questions and documents.
        shards: their graphs; equal ones count as one document.
        duplicates: positions of questions that ask the same.
    """
    parent: dict[object, object] = {}

    def find(item: object) -> object:
        while parent.setdefault(item, item) != item:
            parent[item] = parent[parent[item]]
            item = parent[item]
        return item

    for query, document in zip(pairs.queries, pairs.documents, strict=True):
        content = ("content", _checksum_graph(shards, int(document)))
        for other in (int(document), content):
            parent[find(other)] = find(int(query))
    for one, two in duplicates:
        parent[find(two)] = find(one)
    numbers: dict[object, int] = {}
    groups = [numbers.setdefault(find(int(q)), len(numbers)) for q in pairs.queries]
    return np.array(groups, dtype=np.int64)


def _checksum_graph(shards: GraphShards, position: int) -> bytes:
    """Digest of a graph's nodes and edges."""
    graph = shards.graph(position)
    digest = hashlib.blake2b(digest_size=16)
    for values in (graph.node_type, graph.source, graph.target, graph.relation):
        digest.update(len(values).to_bytes(8, "little"))
        digest.update(np.ascontiguousarray(values).tobytes())
    return digest.digest()


def mine_by_model(
    model: MathAMRPlus,
    shards: GraphShards,
    pairs: TrainingPairs,
    config: NegativesConfig,
    seed: int,
    groups: Positions | None = None,
) -> Positions:
    """(N, kept) positions of the wrong documents that a model finds nearest.

    ``NOTHING`` stands where there are fewer. Ties go to the document that comes first.
    """
    groups = group_pairs(pairs, shards) if groups is None else groups
    pool = pairs.draw_documents(config.pool, seed)
    device = model.head.inner.weight.device
    rows, columns = _BLOCK.get(device.type, _BLOCK["cpu"])
    # Vectors of the pool stay on the host: a block at a time goes to the device.
    documents = _encode(model, shards, pairs.documents[pool], columns)
    pool_groups = torch.from_numpy(groups[pool]).to(device)
    wanted = min(config.skip + config.kept, len(pool))
    mined = np.full((len(pairs), config.kept), NOTHING, dtype=np.int64)
    starts = range(0, len(pairs), rows)
    named = "blocks of pairs searched for negatives"
    for start in report_progress(starts, named, total=len(starts)):
        chosen = slice(start, start + rows)
        (queries,) = _encode(model, shards, pairs.queries[chosen], rows)
        mine = torch.from_numpy(groups[chosen]).to(device)
        scores = torch.cat(
            [_compare(queries, block, config, device) for block in documents], 1
        )
        scores.masked_fill_(mine[:, None] == pool_groups, -torch.inf)
        order = torch.sort(scores, dim=1, descending=True, stable=True)
        best, value = order.indices[:, :wanted].cpu(), order.values[:, :wanted].cpu()
        found = pairs.documents[pool[best.numpy()]]
        found = np.where(np.isinf(value.numpy()), NOTHING, found)
        kept = found[:, config.skip :]
        mined[chosen, : kept.shape[1]] = kept
    return mined


@torch.no_grad()
def _compare(
    queries: RaggedVectors,
    documents: RaggedVectors,
    config: NegativesConfig,
    device: torch.device,
) -> Tensor:
    q, d = (p.to(device) for p in (queries, documents))
    if config.compare == "document":
        return take_documents(q) @ take_documents(d).T
    return maxsim(q, d)


def _encode(
    model: MathAMRPlus, shards: GraphShards, positions: Positions, block: int
) -> list[RaggedVectors]:
    """Vectors of some posts on the host, a block of posts after another."""
    blocks = []
    for start in range(0, len(positions), block):
        part = positions[start : start + block]
        encoded = [
            replace(e, vectors=e.vectors.copy(), columns={})
            for e in encode_shards(model, shards, part)
        ]
        blocks.append(RaggedVectors.join(encoded).to("cpu"))
    return blocks
