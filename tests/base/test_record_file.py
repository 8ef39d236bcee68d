"""Records in one file: atomic whoever is killed when, and no damage is silent."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from mathamr_kedro.base.errors import DamagedFileError, LockedError
from mathamr_kedro.base.record_file import RecordFile

WRITER = """
import sys
from pathlib import Path
from mathamr_kedro.base.record_file import RecordFile
file, number = RecordFile(Path(sys.argv[1]), ""), int(sys.argv[2])
while True:
    number += 1
    with file.changing() as records:
        for key in list(records):
            del records[key]
        for key in range(50):
            records[str((number, key))] = bytes([number % 256]) * 3000
    print(number, flush=True)
"""


@pytest.fixture
def file(tmp_path):
    made = RecordFile(tmp_path / "posts.sqlite", "write them again", seconds=0.1)
    made.create()
    return made


def test_what_was_changed_is_read_and_has_another_version(file):
    assert file.read() == {}
    versions = [file.read_version()]
    with file.changing() as records:
        records.update({"a": b"1", "": b"", "\u00e9": b"\xff"})
    versions.append(file.read_version())
    with file.changing() as records:
        assert records.pop("a") == b"1"
        records[""] = b"2"
    versions.append(file.read_version())
    assert file.read() == {"": b"2", "\u00e9": b"\xff"}
    assert file.find(["\u00e9", "a"]) == {"\u00e9": b"\xff"}
    assert len(set(versions)) == 3
    file.put({"": b""})
    file.put({"a": b"1"})
    assert file.read_version() == versions[1]  # as it was


def test_nothing_changes_on_an_error(file):
    with pytest.raises(KeyError), file.changing() as records:
        records["a"] = b"1"
        raise KeyError
    assert file.read() == {}


def test_writers_exclude_each_other_and_readers_read(file):
    with file.changing() as records:
        records["a"] = b"1"
        assert file.read() == {}
        with pytest.raises(LockedError, match=r"posts\.sqlite.*wait"):
            file.put({"b": b"2"})
    assert file.read() == {"a": b"1"}


def test_a_missing_file_is_named(tmp_path):
    missing = RecordFile(tmp_path / "posts.sqlite", "write them again")
    for read in (missing.read, missing.read_version):
        with pytest.raises(DamagedFileError, match=r"posts.*got none.*them again"):
            read()


@pytest.mark.parametrize("damage", ["flip", "cut", "zero", "delete"])
def test_damage_is_told_and_never_another_answer(file, damage):
    """Of each byte; or at each length, each block of zeros."""
    with file.changing() as records:
        records.update({str(n): b"text %d " % n * 20 for n in range(40)})
    before, content = file.read(), file.path.read_bytes()
    rng = random.Random(0)
    places = (
        range(0, len(content), 7) if damage == "flip" else range(0, len(content), 97)
    )
    told = 0
    for place in places:
        broken = bytearray(content)
        if damage == "flip":
            broken[place] ^= 1 << rng.randrange(8)
        elif damage == "zero":
            broken[place : place + 64] = bytes(64)
        else:
            del broken[place:]
        file.path.write_bytes(broken)
        if damage == "delete":
            file.path.unlink()
        try:
            assert file.read() == before
        except DamagedFileError as error:
            assert "write them again" in str(error)
            told += 1
    assert told > len(places) // 4


@pytest.mark.slow
def test_a_killed_writer_leaves_one_state_or_the_next(file):
    number, rng = 0, random.Random(1)
    for _ in range(12):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(file.path), str(number)],
            stdout=subprocess.PIPE, text=True,
        ) as writer:  # fmt: skip
            assert writer.stdout is not None
            number = int(writer.stdout.readline())
            time.sleep(rng.random() / 4)
            os.kill(writer.pid, signal.SIGKILL)
            told = [number, *map(int, writer.stdout.read().split())]
        records = file.read()
        states = {key.partition(",")[0] for key in records}
        assert len(records) == 50 and len(states) == 1
        (state,) = states
        number = int(state[1:])
        assert number - told[-1] in (0, 1)
