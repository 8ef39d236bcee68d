"""Choice of the implementation of the relational convolution."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

import torch
from torch import Tensor

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.graph import GraphBatch
from mathamr_kedro.model.config import BackendName, Precision
from mathamr_kedro.model.reference_backend import ReferenceBackend
from mathamr_kedro.model.torch_backend import TorchBackend

TRITON_DIMS = (16, 32, 64, 128)
"""Widths of vectors that the Triton kernels are written for."""

_TRITON_CAPABILITY = (8, 0)


class Backend(Protocol):
    """One way to compute the relational convolution."""

    name: str

    def prepare(self, batch: GraphBatch, keep: Tensor | None = None) -> Any:
        """Arrange a batch for this backend, without dropped edges."""

    def convolve(
        self,
        x: Tensor,
        weight: Tensor,
        root: Tensor,
        bias: Tensor,
        shift: Tensor | None,
        graph: Any,
    ) -> Tensor:
        """Compute Eq. 2.4 before the activation."""


def choose_backend(
    name: BackendName, precision: Precision, device: torch.device, hidden_dim: int
) -> Backend:
    """Make the backend of a name; ``auto`` takes the fastest that can run."""
    if name == "auto":
        name = "triton" if can_use_triton(device, hidden_dim) else "torch"
    if name == "reference":
        return ReferenceBackend()
    if name == "torch":
        return TorchBackend(precision)
    if hidden_dim not in TRITON_DIMS:
        raise ConfigurationError(
            f"Expected hidden_dim to be one of {list(TRITON_DIMS)} for backend "
            f"'triton' (got {hidden_dim!r}); use backend 'torch'"
        )
    if find_spec("triton") is None:
        raise ConfigurationError(
            "Expected the package triton for backend 'triton'; use backend 'torch'"
        )
    module = import_module("mathamr_kedro.model.triton_backend")
    backend: Backend = module.TritonBackend(precision)
    return backend


def can_use_triton(device: torch.device, width: int) -> bool:
    """Whether the Triton kernels run on this device for vectors of this width."""
    return (
        device.type == "cuda"
        and width in TRITON_DIMS
        and find_spec("triton") is not None
        and torch.cuda.get_device_capability(device) >= _TRITON_CAPABILITY
    )
