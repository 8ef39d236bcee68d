"""Shape of an encoder, and how it is computed; the defaults are Table 4.5's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch

from mathamr_kedro.base.errors import ConfigurationError
from mathamr_kedro.base.parameters import check_range

VirtualInit: TypeAlias = Literal[
    "zero",
    "zero_embedding",
    "random_embedding",
    "mean",
    "mean_projection",
    "mean_typed_projection",
]
"""Initialisations of virtual nodes (Table 4.13)."""

BackendName: TypeAlias = Literal["auto", "reference", "torch", "triton"]
Precision: TypeAlias = Literal["fp32", "tf32", "bf16"]


@dataclass(frozen=True)
class ModelConfig:
    """Shape of the encoder."""

    hidden_dim: int = 64
    projection_dim: int = 32
    num_layers: int = 4
    decomposition: Literal["basis", "none"] = "basis"
    num_bases: int = 64
    """Shared matrices of ``basis`` (thesis 2.4.3)."""
    virtual_init: VirtualInit = "zero_embedding"
    edge_attributes: bool = True
    """Add a learned vector per relation to each neighbour (thesis 3.3.2)."""
    content_edges: bool = True
    """Whether messages run along AMR, OPT and SLT edges; without them a formula or a
    sentence is the bag of its nodes (an ablation)."""
    readout_dim: int = 0
    """Features of members that virtual nodes pool at the end; 0: none, as in the
    thesis."""
    text_dim: int = 0
    """Width of the sentence encoder's vectors that document nodes read; 0: none, as in
    the thesis."""

    def __post_init__(self) -> None:
        shape = ("hidden_dim", "projection_dim", "num_layers", "num_bases")
        check_range(self, *shape, least=1)
        check_range(self, "readout_dim", "text_dim", least=0)


@dataclass(frozen=True)
class ComputeConfig:
    """Where and how the encoder is computed; changes no result beyond rounding."""

    device: str = "auto"
    """``auto`` takes the GPU if there is one."""
    backend: BackendName = "auto"
    precision: Precision = "fp32"

    def __post_init__(self) -> None:
        if self.device == "auto":
            return
        try:
            torch.device(self.device)
        except RuntimeError as exc:
            raise ConfigurationError(
                "Expected 'auto', 'cpu' or a GPU such as 'cuda:0' for device (got "
                f"{self.device!r})"
            ) from exc

    def check_machine(self) -> None:
        """Raise if the chosen GPU does not exist."""
        device = self.choose_device()
        if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
            raise ConfigurationError(
                f"Expected device {self.device!r} to be on this machine (torch sees "
                f"{torch.cuda.device_count()} GPUs); 'auto' uses what is available"
            )

    def choose_device(self) -> torch.device:
        """Resolve ``auto`` to the GPU if there is one."""
        if self.device != "auto":
            return torch.device(self.device)
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")


_COMPUTE: ContextVar[ComputeConfig | None] = ContextVar("compute", default=None)
_SCAN: ContextVar[ComputeConfig | None] = ContextVar("scan", default=None)


@contextmanager
def compute_with(compute: ComputeConfig, scan: str = "auto") -> Iterator[None]:
    """Use these settings for everything that is opened inside."""
    tokens = _COMPUTE.set(compute), _SCAN.set(ComputeConfig(scan))
    try:
        yield
    finally:
        _COMPUTE.reset(tokens[0])
        _SCAN.reset(tokens[1])


def current_compute() -> ComputeConfig:
    """Return how networks are computed inside :func:`compute_with`, or the default."""
    return _COMPUTE.get() or ComputeConfig()


def current_scan() -> ComputeConfig:
    """Return the device on which vectors are compared here."""
    return _SCAN.get() or ComputeConfig()
