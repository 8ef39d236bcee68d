"""Digests follow the content, and large files are read once."""

from __future__ import annotations

import json
import os

import pytest

from mathamr_kedro.base.checksums import FileSeal
from mathamr_kedro.base.content import ContentDigests
from mathamr_kedro.corpus import OwnCollection

OLD = 1_600_000_000 * 10**9


@pytest.fixture
def file(tmp_path, monkeypatch):
    path = tmp_path / "Posts.xml"
    path.write_bytes(b"x" * 100_000)
    monkeypatch.setattr("mathamr_kedro.base.content._RACE_SECONDS", -1.0)
    return path


@pytest.fixture
def read(monkeypatch):
    """Lists the files that are read whole."""
    paths, real = [], FileSeal.of.__func__
    monkeypatch.setattr(
        FileSeal, "of", classmethod(lambda c, p: paths.append(p) or real(c, p))
    )
    return paths


def test_touch_changes_nothing(file):
    before = ContentDigests().digest(file)
    os.utime(file)
    assert ContentDigests().digest(file) == before


def test_new_content_of_the_same_size_and_time_is_noticed(file):
    digests = ContentDigests()
    os.utime(file, ns=(OLD, OLD))
    before = digests.digest(file)
    file.write_bytes(b"y" * 100_000)
    os.utime(file, ns=(OLD, OLD))
    assert digests.digest(file) != before


def test_large_files_are_read_once_over_processes(file, tmp_path, read):
    cache = tmp_path / "new" / "below" / "digests.json"
    for _ in range(2):
        digests = ContentDigests(cache)
        assert digests.digest(file) == digests.digest(file)
    assert read == [file]


def test_the_cache_holds_files_from_64_kib_on(file, tmp_path, read):
    cache = tmp_path / "digests.json"
    small, edge = tmp_path / "small", tmp_path / "edge"
    small.write_bytes(b"s" * ((1 << 16) - 1))
    edge.write_bytes(b"e" * (1 << 16))
    for _ in range(2):
        digests = ContentDigests(cache)
        for path in (small, file, edge):
            digests.digest(path)
    assert [path.name for path in read] == ["small", "Posts.xml", "edge", "small"]
    assert list(json.loads(cache.read_text())) == [str(file), str(edge)]


@pytest.mark.parametrize(("age", "reads"), [(1.5, 2), (2.5, 1)])
def test_a_file_rests_two_seconds_before_it_is_remembered(
    tmp_path, read, monkeypatch, age, reads
):
    path = tmp_path / "Posts.xml"
    path.write_text("x")
    now = path.stat().st_ctime + age
    monkeypatch.setattr("mathamr_kedro.base.content.time.time", lambda: now)
    digests = ContentDigests()
    assert digests.digest(path) == digests.digest(path)
    assert len(read) == reads


def test_two_seconds_are_too_few_where_times_are_whole_seconds(
    tmp_path, read, monkeypatch
):
    path = tmp_path / "Posts.xml"
    path.write_text("x")
    os.utime(path, (2**31, 2**31))
    monkeypatch.setattr("mathamr_kedro.base.content.time.time", lambda: 2.0**31 + 2)
    digests = ContentDigests()
    assert digests.digest(path) == digests.digest(path)
    assert len(read) == 2


def test_a_file_that_may_still_change_is_not_remembered(file, read, monkeypatch):
    monkeypatch.setattr("mathamr_kedro.base.content._RACE_SECONDS", 60.0)
    digests = ContentDigests()
    digests.digest(file)
    digests.digest(file)
    assert len(read) == 2


def test_damaged_and_unwritable_caches_are_passed_over(file, tmp_path):
    cache = tmp_path / "digests.json"
    cache.write_text("{")
    expected = ContentDigests().digest(file)
    assert ContentDigests(cache).digest(file) == expected
    assert ContentDigests(file / "below").digest(file) == expected


def test_a_restored_file_changes_the_digest(tmp_path, file):
    digests = ContentDigests()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "later")
    before = digests.digest(link)
    assert before.startswith("unreadable")
    (tmp_path / "later").write_text("there")
    assert digests.digest(link) != before


def test_collections_are_named_by_content(tmp_path):
    (tmp_path / "a.md").write_text("Let $x$ be.")
    before = OwnCollection(tmp_path).fingerprint("posts")
    os.utime(tmp_path / "a.md", ns=(OLD, OLD))
    assert OwnCollection(tmp_path).fingerprint("posts") == before
    (tmp_path / "a.md").write_text("Let $y$ be.")
    os.utime(tmp_path / "a.md", ns=(OLD, OLD))
    assert OwnCollection(tmp_path).fingerprint("posts") != before
