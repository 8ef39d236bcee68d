"""Seals of a build: what is damage, and what the engine does by itself."""

from __future__ import annotations

import pytest

from mathamr_kedro.vectors.edge_seals import find_damage, seal_build


@pytest.fixture
def folder(tmp_path):
    for name in ("posts/wal/open-1", "posts/segments/a/chunk_0.mmap", "posts/a.json"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return tmp_path


def list_damage(folder, seals):
    return [str(error) for error in find_damage(folder, seals, whole=True)]


def test_logs_that_are_still_prepared_are_no_damage_when_they_are_gone(folder):
    for name in ("posts/wal/tmp-open-2", "posts/segments/a/tracker_journal.dat"):
        (folder / name).write_text("x")
    seals = seal_build(folder)
    assert sorted(seals) == [
        "posts/a.json", "posts/segments/a/chunk_0.mmap", "posts/wal/open-1",
    ]  # fmt: skip
    (folder / "posts/wal/tmp-open-2").rename(folder / "posts/wal/open-2")
    assert list_damage(folder, seals) == []


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("posts/a.json", "other", 0),
        ("posts/a.json", "", 1),
        ("posts/segments/a/chunk_0.mmap", "posts/segments/a/chunk_0.mmaq", 1),
    ],
)
def test_what_counts_as_damage(folder, name, text, count):
    seals = seal_build(folder)
    (folder / name).write_text(text)
    assert len(list_damage(folder, seals)) == count
