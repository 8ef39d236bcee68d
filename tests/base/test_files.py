"""Atomic writes of files and folders."""

from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from mathamr_kedro.base.errors import DiskFullError, LockedError, StorageError
from mathamr_kedro.base.files import (
    FolderLock,
    make_folder,
    replace_file,
    replace_folder,
    reserve_file,
    write_text,
)

GONE = 2**22 + 1  # above the largest process id of Linux


@pytest.mark.parametrize("place", ["/proc/x/y", "/dev/null/x", __file__])
def test_a_folder_that_cannot_be_is_named(place):
    with pytest.raises(StorageError, match=f"Cannot create the folder '{place}"):
        make_folder(Path(place))


@pytest.mark.parametrize("write", [replace_file, replace_folder])
def test_a_place_that_cannot_be_written_to_is_named(write):
    with pytest.raises(StorageError, match="'/proc/x'"), write(Path("/proc/x")) as part:
        part.write_text("")


def names(folder):
    return sorted(p.name for p in folder.iterdir())


def test_file_is_replaced_whole(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with replace_file(path) as part:
        part.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["a.txt"]


def test_error_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(ValueError, match="stop"), replace_file(path) as part:
        part.write_text("half")
        raise ValueError("stop")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


@pytest.mark.parametrize("exists", [False, True])
def test_folder_is_replaced_whole(tmp_path, exists):
    folder = tmp_path / "graphs"
    if exists:
        folder.mkdir()
        (folder / "old").write_text("old")
    with replace_folder(folder) as part:
        (part / "inner").mkdir()
        (part / "inner" / "new").write_text("new")
    assert names(folder) == ["inner"]
    assert names(tmp_path) == ["graphs"]


def test_error_leaves_the_old_folder_alone(tmp_path):
    folder = tmp_path / "graphs"
    folder.mkdir()
    (folder / "old").write_text("old")
    with pytest.raises(ValueError, match="stop"), replace_folder(folder) as part:
        (part / "new").write_text("half")
        raise ValueError("stop")
    assert names(folder) == ["old"]
    assert names(tmp_path) == ["graphs"]


def test_everything_is_synced_before_it_gets_its_name(tmp_path, monkeypatch):
    seen = []
    real_sync, real_replace = os.fsync, os.replace

    def sync(handle):
        seen.append(("sync", os.path.basename(os.readlink(f"/proc/self/fd/{handle}"))))
        real_sync(handle)

    def replace(source, target):
        seen.append(("rename", os.path.basename(target)))
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(os, "replace", replace)
    write_text(tmp_path / "a", "text")
    with replace_folder(tmp_path / "b") as part:
        (part / "inside").write_text("text")
    part_of = f"{socket.gethostname()}.{os.getpid()}.part"
    assert seen == [
        ("sync", f".a.{part_of}"), ("rename", "a"), ("sync", tmp_path.name),
        ("sync", "inside"), ("sync", f".b.{part_of}"), ("rename", "b"),
        ("sync", tmp_path.name),
    ]  # fmt: skip


def test_leftovers_of_killed_processes_go_and_those_of_others_stay(tmp_path):
    host = socket.gethostname()
    dead = tmp_path / f".a.txt.{host}.{GONE}.part"
    alive = tmp_path / f".a.txt.{host}.{os.getppid()}.part"
    far = tmp_path / f".a.txt.elsewhere-{host}.{GONE}.part"
    for part in (dead, alive, far):
        part.write_text("half")
    write_text(tmp_path / "a.txt", "whole")
    assert names(tmp_path) == sorted([alive.name, far.name, "a.txt"])


def test_a_part_left_by_a_process_of_our_number_is_no_obstacle(tmp_path):
    part = tmp_path / f".graphs.{socket.gethostname()}.{os.getpid()}.part"
    part.mkdir()
    (part / "half").write_text("half")
    with replace_folder(tmp_path / "graphs") as new:
        (new / "whole").write_text("whole")
    assert names(tmp_path) == ["graphs"]
    assert names(tmp_path / "graphs") == ["whole"]


def test_folders_above_are_made(tmp_path):
    with replace_folder(tmp_path / "a" / "b") as part:
        (part / "file").write_text("text")
    FolderLock(tmp_path / "c" / "d", "wait").close()
    assert names(tmp_path / "a" / "b") == ["file"]
    assert (tmp_path / "c" / "d").is_dir()


def test_a_part_that_another_process_takes_away_first_is_no_error(
    tmp_path, monkeypatch
):
    part = tmp_path / f".a.txt.{socket.gethostname()}.{GONE}.part"
    part.write_text("half")

    def take_away(process, number):
        part.unlink()
        raise ProcessLookupError

    monkeypatch.setattr(os, "kill", take_away)
    write_text(tmp_path / "a.txt", "whole")
    assert names(tmp_path) == ["a.txt"]


def test_parts_of_another_user_stay(tmp_path, monkeypatch):
    """The system does not let us ask for their processes: they may run."""

    def refuse(process, number):
        raise PermissionError(errno.EPERM, "not yours")

    part = tmp_path / f".a.txt.{socket.gethostname()}.{GONE}.part"
    part.write_text("half")
    monkeypatch.setattr(os, "kill", refuse)
    write_text(tmp_path / "a.txt", "whole")
    assert names(tmp_path) == [part.name, "a.txt"]


def test_second_lock_is_refused_with_the_remedy(tmp_path):
    with FolderLock(tmp_path / "new", "wait") as first:
        with pytest.raises(LockedError, match="new' open; come back later"):
            FolderLock(tmp_path / "new", "come back later")
    FolderLock(tmp_path / "new", "wait").close()
    assert first  # that it is forgotten is not what lets others in


def test_lock_of_another_process_ends_with_it(tmp_path):
    code = (
        "import pathlib, sys, time\n"
        "from mathamr_kedro.base.files import FolderLock\n"
        "lock = FolderLock(pathlib.Path(sys.argv[1]), '')\n"
        "print('locked', flush=True)\n"
        "time.sleep(60)\n"
    )
    arguments = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "locked\n"
        with pytest.raises(LockedError):
            FolderLock(tmp_path, "wait")
        other.kill()
    FolderLock(tmp_path, "wait").close()


@pytest.mark.parametrize("replace", [replace_file, replace_folder])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_full_disk_is_one_line_with_the_remedy(tmp_path, replace, number):
    path = tmp_path / "vectors"
    with (
        pytest.raises(
            DiskFullError, match=r"No room for .*vectors.*; make room and run"
        ),
        replace(path),
    ):
        raise OSError(number, os.strerror(number))
    assert names(tmp_path) == []


def test_other_errors_of_the_system_stay_what_they_are(tmp_path):
    with pytest.raises(PermissionError), replace_file(tmp_path / "a"):
        raise PermissionError(errno.EACCES, "no")


def test_room_is_taken_before_memory_is_written(tmp_path, monkeypatch):
    """Writing through memory into a file without room would be SIGBUS."""
    path = tmp_path / "table.npy"
    path.touch()
    os.truncate(path, 1 << 20)
    reserve_file(path)
    assert path.stat().st_blocks * 512 >= path.stat().st_size == 1 << 20

    def refuse(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    with pytest.raises(DiskFullError, match=r"table\.npy.*make room"):
        reserve_file(path)


def test_a_lock_is_released_by_any_thread(tmp_path):
    held = FolderLock(tmp_path, "wait")
    thread = Thread(target=held.close)
    thread.start()
    thread.join()
    FolderLock(tmp_path, "wait").close()
