"""The index in a folder: files, damage, readers, a full disk."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys

import pytest
import qdrant_edge as qe

from mathamr_kedro.base.checksums import list_damage
from mathamr_kedro.base.errors import DamagedFileError, DiskFullError
from mathamr_kedro.vectors import (
    EngineConfig,
    HnswConfig,
    SearchMode,
    build_index,
    edge,
    open_index,
)
from tests.vectors.conftest import (
    SlowIndex,
    check_engine,
    check_hits,
    draw_posts,
    draw_query,
    make_store,
)

EDGE = EngineConfig("edge")
READER = """
import json, os, sys
from pathlib import Path
from mathamr_kedro.vectors import EngineConfig, VectorStore, open_index
from tests.vectors.conftest import draw_query
vectors, folder, ending = sys.argv[1:]
for _ in range(5):
    index = open_index(EngineConfig("edge"), VectorStore(vectors), Path(folder))
    (hits,) = index.search_maxsim([draw_query(1).vectors], 1000)
    print(json.dumps(sorted(hits.ids, key=int)), flush=True)
    sys.stdin.readline()
    if ending == "close":
        index.close()
os._exit(0)
"""


@pytest.fixture
def folder(tmp_path, store):
    """An index, built."""
    folder = tmp_path / "edge"
    folder.mkdir()
    build_index(EDGE, store, folder)
    return folder


def digest(folder):
    """Names and contents of all files."""
    files = (file for file in folder.rglob("*") if file.is_file())
    return {
        str(file.relative_to(folder)): hashlib.blake2b(file.read_bytes()).hexdigest()
        for file in files
    }


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["close", "die"])
def test_many_processes_have_it_open_and_no_byte_of_it_changes(
    folder, store, posts, ending
):
    before, known = digest(folder), [post.key for post in posts]
    readers = [
        subprocess.Popen(
            [sys.executable, "-c", READER, str(store.folder), str(folder), ending],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    for _ in range(5):
        for reader in readers:
            assert json.loads(reader.stdout.readline()) == known
            reader.stdin.write("\n")
            reader.stdin.flush()
    for reader in readers:
        with reader:
            assert reader.wait() == 0
    assert digest(folder) == before
    assert list_damage(folder, "build it again") == []


def test_what_is_open_stays_open_when_its_folder_goes(folder, store, posts):
    with open_index(EDGE, store, folder) as index:
        shutil.rmtree(folder)
        check_engine(index, SlowIndex(posts), depth=5)


def test_disk_of_posts_and_formulas_is_told_apart(folder, store):
    with open_index(EDGE, store, folder) as index:
        size = index.size()
    assert size.source == "disk"
    for kind, used in (("posts", size.post_bytes), ("formulas", size.formula_bytes)):
        files = (folder / kind).rglob("*")
        assert used == 512 * sum(f.stat().st_blocks for f in files if f.is_file()) > 0


def cut(file):
    os.truncate(file, file.stat().st_size // 2)


def empty(file):
    os.truncate(file, 0)


def delete(file):
    file.unlink()


def flip(file):
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.slow
@pytest.mark.parametrize("damage", [cut, empty, delete, flip])
def test_no_search_sees_a_damaged_index(folder, store, posts, tmp_path, damage):
    """Each file in turn: a sentence with the remedy, or the right answer."""
    whole = folder.rename(tmp_path / "whole")
    for name in digest(whole):
        if not (whole / name).stat().st_size:
            continue
        shutil.copytree(whole, folder)
        damage(folder / name)
        try:
            with open_index(EDGE, store, folder, verify=damage is flip) as index:
                check_engine(index, SlowIndex(posts), depth=5)
        except DamagedFileError as error:
            assert str(folder) in str(error)
            assert "kedro run --pipelines indexing" in str(error) or "seals" in name
        else:
            assert "seals" in name
        shutil.rmtree(folder)


def test_full_disk_is_an_error_that_names_the_folder(
    store, posts, monkeypatch, tmp_path
):
    calls = []

    def fill_up(path):
        calls.append(path)
        return shutil._ntuple_diskusage(1 << 40, 0, (1 << 40) if len(calls) < 5 else 9)

    folder = tmp_path / "edge"
    folder.mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(edge.shutil, "disk_usage", fill_up)
        with pytest.raises(
            DiskFullError, match=r"64 MiB .*edge.* \(got 0\); make room"
        ):
            build_index(EDGE, store, folder)


def test_walks_find_most_and_vectors_decide(tmp_path, monkeypatch):
    """Qdrant builds graphs only of large segments; here every one counts as large."""
    make, optimizers = qe.EdgeConfig, qe.EdgeOptimizersConfig(indexing_threshold=1)
    monkeypatch.setattr(
        qe, "EdgeConfig", lambda **values: make(**values, optimizers=optimizers)
    )
    monkeypatch.setattr(edge, "FULL_SCAN_KB", 1)
    posts = draw_posts(300, width=64)
    store = make_store(tmp_path / "vectors", posts, per_shard=150)
    twin, query = SlowIndex(posts), draw_query(4, width=64)
    config = EngineConfig("edge", hnsw=HnswConfig(16, 16))
    (folder := tmp_path / "edge").mkdir()
    build_index(config, store, folder)
    with open_index(config, store, folder) as index:
        walk = SearchMode(exact=False)
        (hits,) = index.search_documents([query.document()], 10, walk)
        truth = twin.documents(query.document(), 10)
        assert len(set(hits.ids) & set(truth[0])) >= 8
        check_hits(hits, (hits.ids, truth[1]))
        (hits,) = index.search_reranked([query], 300, 10, walk)
        order, scores = twin.maxsim(query.vectors, 1000)
        check_hits(hits, ([k for k in order if k in hits.ids], scores))
