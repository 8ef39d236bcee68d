"""Counts and times for Prometheus, of one process and of several."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("prometheus_client", reason="the extra serve is missing")
from mathamr_kedro.serve.metrics import SHARED_FOLDER, Metrics

COUNT = """
from mathamr_kedro.serve.metrics import Metrics

metrics = Metrics()
for seconds in ({seconds}):
    metrics.count("GET", "/api/search", 200, seconds)
metrics.waiting.inc()
print(metrics.write(entries=7).decode(), flush=True)
input()
"""


def read_values(text: str) -> dict[str, float]:
    lines = [line for line in text.splitlines() if line and line[0] != "#"]
    return {name: float(value) for name, value in (line.split() for line in lines)}


def test_buckets_add_up() -> None:
    metrics = Metrics()
    for seconds in (0.005, 0.01, 0.3, 99.0):
        metrics.count("GET", "/api/search", 200, seconds)
    text = metrics.write(entries=7).decode()
    values = read_values(text)
    counts = {
        name.split('le="')[1].split('"')[0]: value
        for name, value in values.items()
        if "_bucket" in name
    }
    assert [float(bound) for bound in counts] == [
        0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 30.0, float("inf"),
    ]  # fmt: skip
    assert counts["0.01"] == 2
    assert counts["0.4"] == counts["30.0"] == 3
    assert counts["+Inf"] == 4
    assert values['mathamr_request_seconds_sum{route="/api/search"}'] == 99.315
    assert values['mathamr_request_seconds_count{route="/api/search"}'] == 4
    assert values["mathamr_index_entries"] == 7
    assert values["mathamr_resident_bytes"] > 1e6
    assert "# TYPE mathamr_request_seconds histogram" in text
    assert "_created" not in text


def test_a_scrape_has_the_values_of_all_processes(tmp_path: Path) -> None:
    def start(seconds: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", COUNT.format(seconds=seconds)],
            env=os.environ | {SHARED_FOLDER: str(tmp_path)},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def read(process: subprocess.Popen[str]) -> dict[str, float]:
        assert process.stdout is not None
        lines = []
        while not lines or lines[-1] != "\n":
            lines.append(process.stdout.readline())
        return read_values("".join(lines))

    requests = 'mathamr_requests_total{method="GET",route="/api/search",status="200"}'
    first = start("0.1, 0.2")
    assert read(first)[requests] == 2
    second = start("0.3,")
    values = read(second)
    assert values[requests] == 3
    assert values['mathamr_request_seconds_count{route="/api/search"}'] == 3
    assert values["mathamr_waiting_requests"] == 2
    assert values["mathamr_index_entries"] == 7
    memory = [name for name in values if name.startswith("mathamr_resident_bytes")]
    assert sorted(memory) == sorted(
        f'mathamr_resident_bytes{{pid="{process.pid}"}}' for process in (first, second)
    )
    second.kill()
    second.communicate()
    third = start("")
    values = read(third)
    assert values[requests] == 3  # counts of a killed process stay
    assert values["mathamr_waiting_requests"] == 2  # what it had at work does not
    for process in (first, third):
        process.communicate("\n")
