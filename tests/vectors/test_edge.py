"""The embedded Qdrant engine: exact searches equal loops, builds survive."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import qdrant_edge as qe

from mathamr_kedro.base.errors import (
    ConfigurationError,
    DiskFullError,
    LockedError,
    MissingInputError,
)
from mathamr_kedro.base.files import FolderLock
from mathamr_kedro.vectors import (
    EngineConfig,
    edge_builds,
    following,
    open_index,
)
from mathamr_kedro.vectors import index as engines
from mathamr_kedro.vectors.edge import EdgeIndex
from mathamr_kedro.vectors.edge_collection import EdgeCollection
from mathamr_kedro.vectors.edge_views import EdgeView
from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors
from mathamr_kedro.vectors.protocol import (
    HnswConfig,
    QuantisationConfig,
    SearchMode,
)
from mathamr_kedro.vectors.store import VectorStore
from tests.vectors.conftest import (
    ENCODER,
    WIDTH,
    SlowIndex,
    check_engine,
    check_hits,
    draw_posts,
    draw_query,
    make_store,
)

HNSW = SearchMode(exact=False)


@pytest.fixture
def index(tmp_path, store):
    with EdgeIndex.open(tmp_path / "edge", store) as opened:
        yield opened


@pytest.mark.parametrize("depth", [1, 20, 1000])
@pytest.mark.parametrize("types", [None, frozenset({"answer"})])
def test_every_exact_search_equals_loops(index, posts, depth, types):
    check_engine(index, SlowIndex(posts), depth, types)


def test_names_instead_of_numbers_and_many_ties(tmp_path):
    """Ids like those of NTCIR-12; 60 equal posts, so that the cut falls among them."""
    post = draw_posts(1, formulas=2)[0]
    keys = [f"Zeta_function:{i}" for i in range(60)] + ["0042", "42"]
    posts = [
        post._replace(
            key=k, formula_ids=[f"{k}/{i}" for i in range(2)], returnable=None
        )
        for k in keys
    ]
    store = make_store(tmp_path / "vectors", posts)
    with EdgeIndex.open(tmp_path / "edge", store) as index:
        assert index.size()[:2] == (62, 124)
        check_engine(index, SlowIndex(posts), depth=5)


def test_living_index_follows_the_store(tmp_path):
    rng = np.random.default_rng(0)
    living: dict[str, PostEntry] = {}
    with VectorStore.open(tmp_path / "vectors", ENCODER, WIDTH) as store:
        index = EdgeIndex.open(tmp_path / "edge", VectorStore(store.folder))
        for step in range(9):
            added = draw_posts(int(rng.integers(1, 7)), step, int(rng.integers(1, 25)))
            gone = {str(k) for k in rng.integers(1, 30, 2)} - {p.key for p in added}
            store.commit(PostVectors.of(added), delete=gone)
            if step == 5:
                store.compact()
            living = {k: p for k, p in living.items() if k not in gone}
            living |= {p.key: p for p in added}
            if step % 3 == 2:  # reopened instead of refreshed
                index.close()
                index = EdgeIndex.open(tmp_path / "edge", VectorStore(store.folder))
            index.refresh()
            check_engine(index, SlowIndex(living.values()))
            formulas = sum(map(sum, (p.returnable for p in living.values())))
            assert index.size()[:2] == (len(living), formulas)
        index.close()


def test_graph_searches_find_the_same_in_a_small_index(tmp_path, store, posts):
    hnsw = HnswConfig(all_m=16, formula_m=16)
    twin = SlowIndex(posts)
    query = draw_query(4)
    with EdgeIndex.open(tmp_path / "edge", store, hnsw) as index:
        (hits,) = index.search_maxsim([query.vectors], 10, HNSW)
        check_hits(hits, twin.maxsim(query.vectors, 10))
        (hits,) = index.search_documents([query.document()], 10, HNSW)
        check_hits(hits, twin.documents(query.document(), 10))
        answers = frozenset({"answer"})
        (hits,) = index.search_reranked([query], 9, 5, HNSW, answers)
        pool, _ = twin.documents(query.document(), 9, answers)
        order, scores = twin.maxsim(query.vectors, 1000)
        check_hits(hits, ([k for k in order if k in pool][:5], scores))
        (found,) = index.search_formulas([query.document()], 10, HNSW)
        assert found.ids == twin.formulas(query.document(), 10)[0]


@pytest.mark.parametrize("types", [None, frozenset({"answer"})])
def test_each_vector_walks_alone_and_the_union_is_ordered(
    tmp_path, store, posts, types
):
    """So small an index is scanned, so that each walk finds the true neighbours."""
    twin = SlowIndex(posts)
    mode = SearchMode(exact=False, hnsw_ef=3, walks="per_vector")
    with EdgeIndex.open(tmp_path / "edge", store, HnswConfig(all_m=16)) as index:
        for seed in range(4):
            query = draw_query(seed).vectors
            (hits,) = index.search_maxsim([query], 1000, mode, types)
            truth = twin.walk_per_vector(query, 3, 1000, types)
            check_hits(hits, truth)
            assert 3 <= len(hits) <= 3 * len(query) < len(posts)
            (hits,) = index.search_maxsim([query], 2, mode, types)
            check_hits(hits, (truth[0][:2], truth[1]))
            one = SearchMode(exact=False, hnsw_ef=3)
            (hits,) = index.search_maxsim([query], 1000, one, types)
            assert len(hits) == len(twin.maxsim(query, 1000, types)[0])


def test_disk_of_posts_and_formulas_is_told_apart(tmp_path, store, index):
    size = index.size()
    assert size.source == "disk"
    for kind, used in (("posts", size.post_bytes), ("formulas", size.formula_bytes)):
        files = (tmp_path / "edge").glob(f"build-*/{kind}/**/*")
        assert used == 512 * sum(f.stat().st_blocks for f in files if f.is_file()) > 0


def test_graph_search_without_graph_is_refused(index):
    with pytest.raises(ConfigurationError, match=r"hnsw\.all_m"):
        index.search_maxsim([draw_query(1).vectors], 5, HNSW)
    with pytest.raises(ConfigurationError, match=r"hnsw\.formula_m"):
        index.search_formulas([draw_query(1).document()], 5, HNSW)


def test_unknown_post_cannot_be_reranked(index):
    query = draw_query(1).vectors
    assert index.rerank([query], [[]])[0].ids == []
    with pytest.raises(MissingInputError, match="'999'"):
        index.rerank([query], [["1", "999"]])


def test_other_parameters_make_a_new_build_and_remove_the_old(tmp_path, store, posts):
    folder = tmp_path / "edge"
    EdgeIndex.open(folder, store).close()
    (first,) = folder.glob("build-*")
    with EdgeIndex.open(folder, store, HnswConfig(doc_m=8)) as index:
        (second,) = folder.glob("build-*")
        assert first != second
        check_engine(index, SlowIndex(posts))


def test_index_is_opened_without_being_built_again(tmp_path, store, monkeypatch):
    EdgeIndex.open(tmp_path / "edge", store).close()
    monkeypatch.setattr(following.Follower, "_build", None)
    EdgeIndex.open(tmp_path / "edge", store).close()


def test_killed_build_goes_on_where_it_stopped(tmp_path, posts, monkeypatch):
    store = make_store(tmp_path / "vectors", posts, per_commit=10)
    monkeypatch.setattr(following, "_NOTE_EVERY", 2)
    written: list[int] = []
    original = EdgeCollection.upsert

    def upsert(self, points):
        if len(written) == 7:
            raise KeyboardInterrupt
        written.append(len(points))
        original(self, points)

    monkeypatch.setattr(EdgeCollection, "upsert", upsert)
    with pytest.raises(KeyboardInterrupt):
        EdgeIndex.open(tmp_path / "edge", store)
    assert not (tmp_path / "edge" / "edge.json").exists()
    total = len(written)
    monkeypatch.setattr(
        EdgeCollection,
        "upsert",
        lambda self, points: (written.append(len(points)), original(self, points)),
    )
    with EdgeIndex.open(tmp_path / "edge", store) as index:
        check_engine(index, SlowIndex(posts))
    assert total == 7
    assert len(written) == 13  # twelve batches, the seventh a second time


def test_damaged_index_is_built_anew_from_the_store(tmp_path, store, posts, caplog):
    folder = tmp_path / "edge"
    EdgeIndex.open(folder, store).close()
    shutil.rmtree(next(folder.glob("build-*")) / "formulas")
    with EdgeIndex.open(folder, store) as index:
        check_engine(index, SlowIndex(posts))
    assert "built anew" in caplog.text


def test_store_made_anew_makes_the_index_anew(tmp_path, store):
    EdgeIndex.open(tmp_path / "edge", store).close()
    shutil.rmtree(tmp_path / "vectors")
    others = draw_posts(30, seed=77)
    again = make_store(tmp_path / "vectors", others)
    with EdgeIndex.open(tmp_path / "edge", again) as index:
        check_engine(index, SlowIndex(others))


def test_any_number_of_readers_have_it_open(tmp_path, store, posts, index):
    seals = json.loads((tmp_path / "edge/edge.json").read_text())["files"]
    with EdgeIndex.open(tmp_path / "edge", store, verify=True) as second:
        for opened in (index, second, index):
            check_engine(opened, SlowIndex(posts), depth=5)
    check_engine(index, SlowIndex(posts), depth=5)
    assert list(EdgeIndex.verify(tmp_path / "edge")) == []
    assert json.loads((tmp_path / "edge/edge.json").read_text())["files"] == seals


def test_readers_keep_what_they_opened_while_a_writer_goes_on(tmp_path, posts):
    """The writer has to change a copy; without readers it changes the build itself."""
    folder, edge_folder = tmp_path / "vectors", tmp_path / "edge"
    store = make_store(folder, posts)
    reader = EdgeIndex.open(edge_folder, store)
    added = draw_posts(5, seed=7, start=900)
    with VectorStore.open(folder, ENCODER, WIDTH) as writer:
        writer.commit(PostVectors.of(added), delete=["1", "2"])
    now = {p.key: p for p in [*posts, *added] if p.key not in ("1", "2")}
    (first,) = edge_folder.glob("build-*")
    with EdgeIndex.open(edge_folder, VectorStore(folder)) as second:
        check_engine(second, SlowIndex(now.values()))
        check_engine(reader, SlowIndex(posts))
    (copy,) = edge_folder.glob("build-*")
    assert copy != first
    reader.refresh()
    check_engine(reader, SlowIndex(now.values()))
    reader.close()
    assert not list(edge_folder.glob("view-*"))
    with VectorStore.open(folder, ENCODER, WIDTH) as writer:
        writer.commit(delete=["3"])
    EdgeIndex.open(edge_folder, VectorStore(folder)).close()
    assert list(edge_folder.glob("build-*")) == [copy]
    assert list(EdgeIndex.verify(edge_folder)) == []


def test_view_of_a_killed_reader_is_removed(tmp_path, store):
    EdgeIndex.open(tmp_path / "edge", store).close()
    reader = (
        "import os, sys\n"
        "from mathamr_kedro.vectors.edge import EdgeIndex\n"
        "from mathamr_kedro.vectors.store import VectorStore\n"
        "index = EdgeIndex.open(sys.argv[1], VectorStore(sys.argv[2]))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    paths = [str(tmp_path / "edge"), str(store.folder)]
    subprocess.run([sys.executable, "-c", reader, *paths], check=False)
    (build,) = (tmp_path / "edge").glob("build-*")
    (left,) = (tmp_path / "edge").glob("view-*")
    shutil.copytree(left, left.with_name("view-of-another-build"))
    assert not EdgeView.are_open(build)
    assert [v.name for v in build.parent.glob("view-*")] == ["view-of-another-build"]
    with VectorStore.open(store.folder, ENCODER, WIDTH) as writer:
        writer.commit(delete=["3"])
    EdgeIndex.open(tmp_path / "edge", VectorStore(store.folder)).close()
    assert not list(build.parent.glob("view-*"))


def test_where_there_are_no_hard_links_files_are_copied(
    tmp_path, store, posts, monkeypatch
):
    def refuse(*names):
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    with EdgeIndex.open(tmp_path / "edge", store) as index:
        check_engine(index, SlowIndex(posts), depth=5)
        (view,) = (tmp_path / "edge").glob("view-*")
        (chunk,) = view.glob("posts/segments/*/vector_storage-doc/vectors/chunk_0.mmap")
        held = chunk.stat()
        assert held.st_blocks * 512 < held.st_size / 4  # holes are not


def test_an_index_that_another_process_changes_is_waited_for(tmp_path, store, posts):
    """A search scans the vectors in the end, whatever it asks for."""
    config = EngineConfig("edge")
    with FolderLock(tmp_path / "edge", ""):
        with pytest.raises(LockedError, match="wait for it"):
            open_index(config, store, tmp_path / "edge")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engines, "_PATIENCE", 0.2)
            index = open_index(config, store, tmp_path / "edge", beside_writers=True)
        check_engine(index, SlowIndex(posts), depth=5)
        query = draw_query(1)
        (hits,) = index.search_documents([query.document()], 10, HNSW)
        check_hits(hits, SlowIndex(posts).documents(query.document(), 10))


def remove_segments(folder):
    for segments in folder.glob("build-*/*/segments/*"):
        shutil.rmtree(segments)


def remove_segments_and_logs(folder):
    remove_segments(folder)
    for log in folder.glob("build-*/*/wal/*"):
        log.unlink()


def remove_logs(folder):
    for log in folder.glob("build-*/*/wal/*"):
        log.unlink()


def empty_vectors(folder):
    for file in folder.rglob("chunk_0.mmap"):
        file.write_bytes(b"")


def flip_vectors(folder):
    for file in folder.rglob("vector_storage-all/vectors/chunk_0.mmap"):
        with file.open("r+b") as opened:
            opened.seek(2)
            opened.write(b"\x55\x55")


def flip_payloads(folder):
    for file in folder.rglob("page_0.dat"):
        with file.open("r+b") as opened:
            opened.seek(9)
            opened.write(b"\x55\x55")


@pytest.mark.parametrize(
    "damage",
    [
        remove_segments,
        remove_segments_and_logs,
        remove_logs,
        empty_vectors,
        flip_vectors,
        flip_payloads,
    ],
)
def test_no_search_sees_a_damaged_index(tmp_path, store, posts, damage, caplog):
    folder = tmp_path / "edge"
    EdgeIndex.open(folder, store).close()
    assert list(EdgeIndex.verify(folder)) == []
    damage(folder)
    assert "kedro run --pipelines indexing" in str(next(EdgeIndex.verify(folder)))
    whole = damage in (flip_vectors, flip_payloads)
    with EdgeIndex.open(folder, store, verify=whole) as index:
        check_engine(index, SlowIndex(posts))
    assert "built anew from the store" in caplog.text
    assert list(EdgeIndex.verify(folder)) == []


@pytest.mark.slow
def test_opening_searching_and_being_killed_leave_a_sound_index(
    tmp_path, store, monkeypatch
):
    """Files that the engine writes anew when it opens them are no damage."""
    folder = tmp_path / "edge"
    EdgeIndex.open(folder, store).close()
    with VectorStore.open(store.folder, ENCODER, WIDTH) as writer:
        writer.commit(PostVectors.of(draw_posts(9, 5, start=55)), delete=["3"])
    EdgeIndex.open(folder, VectorStore(store.folder)).close()
    monkeypatch.setattr(following.Follower, "_build", None)
    script = (
        "import os, sys; from pathlib import Path\n"
        "from mathamr_kedro.vectors.edge import EdgeIndex\n"
        "from mathamr_kedro.vectors.store import VectorStore\n"
        "from tests.vectors.conftest import draw_query\n"
        "index = EdgeIndex.open(sys.argv[1], VectorStore(sys.argv[2]))\n"
        "index.search_maxsim([draw_query(1).vectors], 5)\n"
        "os._exit(9)"
    )
    command = [sys.executable, "-c", script, str(folder), str(store.folder)]
    assert subprocess.run(command, check=False).returncode == 9
    for _ in range(2):
        with EdgeIndex.open(folder, VectorStore(store.folder), verify=True) as index:
            index.search_maxsim([draw_query(1).vectors], 5)
        assert list(EdgeIndex.verify(folder)) == []


def test_kill_while_changes_are_applied_is_no_damage(tmp_path, store, monkeypatch):
    folder = tmp_path / "edge"
    EdgeIndex.open(folder, store).close()
    with VectorStore.open(store.folder, ENCODER, WIDTH) as writer:
        writer.commit(PostVectors.of(draw_posts(9, 5, start=55)), delete=["3"])
    changed = VectorStore(store.folder)
    with monkeypatch.context() as patch:
        patch.setattr(edge_builds.EdgeBuilds, "write_note", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            EdgeIndex.open(folder, changed)
    monkeypatch.setattr(following.Follower, "_build", None)
    with EdgeIndex.open(folder, changed, verify=True) as index:
        assert index.size().posts == len(changed) == 62
    assert json.loads((folder / "edge.json").read_text())["files"]


def _interrupt(*args):
    raise KeyboardInterrupt


def test_index_newer_than_its_store_is_built_anew(tmp_path):
    """The store came back from a copy; as many posts, one with other vectors."""
    posts = draw_posts(90)
    store = make_store(tmp_path / "vectors", posts)
    EdgeIndex.open(tmp_path / "edge", store).close()
    shutil.copytree(tmp_path / "vectors", tmp_path / "copy")
    with VectorStore.open(tmp_path / "vectors", ENCODER, WIDTH) as writer:
        vectors = -posts[40].vectors
        writer.commit(PostVectors.of([posts[40]._replace(vectors=vectors)]))
    EdgeIndex.open(tmp_path / "edge", VectorStore(tmp_path / "vectors")).close()
    with EdgeIndex.open(tmp_path / "edge", VectorStore(tmp_path / "copy")) as index:
        check_engine(index, SlowIndex(posts), depth=90)


def test_store_that_was_opened_before_a_change_is_read_again(tmp_path, monkeypatch):
    posts = draw_posts(20)
    store = make_store(tmp_path / "vectors", posts[:15])
    before = VectorStore(store.folder)
    with VectorStore.open(store.folder, ENCODER, WIDTH) as writer:
        writer.commit(PostVectors.of(posts[15:]))
    EdgeIndex.open(tmp_path / "edge", VectorStore(store.folder)).close()
    monkeypatch.setattr(following.Follower, "open", None)  # which would lock it
    with EdgeIndex.open(tmp_path / "edge", before) as index:
        check_engine(index, SlowIndex(posts))


def test_index_that_missed_a_compaction_is_built_anew(tmp_path, monkeypatch):
    """What was deleted before the compaction is known to nobody."""
    posts = draw_posts(30)
    store = make_store(tmp_path / "vectors", posts)
    EdgeIndex.open(tmp_path / "edge", store).close()
    with VectorStore.open(tmp_path / "vectors", ENCODER, WIDTH) as writer:
        writer.commit(delete=["7", "8"])
        writer.compact()
        writer.commit(PostVectors.of(draw_posts(2, seed=4, start=31)))
    built = []
    build = following.Follower._build
    monkeypatch.setattr(
        following.Follower, "_build", lambda self: built.append(1) or build(self)
    )
    living = [p for p in posts if p.key not in "78"]
    now = VectorStore(tmp_path / "vectors")
    with EdgeIndex.open(tmp_path / "edge", now) as index:
        check_engine(index, SlowIndex([*living, *draw_posts(2, seed=4, start=31)]))
    assert built == [1]


def test_compaction_that_an_index_has_seen_coming_needs_no_new_build(
    tmp_path, store, monkeypatch
):
    with VectorStore.open(store.folder, ENCODER, WIDTH) as writer:
        writer.commit(delete=["7", "8"])
        EdgeIndex.open(tmp_path / "edge", VectorStore(store.folder)).close()
        writer.compact()
    monkeypatch.setattr(following.Follower, "_build", None)
    now = VectorStore(store.folder)
    with EdgeIndex.open(tmp_path / "edge", now) as index:
        assert index.size()[:2] == (58, now.num_formulas())


def test_full_disk_is_an_error_and_the_build_goes_on_later(
    tmp_path, posts, monkeypatch
):
    store = make_store(tmp_path / "vectors", posts, per_commit=10)
    monkeypatch.setattr(following, "_NOTE_EVERY", 2)
    calls = []

    def fill_up(folder):
        calls.append(folder)
        return shutil._ntuple_diskusage(1 << 40, 0, (1 << 40) if len(calls) < 8 else 9)

    with monkeypatch.context() as patch:
        patch.setattr(edge_builds.shutil, "disk_usage", fill_up)
        with pytest.raises(
            DiskFullError, match=r"64 MiB .*edge.* \(got 0\); make room"
        ):
            EdgeIndex.open(tmp_path / "edge", store)
    written = []
    upsert = EdgeCollection.upsert
    monkeypatch.setattr(
        EdgeCollection,
        "upsert",
        lambda self, points: (written.append(1), upsert(self, points)),
    )
    with EdgeIndex.open(tmp_path / "edge", store) as index:
        check_engine(index, SlowIndex(posts))
    assert len(written) == 6  # of twelve batches


@pytest.mark.parametrize("kind", ["scalar", "product", "binary"])
def test_walks_compare_codes_and_vectors_decide(tmp_path, monkeypatch, kind):
    """Qdrant makes codes of large segments alone; here every one counts as large."""
    make, optimizers = qe.EdgeConfig, qe.EdgeOptimizersConfig(indexing_threshold=1)
    monkeypatch.setattr(
        qe, "EdgeConfig", lambda vectors: make(vectors=vectors, optimizers=optimizers)
    )
    posts = draw_posts(300, width=64)
    store = make_store(tmp_path / "vectors", posts, per_commit=150)
    codes = QuantisationConfig(kind, compression="x4")
    hnsw = HnswConfig(16, 16, 16, full_scan_threshold=1, quantisation=codes)
    twin, query = SlowIndex(posts), draw_query(4, width=64)
    with EdgeIndex.open(tmp_path / "edge", store, hnsw) as index:
        assert list((tmp_path / "edge").rglob("quantized.data"))
        check_hits(
            index.search_maxsim([query.vectors], 10)[0], twin.maxsim(query.vectors, 10)
        )  # exact search looks at vectors
        wide = SearchMode(exact=False, oversampling=10.0)
        (hits,) = index.search_documents([query.document()], 10, wide)
        truth = twin.documents(query.document(), 10)
        assert len(set(hits.ids) & set(truth[0])) >= 8
        expected = [truth[1][key] for key in hits.ids]
        np.testing.assert_allclose(hits.scores, expected, atol=1e-6)
        (hits,) = index.search_reranked([query], 300, 10, wide)
        order, scores = twin.maxsim(query.vectors, 1000)
        check_hits(hits, ([k for k in order if k in hits.ids], scores))
        (rough,) = index.search_documents(
            [query.document()], 10, SearchMode(exact=False, oversampling=None)
        )
        apart = rough.scores - [truth[1][key] for key in rough.ids]
        assert np.abs(apart).max() > 1e-4  # as the codes rank them


def test_an_index_without_codes_has_none(tmp_path, index):
    assert not list((tmp_path / "edge").rglob("quantized*"))
