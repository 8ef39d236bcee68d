"""The index in a folder: files, damage, readers, a full disk."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
import qdrant_edge as qe

from mathamr_kedro.base.errors import DiskFullError
from mathamr_kedro.base.files import FolderLock
from mathamr_kedro.vectors import UpdatableIndex, edge
from mathamr_kedro.vectors.edge import EdgeConnection
from mathamr_kedro.vectors.protocol import HnswConfig, SearchMode
from mathamr_kedro.vectors.qdrant import QdrantIndex
from tests.conftest import PATIENCE
from tests.vectors.conftest import (
    SlowIndex,
    check_engine,
    check_hits,
    draw_posts,
    draw_query,
    make_store,
)

from .test_qdrant import encode, find_updatable, make_text

READER = """
import json, sys
from pathlib import Path
from mathamr_kedro.vectors import EngineConfig, VectorStore, open_index
from tests.vectors.conftest import draw_query
vectors, folder, ending = sys.argv[1:]
index = open_index(EngineConfig("edge"), VectorStore(vectors), Path(folder))
for _ in range(2):
    (hits,) = index.search_maxsim([draw_query(1).vectors], 1000)
    print(json.dumps(sorted(hits.ids, key=int)), flush=True)
    sys.stdin.readline()
if ending == "close":
    index.close()
import os; os._exit(0)
"""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "edge"


def open_edge(folder, store, hnsw=None, verify=False):
    return QdrantIndex.open(EdgeConnection(folder, hnsw, verify), store)


def start_reader(store, folder, ending="close"):
    return subprocess.Popen(
        [sys.executable, "-c", READER, str(store.folder), str(folder), ending],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def ask(reader):
    return json.loads(reader.stdout.readline())


def go_on(reader):
    reader.stdin.write("\n")
    reader.stdin.flush()


@pytest.mark.slow
def test_processes_read_beside_each_other_and_a_writer(folder, store, posts):
    """Two have it open, a third changes it, a fourth sees the change."""
    open_edge(folder, store).close()
    before = [post.key for post in posts]
    with start_reader(store, folder) as first, start_reader(store, folder) as second:
        assert [ask(first), ask(second)] == [before, before]
        index = find_updatable(EdgeConnection(folder), store)
        index.add([make_text("900")])
        index.delete(["1"])
        with start_reader(store, folder) as third:
            assert ask(third) == [*before[1:], "900"]
            for reader in (first, second, third):
                go_on(reader)
            assert [ask(first), ask(second)] == [before, before]
            assert ask(third) == [*before[1:], "900"]
            for reader in (first, second, third):
                go_on(reader)
    assert not list(folder.glob("view-*"))
    assert len(list(folder.glob("build-*"))) == 1


@pytest.mark.slow
def test_view_of_a_killed_reader_is_removed_by_the_next_writer(folder, store):
    open_edge(folder, store).close()
    with start_reader(store, folder, "die") as reader:
        ask(reader)
        go_on(reader)
        ask(reader)
        go_on(reader)
    assert len(list(folder.glob("view-*"))) == 1
    assert list(EdgeConnection(folder).verify()) == []
    with open_edge(folder, store):
        find_updatable(EdgeConnection(folder), store).add([make_text("900")])
        assert len(list(folder.glob("view-*"))) == 1  # of the living one


def test_disk_of_posts_and_formulas_is_told_apart(folder, store):
    with open_edge(folder, store) as index:
        size = index.size()
    assert size.source == "disk"
    for kind, used in (("posts", size.post_bytes), ("formulas", size.formula_bytes)):
        files = folder.glob(f"build-*/{kind}/**/*")
        assert used == 512 * sum(f.stat().st_blocks for f in files if f.is_file()) > 0


def test_without_hard_links_files_are_copied(folder, store, posts, monkeypatch):
    def refuse(*names):
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    with open_edge(folder, store) as index:
        check_engine(index, SlowIndex(posts), depth=5)
        (view,) = folder.glob("view-*")
        (chunk,) = view.glob("posts/segments/*/vector_storage-doc/vectors/chunk_0.mmap")
        held = chunk.stat()
        assert held.st_blocks * 512 < held.st_size / 4  # holes are not


def remove_segments(folder):
    for segments in folder.glob("build-*/*/segments/*"):
        shutil.rmtree(segments)


def remove_formulas(folder):
    shutil.rmtree(next(folder.glob("build-*")) / "formulas")


def empty_vectors(folder):
    for file in folder.rglob("chunk_0.mmap"):
        file.write_bytes(b"")


def flip(folder, name):
    for file in folder.rglob(name):
        with file.open("r+b") as opened:
            opened.seek(9)
            opened.write(b"\x55\x55")


def flip_vectors(folder):
    flip(folder, "vector_storage-all/vectors/chunk_0.mmap")


def flip_payloads(folder):
    flip(folder, "page_0.dat")


@pytest.mark.parametrize(
    "damage",
    [remove_segments, remove_formulas, empty_vectors, flip_vectors, flip_payloads],
)
def test_no_search_sees_a_damaged_index(folder, store, posts, damage):
    open_edge(folder, store).close()
    assert list(EdgeConnection(folder).verify()) == []
    damage(folder)
    (error, *_) = EdgeConnection(folder).verify()
    assert "kedro run --pipelines indexing" in str(error)
    whole = damage in (flip_vectors, flip_payloads)
    with open_edge(folder, store, verify=whole) as index:
        check_engine(index, SlowIndex(posts))
    assert list(EdgeConnection(folder).verify()) == []


@pytest.mark.slow
def test_added_posts_of_a_damaged_index_are_kept_or_named_as_lost(
    folder, store, caplog
):
    index = find_updatable(EdgeConnection(folder), store)
    index.add([make_text("900")])
    remove_formulas(folder)
    open_edge(folder, store).close()
    assert "are lost" in caplog.text
    assert index.status().added == 0
    index.add([make_text("900")])
    flip_vectors(folder)
    open_edge(folder, store, verify=True).close()
    assert index.status().waiting == 1


def test_full_disk_is_an_error_and_the_index_is_built_later(
    folder, store, posts, monkeypatch
):
    calls = []

    def fill_up(path):
        calls.append(path)
        return shutil._ntuple_diskusage(1 << 40, 0, (1 << 40) if len(calls) < 8 else 9)

    with monkeypatch.context() as patch:
        patch.setattr(edge.shutil, "disk_usage", fill_up)
        with pytest.raises(
            DiskFullError, match=r"64 MiB .*edge.* \(got 0\); make room"
        ):
            open_edge(folder, store)
    assert not list(folder.glob("build-*"))
    with open_edge(folder, store) as index:
        check_engine(index, SlowIndex(posts), depth=5)


def test_walks_find_most_and_vectors_decide(folder, tmp_path, monkeypatch):
    """Qdrant builds graphs only of large segments; here every one counts as large."""
    make, optimizers = qe.EdgeConfig, qe.EdgeOptimizersConfig(indexing_threshold=1)
    monkeypatch.setattr(
        qe, "EdgeConfig", lambda vectors: make(vectors=vectors, optimizers=optimizers)
    )
    monkeypatch.setattr(edge, "FULL_SCAN_KB", 1)
    posts = draw_posts(300, width=64)
    store = make_store(tmp_path / "vectors", posts, per_shard=150)
    twin, query = SlowIndex(posts), draw_query(4, width=64)
    with open_edge(folder, store, HnswConfig(16, 16)) as index:
        walk = SearchMode(exact=False)
        (hits,) = index.search_documents([query.document()], 10, walk)
        truth = twin.documents(query.document(), 10)
        assert len(set(hits.ids) & set(truth[0])) >= 8
        check_hits(hits, (hits.ids, truth[1]))
        (hits,) = index.search_reranked([query], 300, 10, walk)
        order, scores = twin.maxsim(query.vectors, 1000)
        check_hits(hits, ([k for k in order if k in hits.ids], scores))


def test_a_changed_text_of_an_added_post_is_never_shown(folder, store, caplog):
    index = find_updatable(EdgeConnection(folder), store)
    index.add([make_text("900", "Is FORMULA_0 odd?"), make_text("901")])
    for file in folder.glob("build-*/posts/segments/*/payload_storage/page_*.dat"):
        content = file.read_bytes()
        file.write_bytes(content.replace(b"FORMULA_0 odd", b"FORMULA_0 bad"))
    assert any("payload_storage" in str(e) for e in EdgeConnection(folder).verify())
    with open_edge(folder, store) as found:
        assert [post.post_id for post in found.changes.added.values()] == ["901"]
    assert "are lost (900)" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "empty", "delete"])
def test_an_index_of_damaged_texts_or_ids_opens_and_names_what_is_lost(
    folder, store, tmp_path, caplog, damage
):
    """Each file in turn: nothing that was changed by hand is gone without a word."""
    index = find_updatable(EdgeConnection(folder), store)
    index.add([make_text("900"), make_text("901", "Is FORMULA_0 odd?")])
    index.delete(["1"])
    with open_edge(folder, store) as found:
        before = found.changes
    whole = folder.rename(tmp_path / "whole")
    (segment,) = whole.glob("build-*/posts/segments/*/payload_storage/..")
    for file in (*segment.glob("payload_storage/*.dat"), *segment.glob("mutable_id*")):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(whole, folder)
        damaged = folder / file.relative_to(whole)
        if damage == "delete":
            damaged.unlink()
        else:
            os.truncate(damaged, file.stat().st_size // 2 if damage == "cut" else 0)
        caplog.clear()
        with open_edge(folder, store) as found:
            kept = found.changes
            assert len(found.search_maxsim([draw_query(1).vectors], 1000)[0].ids) > 4
        for key in before.keys - kept.keys:
            assert key in caplog.text.partition("are lost (")[2], file
        assert {before.added[key] for key in kept.added} == {*kept.added.values()}


@pytest.mark.parametrize("damage", ["cut", "flip", "delete"])
def test_damage_of_the_note_loses_no_added_post(folder, store, damage):
    index = find_updatable(EdgeConnection(folder), store)
    index.add([make_text("900")])
    note = folder / "edge.json"
    content = note.read_text()
    if damage == "delete":
        note.unlink()
    else:
        cut = content[: len(content) // 2]
        note.write_text(cut if damage == "cut" else content.replace("size", "sise", 1))
    (error,) = EdgeConnection(folder).verify()
    assert "edge.json" in str(error)
    with open_edge(folder, store) as found:
        assert list(found.changes.added) == ["900"]
    assert list(EdgeConnection(folder).verify()) == []


def test_writers_wait_for_each_other_and_a_second_time_changes_nothing(
    folder, store, tmp_path
):
    def add(key):
        lock = partial(FolderLock, tmp_path / "root", "wait", PATIENCE)
        connection = EdgeConnection(folder)
        return UpdatableIndex(connection, store, lambda: encode, lock).add(
            [make_text(key)]
        )

    keys = ["900", "901", "902", "900"]
    with ThreadPoolExecutor(4) as threads:
        done = list(threads.map(add, keys))
    assert [d.added or d.unchanged for d in done] == [(key,) for key in keys]
    assert sum(map(len, (d.unchanged for d in done))) == 1
    version = EdgeConnection(folder).read_version()
    assert add("901").unchanged == ("901",)
    assert EdgeConnection(folder).read_version() == version
    with open_edge(folder, store) as found:
        assert set(found.changes.entries) == set(keys)
