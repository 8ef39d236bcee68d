"""Checksums follow the content, and large files are read once."""

from __future__ import annotations

import json
import os

import pytest

from mathamr_kedro.base.checksums import ChecksumCache, FileChecksum
from mathamr_kedro.corpus import OwnCollection

OLD = 1_600_000_000 * 10**9


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "Posts.xml"
    path.write_bytes(b"x" * 100_000)
    # Tests do not wait until a file is two seconds old.
    monkeypatch.setattr("mathamr_kedro.base.checksums._RACE_SECONDS", -1.0)
    return path


@pytest.fixture
def read(monkeypatch):
    """Lists the files that are read whole."""
    paths, real = [], FileChecksum.of.__func__
    monkeypatch.setattr(
        FileChecksum, "of", classmethod(lambda c, p: paths.append(p) or real(c, p))
    )
    return paths


def test_touch_changes_nothing(file):
    before = ChecksumCache().checksum(file)
    os.utime(file)
    assert ChecksumCache().checksum(file) == before


def test_new_content_of_the_same_size_and_time_is_noticed(file):
    checksums = ChecksumCache()
    os.utime(file, ns=(OLD, OLD))
    before = checksums.checksum(file)
    file.write_bytes(b"y" * 100_000)
    os.utime(file, ns=(OLD, OLD))
    assert checksums.checksum(file) != before


def test_large_files_are_read_once_over_processes(file, tmp_path, read):
    cache = tmp_path / "new" / "below" / "checksums.json"
    for _ in range(2):
        checksums = ChecksumCache(cache)
        assert checksums.checksum(file) == checksums.checksum(file)
    assert read == [file]


def test_the_cache_holds_files_from_64_kib_on(file, tmp_path, read):
    cache = tmp_path / "checksums.json"
    small, edge = tmp_path / "small", tmp_path / "edge"
    small.write_bytes(b"s" * ((1 << 16) - 1))
    edge.write_bytes(b"e" * (1 << 16))
    for _ in range(2):
        checksums = ChecksumCache(cache)
        for path in (small, file, edge):
            checksums.checksum(path)
    assert [path.name for path in read] == ["small", "Posts.xml", "edge", "small"]
    assert list(json.loads(cache.read_text())) == [str(file), str(edge)]


@pytest.mark.parametrize(("age", "reads"), [(1.5, 2), (2.5, 1)])
def test_a_file_rests_two_seconds_before_it_is_remembered(
    tmp_path, read, monkeypatch, age, reads
):
    path = tmp_path / "Posts.xml"
    path.write_text("x")
    now = path.stat().st_ctime + age
    monkeypatch.setattr("mathamr_kedro.base.checksums.time.time", lambda: now)
    checksums = ChecksumCache()
    assert checksums.checksum(path) == checksums.checksum(path)
    assert len(read) == reads


def test_damaged_and_unwritable_caches_are_passed_over(file, tmp_path):
    cache = tmp_path / "checksums.json"
    cache.write_text("{")
    expected = ChecksumCache().checksum(file)
    assert ChecksumCache(cache).checksum(file) == expected
    assert ChecksumCache(file / "below").checksum(file) == expected


def test_a_restored_file_changes_the_checksum(tmp_path, file):
    checksums = ChecksumCache()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "later")
    before = checksums.checksum(link)
    assert before.startswith("unreadable")
    (tmp_path / "later").write_text("there")
    assert checksums.checksum(link) != before


def test_collections_are_named_by_content(tmp_path):
    (tmp_path / "a.md").write_text("Let $x$ be.")
    before = OwnCollection(tmp_path).checksum("posts")
    os.utime(tmp_path / "a.md", ns=(OLD, OLD))
    assert OwnCollection(tmp_path).checksum("posts") == before
    (tmp_path / "a.md").write_text("Let $y$ be.")
    os.utime(tmp_path / "a.md", ns=(OLD, OLD))
    assert OwnCollection(tmp_path).checksum("posts") != before
