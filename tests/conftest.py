"""Fixtures shared by all tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from filelock import FileLock
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


@pytest.fixture(autouse=True)
def _stand_where_it_began(request: pytest.FixtureRequest) -> None:
    """A test that leaves the folder it began in would move all those after it."""
    assert Path.cwd() == request.config.invocation_params.dir


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which ``kedro run --env demo`` has just ended; not to be changed.

    Made once for all tests, also where several processes share them.
    """
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent
    root = folder / "demo"
    with FileLock(folder / "demo.lock"):
        if not (root / "done").exists():
            _copy_project(root)
            command = [sys.executable, "-m", "kedro", "run", "--env", "demo"]
            done = subprocess.run(
                command, cwd=root, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
            (root / "done").write_text(done.stdout + done.stderr)
    return root


def _copy_project(root: Path) -> None:
    """Lay out an empty checkout; the code is that of this one."""
    (root / "src").mkdir(parents=True)
    (root / "data").mkdir()
    shutil.copy(PROJECT / "pyproject.toml", root)
    for name in ("conf", "notebooks", "data/01_raw"):
        (root / name).symlink_to(PROJECT / name)


_NEEDS = {
    "shared": (SHARED.is_dir, "no folder of real data beside the checkout"),
    "gpu": (_has_gpu, "no CUDA device"),
    "latexml": (lambda: shutil.which("latexmlc") is not None, "latexml is missing"),
    "browser": (lambda: shutil.which("chromium") is not None, "chromium is missing"),
    "ray": (lambda: find_spec("ray") is not None, "ray is not installed"),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip marked tests whose needs this machine does not meet."""
    for marker, (is_met, reason) in _NEEDS.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        if marked and not is_met():
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))
