"""Qdrant's index equals loops, in a folder and on a server, whatever was changed."""

from __future__ import annotations

import numpy as np
import pytest
from qdrant_client import QdrantClient

from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    LockedError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.base.records import Failure, FormulaMention, Post
from mathamr_kedro.graph import FORMULA_TYPE, name_entry
from mathamr_kedro.systems.mathamr_plus import Strategy
from mathamr_kedro.systems.mathamr_plus.strategies import find_formulas, find_posts
from mathamr_kedro.vectors import edge, server, updates
from mathamr_kedro.vectors.edge import EdgeConnection
from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors
from mathamr_kedro.vectors.protocol import HnswConfig, SearchMode
from mathamr_kedro.vectors.qdrant import QdrantIndex
from mathamr_kedro.vectors.server import ServerConnection
from mathamr_kedro.vectors.store import GraphRange, StoreWriter, VectorStore
from mathamr_kedro.vectors.updates import UpdatableIndex

from .conftest import (
    ENCODER,
    WIDTH,
    SlowIndex,
    check_engine,
    check_hits,
    draw_post,
    draw_posts,
    draw_query,
    make_store,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect"),
]
HNSW = SearchMode(exact=False)
FAILURE = Failure("ingestion", "a.pdf", "", "a.pdf", "unknown_file_type", "got .pdf")


@pytest.fixture(params=["edge", "server"])
def connect(request, tmp_path):
    """Makes connections to one index, in a folder or in qdrant-client's local mode."""
    client = QdrantClient(":memory:")

    def make(hnsw=None, name="mine"):
        folder = tmp_path / f"index-{name}"
        if request.param == "edge":
            return EdgeConnection(folder, hnsw)
        return ServerConnection(client, name, folder, hnsw)

    yield make
    client.close()


@pytest.fixture
def collection(request):
    """The class whose writes can be made to fail."""
    kind = request.getfixturevalue("connect")()
    if isinstance(kind, EdgeConnection):
        return edge.EdgeCollection
    return server.ServerCollection


def make_text(key: str, text: str = "Is FORMULA_0 even?") -> Post:
    formula = FormulaMention("FORMULA_0", f"{key}:0", "x1", r"\pi", 3, 12)
    return Post(
        key, "document", key, None, None, None, None, ("π",), "", text, (formula,)
    )


def encode(post: Post) -> PostEntry:
    """Draw vectors by the id; refuse an empty text."""
    if not post.text:
        raise MalformedInputError("Expected words")
    drawn = draw_post(np.random.default_rng(int(post.post_id)), post.post_id)
    return drawn._replace(post_type=post.post_type)


def find_updatable(connection, store):
    return UpdatableIndex(connection, store, lambda: encode)


@pytest.mark.parametrize("depth", [1, 20, 1000])
@pytest.mark.parametrize("types", [None, frozenset({"answer"})])
def test_every_exact_search_equals_loops(connect, store, posts, depth, types):
    with QdrantIndex.open(connect(), store) as index:
        check_engine(index, SlowIndex(posts), depth, types)
        assert (index.posts.encoder, len(index.posts)) == (ENCODER, 60)
        assert index.size()[:2] == (60, store.num_formulas())


def test_names_instead_of_numbers_and_many_ties(connect, tmp_path):
    """Ids like those of NTCIR-12; 60 equal posts, so that the cut falls among them."""
    post = draw_posts(1, formulas=2)[0]
    keys = [f"Zeta_function:{i}" for i in range(60)] + ["0042", "42"]
    posts = [
        post._replace(
            key=k, formula_ids=[f"{k}/{i}" for i in range(2)], returnable=None
        )
        for k in keys
    ]
    with QdrantIndex.open(connect(), make_store(tmp_path, posts)) as index:
        assert index.size()[:2] == (62, 124)
        check_engine(index, SlowIndex(posts), depth=5)


def test_graph_searches_find_the_same_in_a_small_index(connect, store, posts):
    """So small an index is scanned."""
    twin, query, answers = SlowIndex(posts), draw_query(4), frozenset({"answer"})
    with QdrantIndex.open(connect(HnswConfig(all_m=16)), store) as index:
        (hits,) = index.search_maxsim([query.vectors], 10, HNSW)
        check_hits(hits, twin.maxsim(query.vectors, 10))
        (hits,) = index.search_documents([query.document()], 10, HNSW)
        check_hits(hits, twin.documents(query.document(), 10))
        (hits,) = index.search_reranked([query], 9, 5, HNSW, answers)
        pool, _ = twin.documents(query.document(), 9, answers)
        order, scores = twin.maxsim(query.vectors, 1000)
        check_hits(hits, ([k for k in order if k in pool][:5], scores))


@pytest.mark.parametrize("types", [None, frozenset({"answer"})])
def test_each_vector_walks_by_itself_and_the_union_is_ordered(
    connect, store, posts, types
):
    twin = SlowIndex(posts)
    mode = SearchMode(exact=False, hnsw_ef=3)
    with QdrantIndex.open(connect(HnswConfig(all_m=16)), store) as index:
        for seed in range(4):
            query = draw_query(seed).vectors
            (hits,) = index.search_maxsim([query], 1000, mode, types)
            truth = twin.walk_per_vector(query, 3, 1000, types)
            check_hits(hits, truth)
            assert 3 <= len(hits) <= 3 * len(query) < len(posts)
            (hits,) = index.search_maxsim([query], 2, mode, types)
            check_hits(hits, (truth[0][:2], truth[1]))


def test_graph_search_without_graph_and_unknown_posts_are_refused(connect, store):
    query = draw_query(1).vectors
    with QdrantIndex.open(connect(), store) as index:
        with pytest.raises(ConfigurationError, match=r"hnsw\.all_m"):
            index.search_maxsim([query], 5, HNSW)
        assert index.rerank([query], [[]])[0].ids == []
        with pytest.raises(MissingInputError, match="'999'"):
            index.rerank([query], [["1", "999"]])
        with pytest.raises(MissingInputError, match="'601' among the 60"):
            index.posts.read(["601"])


def test_other_graphs_or_vectors_make_another_build(connect, tmp_path, store, posts):
    QdrantIndex.open(connect(), store).close()
    first = connect().read_version()
    QdrantIndex.open(connect(), store).close()
    assert connect().read_version() == first
    with QdrantIndex.open(connect(HnswConfig(doc_m=8)), store) as index:
        check_engine(index, SlowIndex(posts))
    second = connect().read_version()
    others = draw_posts(30, seed=77)
    with QdrantIndex.open(
        connect(HnswConfig(doc_m=8)), make_store(tmp_path / "others", others)
    ) as index:
        check_engine(index, SlowIndex(others))
    assert len({first, second, connect().read_version()}) == 3


@pytest.mark.slow
def test_changed_index_equals_a_dictionary(connect, store, posts):
    """Add, replace and delete; opened again after every change."""
    rng = np.random.default_rng(0)
    truth = {p.key: p for p in posts}
    index = find_updatable(connect(), store)
    for step in range(4):
        keys = {str(k) for k in rng.integers(40, 70, 4)}
        added = index.add([make_text(key) for key in sorted(keys)])
        assert {*added.replaced, *added.unchanged} == keys.intersection(truth)
        truth |= {key: encode(make_text(key)) for key in keys}
        gone = sorted({str(k) for k in rng.integers(30, 70, 3)}.intersection(truth))
        index.delete(gone)
        truth = {k: p for k, p in truth.items() if k not in gone}
        with QdrantIndex.open(connect(), store) as opened:
            assert len(opened.posts) == len(truth)
            formulas = sum(map(sum, (p.returnable for p in truth.values())))
            assert opened.size()[:2] == (len(truth), formulas)
            if step % 3 == 0:
                check_engine(opened, SlowIndex(truth.values()))
            known = {k for k in map(str, range(1, 80)) if k in opened.posts}
            assert known == set(truth)
            asked = sorted(truth)
            found = opened.posts.read(asked)
            expected = PostVectors.of([truth[k] for k in asked])
            np.testing.assert_allclose(found.vectors, expected.vectors, atol=1e-6)
            assert list(found.formula_ids) == list(expected.formula_ids)
            assert found.returnable.tolist() == expected.returnable.tolist()


def test_added_posts_keep_their_texts(connect, store):
    index = find_updatable(connect(), store)
    found = index.add(
        [make_text("7"), FAILURE, make_text("900", "ζ\nFORMULA_0"), make_text("8", "")]
    )
    assert (found.added, found.replaced) == (("7", "900"), ("7",))
    assert [f.reason for f in found.failures] == ["unknown_file_type", "not_encoded"]
    index.delete(["9", "900"])
    with QdrantIndex.open(connect(), store) as opened:
        assert list(opened.posts.read(["7", "1", "7"]).keys) == ["7", "1", "7"]
        assert opened.added == {"7": make_text("7")}
        assert opened.changes.deleted == {"9"}
    status = index.status()
    assert status.is_built
    assert (status.posts, status.added, status.deleted) == (59, 1, 1)


def test_half_precision_is_kept(connect, tmp_path, posts):
    store = make_store(tmp_path, posts, dtype="float16")
    find_updatable(connect(), store).add([make_text("900")])
    with QdrantIndex.open(connect(), store) as opened:
        found = opened.posts.read(["900", "1"]).vectors
        assert found.dtype == np.float16
        expected = PostVectors.of([encode(make_text("900"))]).astype("float16")
        np.testing.assert_array_equal(found[: len(expected.vectors)], expected.vectors)


@pytest.mark.slow
def test_many_posts_are_added_in_batches(connect, store, monkeypatch):
    monkeypatch.setattr(updates, "_POSTS_AT_ONCE", 2)  # of five
    found = find_updatable(connect(), store).add(
        make_text(str(k)) for k in (900, 901, 902, 900, 1)
    )
    assert found.added == ("900", "901", "902", "1")
    assert (found.replaced, found.unchanged) == (("1",), ("900",))
    assert find_updatable(connect(), store).status().posts == 63


def test_post_with_too_many_vectors_is_refused_and_nothing_is_written(connect, store):
    """It once made an index that could never be built again."""
    many = draw_post(np.random.default_rng(0), 900, formulas=1 << 17)
    index = UpdatableIndex(connect(), store, lambda: lambda post: many)
    found = index.add([make_text("900")])
    assert found.added == ()
    assert "fewer than 131072 vectors in post '900'" in found.failures[0].detail
    assert index.status().posts == 60


def test_formulas_of_comments_go_with_their_post(connect, tmp_path, posts):
    comments = [
        PostEntry(
            name_entry(key, "12", f"99{key}"), FORMULA_TYPE, np.eye(WIDTH)[:1], [0],
            [0], [f"99{key}"], ["v99"],
        )
        for key in ("7", "8")
    ]  # fmt: skip
    with StoreWriter(tmp_path, ENCODER, WIDTH) as writer:
        writer.write(PostVectors.of(posts), GraphRange("posts", 0, 60))
        writer.write(PostVectors.of(comments), GraphRange("formulas", 0, 2))
        writer.complete()
    store, query = VectorStore(tmp_path), [np.eye(WIDTH)[0]]
    with QdrantIndex.open(connect(), store) as opened:
        assert opened.size().posts == len(opened.posts) == 60
        (found,) = find_formulas(opened, query, depth=1)
        assert found.visual_ids == ["v99"]
        assert found.post_ids[0] in ("7", "8")
        (hits,) = find_posts(opened, [draw_query()], Strategy(post_types=()))
        assert len(hits) == 60  # no formula among them
    find_updatable(connect(), store).delete(["7"])
    with QdrantIndex.open(connect(), store) as opened:
        assert comments[0].key not in opened.posts
        assert comments[1].key in opened.posts
        (found,) = find_formulas(opened, query, depth=1)
        assert found.post_ids == ["8"]


def test_unknown_posts_are_refused_and_nothing_is_deleted(connect, store):
    index = find_updatable(connect(), store)
    with pytest.raises(MissingInputError, match="No post '6O' among the 60"):
        index.delete(["60", "6O"])
    assert index.status().posts == 60


def test_changes_are_carried_to_another_encoder_and_encoded_again(
    connect, tmp_path, store, posts, caplog
):
    before = find_updatable(connect(), store)
    before.add([make_text("7"), make_text("900")])
    before.delete(["8", "9"])
    others = [p._replace(vectors=-p.vectors) for p in posts]
    new = make_store(tmp_path / "new", others)
    changes = connect().read_changes()
    with QdrantIndex.open(connect(name="new"), new, changes) as opened:
        assert "2 posts that were added by hand are kept" in caplog.text
        assert [p.post_id for p in opened.changes.waiting] == ["7", "900"]
        assert {"7", "8", "9", "900"}.isdisjoint(k for k in "789" if k in opened.posts)
        left = [p for p in others if p.key not in ("7", "8", "9")]
        check_engine(opened, SlowIndex(left), depth=5)
    index = find_updatable(connect(name="new"), new)
    assert index.status().waiting == 2
    assert index.encode_waiting().added == ("7", "900")
    assert index.encode_waiting().added == ()
    with QdrantIndex.open(connect(name="new"), new) as opened:
        twin = [*left, encode(make_text("7")), encode(make_text("900"))]
        check_engine(opened, SlowIndex(twin))
        assert opened.changes == changes


def test_changes_survive_a_rebuild_of_the_same_index(connect, store):
    find_updatable(connect(), store).add([make_text("900")])
    other = connect(HnswConfig(doc_m=8))
    QdrantIndex.open(other, store).close()
    assert find_updatable(other, store).status().waiting == 1


def test_reader_keeps_what_it_opened_beside_a_writer(connect, store, posts):
    with QdrantIndex.open(connect(), store) as reader:
        assert reader.is_current()
        find_updatable(connect(), store).add([make_text("900")])
        assert not reader.is_current()
        assert "900" not in reader.posts
        if isinstance(connect(), EdgeConnection):
            check_engine(reader, SlowIndex(posts), depth=5)
    with QdrantIndex.open(connect(), store) as reader:
        assert reader.is_current()
        assert "900" in reader.posts


def test_two_writers_are_refused(connect, store):
    index = find_updatable(connect(), store)
    with connect().lock(), pytest.raises(LockedError, match="wait for it"):
        index.add([make_text("900")])
    index.add([make_text("900")])
    with connect().lock():
        with pytest.raises(LockedError, match="wait for it"):
            index.delete(["1"])
        with QdrantIndex.open(connect(), store) as reader:  # reads all the same
            assert "900" in reader.posts


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 4, 8])
def test_a_killed_build_is_built_again(
    connect, collection, tmp_path, store, posts, monkeypatch, after
):
    """The index before stays in use."""
    QdrantIndex.open(connect(), store).close()
    others = draw_posts(40, seed=9, start=500)
    new = make_store(tmp_path / "new", others, per_shard=10)
    with monkeypatch.context() as patch:
        kill_after(patch, collection, after)
        with pytest.raises(KeyboardInterrupt):
            QdrantIndex.open(connect(), new)
    with QdrantIndex.open(connect(), store) as index:
        check_engine(index, SlowIndex(posts), depth=3)
    with QdrantIndex.open(connect(), new) as index:
        check_engine(index, SlowIndex(others), depth=3)


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 2, 3])
@pytest.mark.parametrize("change", ["add", "delete"])
def test_a_killed_change_leaves_a_whole_index(
    connect, collection, store, posts, monkeypatch, change, after
):
    """Whatever was written, the next change repairs it."""
    index = find_updatable(connect(), store)
    index.add([make_text("900"), make_text("5")])
    truth = {p.key: p for p in posts}
    truth |= {key: encode(make_text(key)) for key in ("900", "5")}

    def work():
        if change == "add":
            index.add([make_text(key) for key in ("901", "6")])
        else:
            index.delete(["900", "5", "7"])

    is_killed = True
    with monkeypatch.context() as patch:
        kill_after(patch, collection, after)
        try:
            work()
            is_killed = False
        except KeyboardInterrupt:
            pass
    with QdrantIndex.open(connect(), store) as opened:
        assert opened.changes.waiting == []
    index.add([make_text("950")])  # repairs
    truth["950"] = encode(make_text("950"))
    with QdrantIndex.open(connect(), store) as opened:
        is_done = (
            ("901" in opened.posts) if change == "add" else ("7" not in opened.posts)
        )
        assert is_done or is_killed
        if is_done and change == "add":
            truth |= {key: encode(make_text(key)) for key in ("901", "6")}
        elif is_done:
            truth = {k: p for k, p in truth.items() if k in opened.posts}
        check_engine(opened, SlowIndex(truth.values()), depth=1000)


def kill_after(patch, collection, count):
    """Let the process end at the ``count``-th write."""
    calls = []
    for name in ("upsert", "delete"):
        original = getattr(collection, name)

        def write(self, points, original=original):
            calls.append(1)
            if len(calls) == count:
                raise KeyboardInterrupt
            original(self, points)

        patch.setattr(collection, name, write)


def test_wrong_counts_and_vectors_are_never_searched(
    connect, collection, store, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(collection, "count", lambda self: 3)
        with pytest.raises(DamagedFileError, match="Expected 60 posts"):
            QdrantIndex.open(connect(), store)
    fetch = collection.fetch
    with monkeypatch.context() as patch:
        patch.setattr(collection, "fetch", lambda *args: fetch(*args)[::-1])
        with pytest.raises(DamagedFileError, match="vectors of post"):
            QdrantIndex.open(connect(), store)
    QdrantIndex.open(connect(), store).close()
