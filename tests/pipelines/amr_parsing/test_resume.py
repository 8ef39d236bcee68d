"""The stage is killed at any moment and goes on; its files are the same to the byte."""

from __future__ import annotations

import json
import random
import shutil
import signal
import sys
import time
from pathlib import Path

from tests.pipelines.graph_world import PROJECT, run_stage, start_stage

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


def test_killed_run_ends_with_the_same_bytes(write_texts, tmp_path, monkeypatch):
    rng = random.Random(3)
    posts = [
        make_post(str(n), " ".join(rng.choices(WORDS, k=25)) + " FORMULA_0.")
        for n in range(200)
    ]
    monkeypatch.setenv("FAKE_WORKER_NOTES", str(tmp_path))
    straight = write_texts(posts, [], size=40)
    broken = tmp_path / "broken"
    shutil.copytree(straight, broken)
    run_stage(straight, "amr_parsing", amr_parsing=PARSING)
    assert finished(straight) == 100
    process = start_stage(broken, "amr_parsing", amr_parsing=PARSING)
    while finished(broken) < 20 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 20 <= finished(broken) < 100
    run_stage(broken, "amr_parsing", amr_parsing=PARSING)
    assert read_files(broken / "03_primary") == read_files(straight / "03_primary")
