"""The machine that times and memory were measured on."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from mathamr_kedro.base.errors import ConfigurationError

_CPU_INFO = Path("/proc/cpuinfo")
_VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True)
class Machine:
    """Device, processor and cores; times of equal machines are comparable.

    >>> Machine("GPU", "Intel Core i7-9700KF", 8, "NVIDIA GeForce GTX 1080 Ti").name
    'NVIDIA GeForce GTX 1080 Ti (Intel Core i7-9700KF, 8 cores)'
    >>> Machine("CPU", "Intel Core i7-9700KF", 8).name
    'Intel Core i7-9700KF, 8 cores'
    """

    device: str = ""
    """``CPU`` or ``GPU``: whose time and memory it is; empty if not recorded."""
    cpu: str = ""
    """Model of the processor."""
    cores: int = 0
    """Cores that the process may use."""
    gpu: str = ""
    """Model of the GPU that computed; empty on a CPU."""

    @classmethod
    def find(cls, device: str = "cpu") -> Machine:
        """Return the present machine, with the device of torch that computes."""
        kind = device.partition(":")[0]
        if kind == "cpu":
            return cls("CPU", _name_cpu(), _count_cores())
        gpu = kind
        if kind == "cuda":
            gpu = str(import_module("torch").cuda.get_device_name(device))
        return cls("GPU", _name_cpu(), _count_cores(), gpu)

    @classmethod
    def read(cls, values: Mapping[str, Any] | None) -> Machine:
        """Return a machine from a record; older versions have none."""
        known = {name: (values or {}).get(name) for name in cls.__dataclass_fields__}
        return cls(**{name: value for name, value in known.items() if value})

    @property
    def name(self) -> str:
        """The description in words."""
        if not self.device:
            return "a machine that was not recorded"
        plural = "" if self.cores == 1 else "s"
        host = f"{self.cpu}, {self.cores} core{plural}"
        return f"{self.gpu} ({host})" if self.device == "GPU" else host


@cache
def _name_cpu() -> str:
    """Return the model as Linux tells it, or whatever the platform knows.

    ARM processors have no name there, but numbers of their maker and model.
    """
    try:
        lines = _CPU_INFO.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    told = {
        key.strip(): " ".join(value.split())
        for key, _, value in (line.partition(":") for line in reversed(lines))
    }
    if told.get("model name"):
        return told["model name"]
    found = platform.processor() or platform.machine() or "unknown processor"
    numbers = [told[key] for key in ("CPU implementer", "CPU part") if key in told]
    return " ".join([found, *numbers])


def _count_cores() -> int:
    if hasattr(os, "sched_getaffinity"):  # Linux: a container may have fewer
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def show_one_device(device: str, own: Mapping[str, str]) -> dict[str, str]:
    """Return the variable that restricts a child process to one of the devices.

    >>> show_one_device("cuda:1", {"CUDA_VISIBLE_DEVICES": "4,6"})
    {'CUDA_VISIBLE_DEVICES': '6'}
    >>> show_one_device("cpu", {})
    {'CUDA_VISIBLE_DEVICES': ''}

    Raises:
        ConfigurationError: it is not a device, or not a visible one.
    """
    kind, _, number = device.partition(":")
    if device == "cpu":
        return {_VISIBLE: ""}
    if kind != "cuda" or not (number.isdigit() or device == "cuda"):
        raise ConfigurationError(
            f"Expected 'cpu' or 'cuda:<n>' for a device (got {device!r})"
        )
    visible = own.get(_VISIBLE, "")
    names = [name.strip() for name in visible.split(",") if name.strip()]
    place = int(number or 0)
    if names and place >= len(names):
        raise ConfigurationError(
            f"Expected a device among the {len(names)} visible ones "
            f"(got {device!r} with {_VISIBLE}={visible!r})"
        )
    return {_VISIBLE: names[place] if names else str(place)}
