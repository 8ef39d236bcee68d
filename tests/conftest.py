"""Fixtures shared by all tests."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from tests.worlds import FOLDER

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
PATIENCE = 600.0
"""Seconds after which something hangs, however busy the machine is."""
LONG = 120_000
"""Characters: read in a second at most, but in minutes if the rest of the text is
searched from every place (`ends` marks the tests of such texts)."""
ends = pytest.mark.timeout(30)
SHARED = Path(os.environ.get("MATHAMR_SHARED", PROJECT.parent / "shared"))


def pytest_configure(config: pytest.Config) -> None:
    """Make a folder for data roots that tests share (``tests/worlds.py``)."""
    if FOLDER not in os.environ:
        os.environ[FOLDER] = folder = tempfile.mkdtemp(prefix="mathamr-worlds-")
        config.add_cleanup(partial(shutil.rmtree, folder, ignore_errors=True))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Iterator[None]:
    """Look for examples of docstrings in the sources only, not in tests."""
    found = yield
    return [c for c in found if type(c).__name__ != "DoctestModule"]


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


@pytest.fixture(scope="session", autouse=True)
def _spare_disk_and_pictures() -> Iterator[None]:
    """Let stages that run hundreds of times skip what takes long and shows little.

    No test pulls the plug, so files need not reach the disk. Of figures with the same
    title and as many lines and bars, the first is drawn, and its picture stands for the
    others; the demo, a process of its own, draws all.
    """
    from matplotlib.figure import Figure

    draw, drawn = Figure.savefig, {}

    def draw_once(figure: Figure, file: Any, **options: Any) -> None:
        artists = [(len(axes.lines), len(axes.patches)) for axes in figure.axes]
        kind = (figure.get_suptitle(), *artists)
        if not kind[0] or not isinstance(file, io.BytesIO):  # not one of a report
            draw(figure, file, **options)
            return
        if kind not in drawn:
            first = io.BytesIO()
            draw(figure, first, **options)
            drawn[kind] = first.getvalue()
        file.write(drawn[kind])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Figure, "savefig", draw_once)
        patch.setattr(os, "fsync", lambda handle: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _read_configuration_once() -> Iterator[None]:
    """Let sessions that are opened hundreds of times read ``conf/`` once for all roots.

    To resolve its interpolations takes half of the time of tests of stages. Folders
    have a name of their own while it is read, in whose place that of a test is put.
    ``tests/test_environments.py`` reads configurations of its own.
    """
    from mathamr_kedro.project.loader import EnvironmentLoader

    read, known = EnvironmentLoader.__init__, {}
    conf = PROJECT / "conf"

    def read_once(
        loader: Any, conf_source: str, env: Any = None, runtime_params: Any = None,
        **options: Any,
    ) -> None:  # fmt: skip
        given = dict(runtime_params or {})
        names = [name for name in ("data_root", "output_root") if name in given]
        if Path(conf_source).resolve() != conf:
            read(loader, conf_source, env, runtime_params, **options)
            return
        named = given | {name: f"/the {name}" for name in names}
        stated = [(f, f.stat().st_mtime_ns) for f in sorted(conf.rglob("*.yml"))]
        variables = os.environ | {"PYTEST_CURRENT_TEST": ""}
        key = repr((conf_source, env, named, stated, sorted(variables.items())))
        if key not in known:
            read(loader, conf_source, env, named, **options)
            known[key] = vars(loader) | {"data": json.dumps(loader.data)}
        text = known[key]["data"]
        for name in names:
            text = text.replace(f"/the {name}", json.dumps(str(given[name]))[1:-1])
        data = {"data": json.loads(text), "runtime_params": given}
        vars(loader).update(known[key] | data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EnvironmentLoader, "__init__", read_once)
        yield


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
            copy_project(root)
            command = [sys.executable, "-m", "kedro", "run", "--env", "demo"]
            done = subprocess.run(
                command, cwd=root, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout + done.stderr
            (root / "done").write_text(done.stdout + done.stderr)
    return root


def copy_project(root: Path) -> None:
    """Lay out an empty checkout; the code is that of this one."""
    for name in ("src", "data"):
        (root / name).mkdir(parents=True)
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


_DURATIONS = "durations"
"""Seconds of each file of tests in the last run, in pytest's cache."""


def _name_file(nodeid: str) -> str:
    return nodeid.split("::", maxsplit=1)[0]


@pytest.hookimpl(tryfirst=True)  # before tests are chosen by their markers
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Begin with the files that took longest; skip tests that lack what they need.

    One process would otherwise end long after the others. What needs other data or
    other programs than the package's own is slow by definition: ``make test`` runs
    everywhere alike.
    """
    cache = getattr(config, "cache", None)  # absent with `-p no:cacheprovider`
    took = cache.get(_DURATIONS, {}) if cache is not None else {}
    items.sort(key=lambda item: -took.get(_name_file(item.nodeid), 0.0))
    for marker, (is_met, reason) in _NEEDS.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        for item in marked:
            item.add_marker(pytest.mark.slow)
        if marked and not is_met():
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep how long files took, as pytest itself has measured it."""
    cache = getattr(session.config, "cache", None)
    if "PYTEST_XDIST_WORKER" in os.environ or cache is None:
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    reports = [report for found in reporter.stats.values() for report in found]
    took: dict[str, float] = {}
    for report in reports:
        if isinstance(report, pytest.TestReport):
            file = _name_file(report.nodeid)
            took[file] = took.get(file, 0.0) + report.duration
    cache.set(_DURATIONS, cache.get(_DURATIONS, {}) | took)
