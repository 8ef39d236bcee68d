"""Seals find every file that is not what was written."""

from __future__ import annotations

import hashlib

import pytest

from mathamr_kedro.checksums import FileSeal
from mathamr_kedro.errors import DamagedFileError

REMEDY = "run the stage again"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "shard"
    path.write_bytes(bytes(range(256)) * 300)
    return path


def test_seal_is_size_and_digest(file):
    seal = FileSeal.of(file)
    content = file.read_bytes()
    assert seal == FileSeal(
        len(content), hashlib.blake2b(content, digest_size=16).hexdigest()
    )
    seal.check(file, REMEDY)


@pytest.mark.parametrize("size", [0, 1, 76_799, 76_801])
def test_another_size_is_named_without_reading(file, size):
    seal = FileSeal.of(file)
    file.write_bytes(bytes(size))
    message = rf"Expected 76800 bytes in '.*shard' \(got {size}\).*; run the stage"
    with pytest.raises(DamagedFileError, match=message):
        seal.check_size(file, REMEDY)


@pytest.mark.parametrize("place", [0, 40_000, 76_799])
def test_one_flipped_bit_is_found(file, place):
    seal = FileSeal.of(file)
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    seal.check_size(file, REMEDY)
    with pytest.raises(DamagedFileError, match=r"digest .* changed; run the stage"):
        seal.check(file, REMEDY)


def test_missing_file_is_named(file, tmp_path):
    seal = FileSeal.of(file)
    for gone in (tmp_path / "none", file / "below"):
        with pytest.raises(DamagedFileError, match=r"got none\); run the stage"):
            seal.check(gone, REMEDY)
