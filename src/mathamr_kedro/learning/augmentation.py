"""Node masking and edge dropout (thesis 3.4.4), reproducible without hidden state.

Each number is a hash of (seed, step, stream, position), so a step draws the same
numbers on a CPU and on a GPU, in a captured CUDA graph, and after a training resumed
from a checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from mathamr_kedro.base.parameters import check_range
from mathamr_kedro.graph import GraphBatch

_MASK = 0xFFFFFFFF
_NODES, _FORWARD, _INVERSE = 1, 2, 3


@dataclass(frozen=True)
class AugmentationConfig:
    """Strength of the augmentation; the defaults are Table 4.5's."""

    node_mask: float = 0.1
    """Probability that a content node's type becomes MASK."""
    edge_dropout: float = 0.1
    """Probability that a directed content edge is dropped."""

    def __post_init__(self) -> None:
        check_range(self, "node_mask", "edge_dropout", least=0, below=1)


def mix_bits(x: Tensor) -> Tensor:
    """Mix 32 bits, so that each depends on all."""
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & _MASK
    x = ((x ^ (x >> 15)) * 0x846CA68B) & _MASK
    return x ^ (x >> 16)


def draw_uniform(key: Tensor, stream: int, count: int) -> Tensor:
    """(count,) numbers in [0, 1), a pure function of key, stream and position."""
    position = torch.arange(count, device=key.device)
    start = mix_bits((key + stream * 0x9E3779B9) & _MASK)
    return (mix_bits(mix_bits(position ^ start) ^ (start >> 3)) >> 8).float() * 2.0**-24


def step_key(seed: int, step: int) -> int:
    """The key of one step of a training."""
    key = torch.tensor(0x9E3779B9)
    for part in (seed, step, 0):  # one more round mixes the step
        key = mix_bits((key * 5 + part) & _MASK)
    return int(key)


def augment(
    batch: GraphBatch, config: AugmentationConfig, key: Tensor
) -> tuple[GraphBatch, Tensor | None]:
    """Mask nodes and drop edges, except virtual nodes and their edges.

    Directed edges are dropped independently, an edge and its inverse too. Dropped edges
    leave the neighbourhood, so means are over the remaining edges.
    """
    if config.node_mask > 0:
        drawn = draw_uniform(key, _NODES, batch.num_nodes)
        masked = (drawn < config.node_mask) & ~batch.is_virtual()
        types = torch.where(masked, batch.schema.mask_type, batch.node_type)
        batch = replace(batch, node_type=types)
    if config.edge_dropout == 0:
        return batch, None
    fixed = batch.joins_virtual()
    # Two streams, so that spare edges between the halves change no draw.
    count = batch.source.numel()
    halves = [draw_uniform(key, stream, count) for stream in (_FORWARD, _INVERSE)]
    return batch, torch.cat([(h >= config.edge_dropout) | fixed for h in halves])
