"""Checksums find every file that is not what was written."""

from __future__ import annotations

import errno
import hashlib
import os
import random

import numpy as np
import pytest

from mathamr_kedro.base.checksums import FileChecksum
from mathamr_kedro.base.errors import DamagedFileError

BLOCK = 1 << 18
REMEDY = "run the stage again"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "shard"
    path.write_bytes(bytes(range(256)) * 300)
    return path


def slow_digest(content):
    """Block after block, with its place, but for blocks of zeros."""
    digest = hashlib.blake2b(digest_size=16)
    for place in range(0, len(content), BLOCK):
        block = content[place : place + BLOCK]
        if any(block):
            digest.update(place.to_bytes(8, "little") + block)
    return digest.hexdigest()


@pytest.mark.parametrize("size", [0, 1, 76_800, BLOCK, 3 * BLOCK + 5])
def test_a_checksum_is_size_and_digest(tmp_path, size):
    content = random.Random(size).randbytes(size)
    (tmp_path / "file").write_bytes(content)
    assert FileChecksum.of(tmp_path / "file") == FileChecksum(
        size, slow_digest(content)
    )


def test_holes_and_zeros_are_the_same_wherever_they_are(tmp_path):
    """Also where data starts within a block: systems cut holes at other places."""
    content = bytearray(9 * BLOCK + 17)
    for place in (5000, 4 * BLOCK - 1, 4 * BLOCK, 7 * BLOCK + 70_000):
        content[place] = 7
    (tmp_path / "dense").write_bytes(content)
    with (tmp_path / "sparse").open("wb") as file:
        for place in np.flatnonzero(np.frombuffer(content, np.uint8)).tolist():
            file.seek(place)
            file.write(b"\7")
        file.truncate(len(content))
    expected = FileChecksum(len(content), slow_digest(content))
    assert FileChecksum.of(tmp_path / "dense") == expected
    assert FileChecksum.of(tmp_path / "sparse") == expected
    (tmp_path / "hole").touch()
    os.truncate(tmp_path / "hole", 3 * BLOCK)
    assert FileChecksum.of(tmp_path / "hole") == FileChecksum(
        3 * BLOCK, slow_digest(b"")
    )


@pytest.mark.parametrize("kind", ["no such call", "refused"])
def test_systems_that_cannot_tell_holes_read_everything(tmp_path, monkeypatch, kind):
    content = bytes(2 * BLOCK) + b"x" * 70 + bytes(BLOCK)
    (tmp_path / "file").write_bytes(content)

    def refuse(*args):
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))

    if kind == "refused":
        monkeypatch.setattr(os, "lseek", refuse)
    else:
        monkeypatch.delattr(os, "SEEK_DATA")
    expected = FileChecksum(len(content), slow_digest(content))
    assert FileChecksum.of(tmp_path / "file") == expected


@pytest.mark.parametrize("size", [0, 1, 76_799, 76_801])
def test_another_size_is_named_without_reading(file, size):
    known = FileChecksum.of(file)
    file.write_bytes(bytes(size))
    message = rf"Expected 76800 bytes in '.*shard' \(got {size}\).*; run the stage"
    with pytest.raises(DamagedFileError, match=message):
        known.check_size(file, REMEDY)


@pytest.mark.parametrize("place", [0, 40_000, 76_799])
def test_one_flipped_bit_is_found(file, place):
    known = FileChecksum.of(file)
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    known.check_size(file, REMEDY)
    with pytest.raises(DamagedFileError, match=r"checksum .* changed; run the stage"):
        known.check(file, REMEDY)


def test_missing_file_is_named(file, tmp_path):
    known = FileChecksum.of(file)
    for gone in (tmp_path / "none", file / "below"):
        with pytest.raises(DamagedFileError, match=r"got none\); run the stage"):
            known.check(gone, REMEDY)
