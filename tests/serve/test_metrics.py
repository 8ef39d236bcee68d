"""Counts and times as Prometheus reads them."""

from __future__ import annotations

from pathlib import Path

from mathamr_kedro.serve.metrics import Metrics

STATUS = Path("/proc/self/status")


def test_buckets_add_up() -> None:
    metrics = Metrics()
    for seconds in (0.005, 0.01, 0.3, 99.0):
        metrics.count("GET", "/api/search", 200, seconds)
    lines = metrics.write({"posts": ("Posts.", 7)}).splitlines()
    counts = {
        line.split('le="')[1].split('"')[0]: int(line.rsplit(" ", 1)[1])
        for line in lines
        if "_bucket" in line
    }
    assert [float(bound) for bound in counts] == [
        0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 30.0, float("inf"),
    ]  # fmt: skip
    assert counts["0.01"] == 2
    assert counts["0.4"] == counts["30.0"] == 3
    assert counts["+Inf"] == 4
    (total,) = [line for line in lines if "_sum" in line]
    assert total.endswith(" 99.315000")
    (count,) = [line for line in lines if "_seconds_count" in line]
    assert count.endswith(" 4")
    assert any(line.startswith("mathamr_posts{") for line in lines)
    assert "# TYPE mathamr_request_seconds histogram" in lines
