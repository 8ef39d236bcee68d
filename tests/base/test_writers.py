"""One run at a time writes below a data root; its children and all readers are free."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mathamr_kedro.base.errors import LockedError, StorageError, find_cause
from mathamr_kedro.base.files import FolderLock
from mathamr_kedro.base.writers import TOKEN, WriterLock
from tests.conftest import copy_project
from tests.pipelines.graph_world import open_catalog, open_session

HOLD = (
    "import pathlib, sys, time\n"
    "from mathamr_kedro.base.writers import WriterLock\n"
    "lock = WriterLock(pathlib.Path(sys.argv[1]), 'kedro run --env pool')\n"
    "print('locked', flush=True)\n"
    "time.sleep(60)\n"
)


@pytest.fixture
def other(tmp_path):
    """Another process that writes below ``tmp_path``."""
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "locked\n"
        yield process
        process.kill()


def test_a_second_writer_is_told_who_since_when_and_what_to_do(tmp_path, other):
    with pytest.raises(LockedError) as caught:
        WriterLock(tmp_path, "kedro run")
    message = str(caught.value)
    record = json.loads((tmp_path / ".writer.json").read_text())
    assert "\n" not in message
    for part in (
        record["user"], record["host"], f"process {other.pid}", record["since"],
        "kedro run --env pool", "wait for it", "data_root=FOLDER",
    ):  # fmt: skip
        assert part in message


def test_a_kill_lets_the_next_one_in(tmp_path, other):
    other.kill()
    other.wait()
    with WriterLock(tmp_path, "kedro run"):
        pass


def test_children_of_a_writer_may_write_and_strangers_not(tmp_path, monkeypatch):
    with WriterLock(tmp_path, "mathamr experiments run edges"):
        with WriterLock(tmp_path, "kedro run"):  # as a child that inherits the token
            pass
        with pytest.raises(LockedError):  # the owner still has it
            FolderLock(tmp_path, "")
        with monkeypatch.context() as stranger, pytest.raises(LockedError):
            stranger.setenv(TOKEN, "of another writer")
            WriterLock(tmp_path, "kedro run")
    assert TOKEN not in os.environ


def test_a_root_that_cannot_be_written_is_not_locked(tmp_path, monkeypatch):
    def refuse(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("mathamr_kedro.base.writers.write_text", refuse)
    with pytest.raises(OSError) as caught:  # whose traceback keeps the lock alive
        WriterLock(tmp_path, "kedro run")
    FolderLock(tmp_path, "").close()
    assert caught.value.errno == errno.ENOSPC
    assert TOKEN not in os.environ


def test_data_roots_are_independent(tmp_path, other):
    with WriterLock(tmp_path / "another", "kedro run"):
        pass


def test_readers_are_free(tmp_path, other):
    assert not open_catalog(tmp_path).exists("posts")


def test_the_run_releases_its_lock_after_an_error(tmp_path):
    for _ in range(2):  # the second one is refused for its input too, not for the lock
        with pytest.raises(Exception) as caught, open_session(tmp_path) as session:
            session.run(pipeline_names=["graph_fusion"])
        assert not isinstance(find_cause(caught.value), LockedError)
    FolderLock(tmp_path, "").close()


@pytest.mark.slow
def test_two_runs_with_other_parameters_do_not_destroy_each_other(
    tmp_path, tmp_path_factory
):
    project = tmp_path_factory.mktemp("checkout")  # the command notes the last run
    copy_project(project)
    params = f"data_root={tmp_path},ingestion.formulas_per_shard=500"
    command = [sys.executable, "-m", "kedro", "run", "--env", "test"]
    nodes = ["ingestion.choose_posts", "ingestion.extract_formulas"]
    command += ["--nodes", ",".join(nodes), "--params", params]
    with subprocess.Popen(
        command, cwd=project, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as first:
        while not (tmp_path / ".writer.json").exists():
            assert first.poll() is None
            time.sleep(0.02)
        first.send_signal(signal.SIGSTOP)  # it must not end before the second begins
        changed = {"ingestion": {"formulas_per_shard": 300}}
        with pytest.raises(LockedError), open_session(tmp_path, **changed) as second:
            second.run(node_names=nodes)
        first.send_signal(signal.SIGCONT)
        assert first.wait() == 0
    table = open_catalog(tmp_path).load("formulas")
    assert table.counts["written"] == sum(t.num_rows for t in table.tables()) == 6500


def test_a_root_that_cannot_be_written_is_one_line():
    with pytest.raises(StorageError, match="/proc/self/data"):
        WriterLock(Path("/proc/self/data"), "kedro run")
    error = PermissionError(errno.EROFS, "Read-only", "/data/.lock")
    cause = find_cause(error)
    assert isinstance(cause, StorageError)
    assert "'/data/.lock'" in str(cause) and "data_root=FOLDER" in str(cause)


def test_a_full_disk_says_so():
    error = RuntimeError("saving failed")
    error.__cause__ = OSError(errno.ENOSPC, "No space", "/data/posts.parquet")
    assert "it resumes" in str(find_cause(error))
    assert find_cause(OSError(errno.ENOENT, "gone", "x")) is None


def test_a_block_has_its_lock(tmp_path):
    with WriterLock(tmp_path, "a") as lock:
        assert isinstance(lock, WriterLock)
        lock.close()
        WriterLock(tmp_path, "b").close()


def test_writers_of_one_process_leave_no_token(tmp_path, monkeypatch):
    monkeypatch.delenv(TOKEN, raising=False)
    first = WriterLock(tmp_path / "one", "mathamr serve")
    second = WriterLock(tmp_path / "two", "mathamr serve")
    first.close()
    second.close()
    assert TOKEN not in os.environ
