"""The stage is killed at any moment and resumes with the same files, byte by byte."""

from __future__ import annotations

import json
import random
import shutil
import sys
from pathlib import Path

import pytest

from tests.pipelines.graph_world import PROJECT, kill_stage, run_stage

from .conftest import make_post

PARSING = {
    "posts_per_shard": 2,
    "parser": "transition",
    "workers": {"workers": 2, "batch_size": 2},
    "transition": {
        "python": sys.executable,
        "devices": ["cpu"],
        "worker": str(PROJECT / "benchmarks/fake_amr_worker.py"),
    },
}
WORDS = (
    "prove that the number is even if it divides some prime sum of all roots".split()
)


def finished(data: Path) -> int:
    try:
        text = (data / "03_primary" / "amr_graphs" / "_shards.json").read_text()
        return len(json.loads(text)["counts"])
    except (FileNotFoundError, ValueError):
        return 0


def read_files(folder: Path) -> dict[str, bytes]:
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.name != ".seconds"
        if file.is_file() and not file.name.endswith(".part")
    }


@pytest.mark.slow
def test_killed_run_ends_with_the_same_bytes(write_texts, tmp_path, monkeypatch):
    rng = random.Random(3)
    posts = [
        make_post(str(n), " ".join(rng.choices(WORDS, k=25)) + " FORMULA_0.")
        for n in range(60)
    ]
    monkeypatch.setenv("FAKE_WORKER_NOTES", str(tmp_path))
    straight = write_texts(posts, [], size=40)
    broken = tmp_path / "broken"
    shutil.copytree(straight, broken)
    run_stage(straight, "amr_parsing", amr_parsing=PARSING)
    assert finished(straight) == 30
    after = ("*/03_primary/amr_graphs/*.amr.txt", 11)
    kill_stage(broken, "amr_parsing", after, amr_parsing=PARSING)
    assert finished(broken) == 10
    run_stage(broken, "amr_parsing", amr_parsing=PARSING)
    assert read_files(broken / "03_primary") == read_files(straight / "03_primary")
