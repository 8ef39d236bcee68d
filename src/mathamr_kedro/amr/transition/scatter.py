"""``torch_scatter`` with the one function that the transition parser calls.

Compiling the package takes half an hour, and a CUDA compiler for GPUs.
``build_environment.sh`` puts this file under its name unless told otherwise. It reads
on Python 3.8 and imports nothing of this project.
"""

from __future__ import annotations

import torch

__version__ = "0"


def scatter_mean(src: torch.Tensor, index: torch.Tensor, dim: int = -1) -> torch.Tensor:
    """Average the slices of ``src`` that have the same index along ``dim``.

    Args:
        src: values.
        index: where each goes; broadcast to the shape of ``src``.
        dim: along which dimension.

    >>> scatter_mean(torch.tensor([1.0, 3.0, 5.0]), torch.tensor([0, 0, 2]))
    tensor([2., 0., 5.])
    """
    index = index.expand_as(src)
    shape = list(src.shape)
    shape[dim] = int(index.max()) + 1 if index.numel() else 0
    total = torch.zeros(shape, dtype=src.dtype, device=src.device)
    count = torch.zeros_like(total)
    total.scatter_add_(dim, index, src)
    count.scatter_add_(dim, index, torch.ones_like(src))
    return total / count.clamp(min=1)
