"""Asynchronous copies from a device to the host."""

from __future__ import annotations

import torch
from torch import Tensor


class HostCopy:
    """A copy on the CPU; from a GPU in pinned memory, while both work on.

    ::

        copy = HostCopy(scores)     # the host continues
        values = copy.wait()        # until here
    """

    def __init__(self, values: Tensor) -> None:
        self._here = values
        self._arrived: torch.cuda.Event | None = None
        if values.device.type == "cuda":
            # Copies to memory that is not pinned block the host until they are done.
            self._here = torch.empty(values.shape, dtype=values.dtype, pin_memory=True)
            self._here.copy_(values, non_blocking=True)
            self._arrived = torch.cuda.Event()
            self._arrived.record()

    def wait(self) -> Tensor:
        """Wait for the copy and return its values."""
        if self._arrived is not None:
            self._arrived.synchronize()
        return self._here
