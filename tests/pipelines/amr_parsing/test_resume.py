"""The stage is killed at any moment and goes on; its files are the same to the byte."""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from .conftest import make_post

PROJECT = Path(__file__).resolve().parents[3]
RUN = """
import sys
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project
project, data = sys.argv[1:]
bootstrap_project(project)
params = {"data_root": data, "amr_parsing": {
    "posts_per_shard": 2, "parser": "transition",
    "workers": {"workers": 2, "batch_size": 2},
    "transition": {"python": sys.executable, "devices": ["cpu"],
                   "worker": project + "/benchmarks/fake_amr_worker.py"}}}
with KedroSession.create(project, env="test", runtime_params=params) as session:
    session.run(pipeline_names=["amr_parsing"])
"""
WORDS = (
    "prove that the number is even if it divides some prime sum of all roots".split()
)


def start(data: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-W", "ignore", "-c", RUN, str(PROJECT), str(data)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


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
        for n in range(400)
    ]
    monkeypatch.setenv("FAKE_WORKER_NOTES", str(tmp_path))
    straight = write_texts(posts, [], size=40)
    broken = tmp_path / "broken"
    shutil.copytree(straight, broken)
    assert start(straight).wait() == 0
    assert finished(straight) == 200
    process = start(broken)
    while finished(broken) < 20 and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert 20 <= finished(broken) < 200
    assert start(broken).wait() == 0
    assert read_files(broken / "03_primary") == read_files(straight / "03_primary")
