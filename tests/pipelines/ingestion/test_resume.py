"""Ingestion is killed at any moment and resumes: nothing lost, doubled or redone."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from benchmarks import synthetic_collection
from tests.pipelines.graph_world import kill_stage, run_stage

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


@pytest.mark.slow
def test_killed_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    raw, straight, broken = (tmp_path / n for n in ("raw", "straight", "broken"))
    monkeypatch.setattr(synthetic_collection, "FILES_PER_FAMILY", 8)
    number = synthetic_collection.write_collection(raw, posts=100)
    params = {"raw_root": str(raw), "ingestion": SHARDS}
    run_stage(straight, "ingestion", **params)

    tables = broken / "02_intermediate"
    place = "*/02_intermediate/{}/*.parquet"
    kill_stage(broken, "ingestion", (place.format("formulas"), 4), **params)
    formulas = finished(tables / "formulas")
    assert len(formulas) == 3  # the file of the fourth has only its name
    kill_stage(broken, "ingestion", (place.format("posts"), 8), **params)
    posts = finished(tables / "posts")
    assert len(posts) == 7
    run_stage(broken, "ingestion", **params)

    assert len(finished(tables / "posts")) == 10
    assert formulas.items() <= finished(tables / "formulas").items()
    assert posts.items() <= finished(tables / "posts").items()
    for table in ("formulas", "posts", "comments", "training_pairs", "judgments"):
        expected = rows(straight / "02_intermediate" / table)
        assert rows(tables / table) == expected
    assert len(rows(tables / "posts")) == 100
    assert len(rows(tables / "formulas")) == number
