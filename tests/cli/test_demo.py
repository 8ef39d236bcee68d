"""The demo outside of a checkout, and what the wheel brings for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from mathamr_kedro.base.errors import MissingInputError, WorkerError
from mathamr_kedro.cli import demo, group
from tests.conftest import PROJECT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """What the wheel would hold."""
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build",
         "--build-base", str(folder / "base"), "--build-lib", str(folder / "lib")],
        cwd=PROJECT, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "lib/mathamr_kedro"


def test_wheel_holds_configuration_sample_encoder_and_page(built):
    for name in ("conf", "data/01_raw/sample"):
        for file in (PROJECT / name).rglob("*"):
            if file.is_file() and "local" not in file.parts:
                copy = built / "starter" / file.relative_to(PROJECT)
                assert copy.read_bytes() == file.read_bytes()
    assert not (built / "starter/conf/local").exists()
    for name in ("encoders/mathamr_plus/weights.pt", "serve/static/math.woff2"):
        assert (built / name).is_file()


def test_project_is_laid_out_once_and_the_steps_follow(built, tmp_path, monkeypatch):
    # A checkout has no starter; the wheel does.
    monkeypatch.setattr(demo, "_STARTER", built / "starter")
    steps = []

    def run(command, cwd, check):
        steps.append(command[2:4])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(demo.subprocess, "run", run)
    folder = tmp_path / "mine"
    for _ in range(2):
        result = CliRunner().invoke(group, ["demo", "--folder", str(folder)])
        assert result.exit_code == 0, result.output
        (folder / "conf/base/globals.yml").write_text("seed: 7\n")  # stays
    assert (folder / "conf/base/globals.yml").read_text() == "seed: 7\n"
    assert (folder / "src").is_dir() and (folder / "conf/local").is_dir()
    order = [
        ["kedro", "run"],
        ["mathamr_kedro", "show"],
        ["mathamr_kedro", "search"],
    ]
    assert steps == order * 2


def test_step_that_fails_is_named(built, tmp_path, monkeypatch):
    # A checkout has no starter; the wheel does.
    monkeypatch.setattr(demo, "_STARTER", built / "starter")
    monkeypatch.setattr(
        demo.subprocess, "run", lambda c, cwd, check: subprocess.CompletedProcess(c, 3)
    )
    result = CliRunner().invoke(group, ["demo", "--folder", str(tmp_path / "mine")])
    assert isinstance(result.exception, WorkerError)
    assert "`kedro run` failed with the exit status 3" in str(result.exception)


def test_checkout_is_told_from_a_package(tmp_path):
    result = CliRunner().invoke(group, ["demo", "--folder", str(tmp_path / "mine")])
    assert isinstance(result.exception, MissingInputError)
    assert "make demo" in str(result.exception)
    assert not (tmp_path / "mine").exists()
