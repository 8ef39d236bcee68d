"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run: a red build is never luck. ``make fuzz`` draws others.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("fuzz", max_examples=5000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

PROJECT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("MATHAMR_SHARED", PROJECT.parent / "shared"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the checkout (tests are marked ``shared``)."""
    return SHARED


def _has_gpu() -> bool:
    import torch

    return torch.cuda.is_available()


_NEEDS = {
    "shared": (SHARED.is_dir, "no folder of real data beside the checkout"),
    "gpu": (_has_gpu, "no CUDA device"),
    "latexml": (lambda: shutil.which("latexmlc") is not None, "latexml is missing"),
    "browser": (lambda: shutil.which("chromium") is not None, "chromium is missing"),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip marked tests whose needs this machine does not meet."""
    for marker, (is_met, reason) in _NEEDS.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        if marked and not is_met():
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))
