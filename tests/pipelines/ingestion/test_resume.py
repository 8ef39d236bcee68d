"""Ingestion is killed at any moment and goes on: nothing lost, doubled or redone."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.synthetic_collection import write_collection
from tests.pipelines.graph_world import run_stage, start_stage

SHARDS = {"records_per_shard": 10, "formulas_per_shard": 100}


def finished(folder: Path) -> dict[str, float]:
    try:
        names = json.loads((folder / "_shards.json").read_text())["counts"]
    except (FileNotFoundError, ValueError):
        return {}
    return {n: (folder / f"{n}.parquet").stat().st_mtime_ns for n in names}


def rows(folder: Path) -> list:
    names = sorted(json.loads((folder / "_shards.json").read_text())["counts"])
    return [
        row for n in names for row in pq.read_table(folder / f"{n}.parquet").to_pylist()
    ]


def kill_when(process: subprocess.Popen, folder: Path, shards: int) -> None:
    while len(finished(folder)) < shards and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_killed_run_goes_on_where_it_stopped(tmp_path):
    raw, straight, broken = (tmp_path / n for n in ("raw", "straight", "broken"))
    number = write_collection(raw, posts=300)
    params = {"raw_root": str(raw), "ingestion": SHARDS}
    run_stage(straight, "ingestion", **params)

    tables = broken / "02_intermediate"
    kill_when(start_stage(broken, "ingestion", **params), tables / "formulas", 7)
    formulas = finished(tables / "formulas")
    kill_when(start_stage(broken, "ingestion", **params), tables / "posts", 12)
    posts = finished(tables / "posts")
    assert len(formulas) >= 7
    assert 12 <= len(posts) < 30
    run_stage(broken, "ingestion", **params)

    assert formulas.items() <= finished(tables / "formulas").items()
    assert posts.items() <= finished(tables / "posts").items()
    for table in ("formulas", "posts", "comments", "training_pairs", "judgments"):
        expected = rows(straight / "02_intermediate" / table)
        assert rows(tables / table) == expected
    assert len(rows(tables / "posts")) == 300
    assert len(rows(tables / "formulas")) == number
