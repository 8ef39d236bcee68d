"""Training by several processes at once (torchrun), with negatives from all of them.

Each process encodes its part of a batch; the vectors are gathered, so each computes the
loss of the whole batch::

    process 0   posts 0..15  ─ encode ─> z 0..15 ─┐            ┌─> loss of 32 pairs
                                                  ├─ gather ───┤
    process 1   posts 16..31 ─ encode ─> z 16..31 ┘            └─> loss of 32 pairs

Backwards each process continues with the gradient of only its own vectors, and the
gradients of the weights are summed. That is exactly the gradient of the whole batch.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.ragged import RaggedVectors


@dataclass(frozen=True)
class Processes:
    """This process among those of a training."""

    rank: int = 0
    count: int = 1

    @classmethod
    @contextmanager
    def join(cls, device: torch.device) -> Iterator[tuple[Processes, torch.device]]:
        """Find the processes that torchrun started, and the device of this one."""
        count = int(os.environ.get("WORLD_SIZE", "1"))
        if count == 1:
            yield cls(), device
            return
        if device.type == "cuda":
            device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
            torch.cuda.set_device(device)
        is_mine = not dist.is_initialized()
        if is_mine:
            dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        try:
            yield cls(dist.get_rank(), dist.get_world_size()), device
        finally:
            if is_mine:
                dist.destroy_process_group()

    @property
    def leads(self) -> bool:
        """Whether this process writes files and logs."""
        return self.rank == 0

    def gather_pairs(
        self, queries: RaggedVectors, documents: RaggedVectors
    ) -> tuple[RaggedVectors, RaggedVectors]:
        """Queries and documents of all processes."""
        if self.count == 1:
            return queries, documents
        return _gather_posts(self, queries), _gather_posts(self, documents)

    def sum_gradients(
        self, weights: Sequence[Tensor], shared: Sequence[Tensor]
    ) -> None:
        """Add up the gradients of all processes in place.

        Args:
            weights: parameters that each process has a part of the gradient of.
            shared: parameters that each process has the whole gradient of.
        """
        if self.count == 1:
            return
        parts = [p.grad for p in weights if p.grad is not None]
        whole = [p.grad for p in shared if p.grad is not None]
        flat = torch.cat(
            [g.flatten() for g in parts] + [g.flatten() / self.count for g in whole]
        )
        dist.all_reduce(flat)
        grads = parts + whole
        pieces = flat.split([g.numel() for g in grads])
        for grad, piece in zip(grads, pieces, strict=True):
            grad.copy_(piece.view_as(grad))

    def sum_values(self, values: Tensor) -> Tensor:
        """Add up a tensor over all processes."""
        if self.count > 1:
            dist.all_reduce(values)
        return values

    def check_agreement(self, training: str) -> None:
        """Refuse processes that would train something else, or from another step.

        Args:
            training: which one this process resumes, and from which step.
        """
        said = [training] * self.count
        if self.count > 1:
            dist.all_gather_object(said, training)
        if len(set(said)) > 1:
            raise ConfigurationError(
                "Expected all processes to resume the same training (process "
                f"{self.rank} has {training}); machines need the same graphs, pairs "
                "and settings, and a common folder for --out"
            )

    def wait(self) -> None:
        """Wait until all processes are here."""
        if self.count > 1:
            dist.barrier()


class _GatherRows(torch.autograd.Function):
    """Rows of all processes, by rank; only the own ones have a gradient."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, counts: list[int], rank: int) -> Tensor:
        room = rows.new_zeros(max(counts), *rows.shape[1:])
        room[: len(rows)] = rows
        parts = [torch.empty_like(room) for _ in counts]
        dist.all_gather(parts, room)
        ctx.start, ctx.end = sum(counts[:rank]), sum(counts[: rank + 1])
        return torch.cat([p[:n] for p, n in zip(parts, counts, strict=True)])

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        return grad[ctx.start : ctx.end], None, None


def _gather_posts(processes: Processes, posts: RaggedVectors) -> RaggedVectors:
    """The vectors of all processes; each has the same number of posts."""
    lengths = posts.ptr.diff()
    parts = [torch.empty_like(lengths) for _ in range(processes.count)]
    dist.all_gather(parts, lengths)
    counts = torch.stack(parts).sum(1).tolist()
    mine = slice(int(posts.ptr[0]), int(posts.ptr[-1]))

    def gather(rows: Tensor) -> Tensor:
        found: Tensor = _GatherRows.apply(rows[mine], counts, processes.rank)
        return found

    ends = torch.cat(parts).cumsum(0, dtype=posts.ptr.dtype)
    return RaggedVectors(
        gather(posts.vectors),
        nn.functional.pad(ends, (1, 0)),
        {name: gather(column) for name, column in posts.columns.items()},
    )
