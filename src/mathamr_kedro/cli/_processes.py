"""Kedro runs as child processes that die with this one."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

LOG = "log.txt"
"""What a run printed, in its folder."""

_DIE = 1  # PR_SET_PDEATHSIG


def start_run(
    root: Path,
    env: str,
    parameters: Mapping[str, Any],
    folder: Path,
    stages: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
) -> subprocess.Popen[bytes]:
    """Start ``kedro run --config`` with a file that states the whole run.

    Args:
        root: the project.
        env: its environment.
        parameters: over those of the environment.
        folder: for the file ``run.yml`` and the log.
        stages: all where empty.
        variables: environment variables of the process, over ours.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "run.yml"
    content: dict[str, Any] = {"env": env, "params": dict(parameters)}
    if stages:
        content["pipelines"] = ",".join(stages)
    file.write_text(yaml.safe_dump({"run": content}), encoding="utf-8")
    libc = ctypes.CDLL(None)
    with (folder / LOG).open("wb") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "kedro", "run", "--config", str(file.resolve())],
            cwd=root,
            env={**os.environ, **(variables or {})},
            stdout=log,
            stderr=subprocess.STDOUT,
            # A killed command leaves nothing running: nobody would wait for it.
            preexec_fn=lambda: libc.prctl(_DIE, signal.SIGKILL),  # noqa: PLW1509
        )
