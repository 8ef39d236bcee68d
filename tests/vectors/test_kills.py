"""Processes killed while they write and index (200 in ``benchmarks/search.py``)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "search_kills.py"


@pytest.mark.slow
def test_killed_processes_lose_double_or_halve_no_post():
    run = subprocess.run(
        [sys.executable, str(SCRIPT), "--kills", "6", "--longest", "4"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "6 kills" in run.stdout
