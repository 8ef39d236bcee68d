"""Qdrant's index equals loops, in a folder and on a server."""

from __future__ import annotations

import numpy as np
import pytest
from qdrant_client import QdrantClient

from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    MalformedInputError,
    MissingInputError,
)
from mathamr_kedro.graph import FORMULA_TYPE, name_entry
from mathamr_kedro.systems.mathamr_plus import Strategy
from mathamr_kedro.systems.mathamr_plus.strategies import find_formulas, find_posts
from mathamr_kedro.vectors import (
    EngineConfig,
    ExactIndex,
    GraphRange,
    HnswConfig,
    PostEntry,
    PostVectors,
    SearchMode,
    ServerConfig,
    StoreWriter,
    VectorStore,
    build_index,
    open_index,
)
from mathamr_kedro.vectors.points import PointCollection

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


@pytest.fixture(params=["edge", "server"])
def engine(request, tmp_path, monkeypatch):
    """Name of an engine; the server is qdrant-client's local mode, in a folder."""
    path = str(tmp_path / "server")
    monkeypatch.setattr(ServerConfig, "connect", lambda self: QdrantClient(path=path))
    return request.param


def open_built(engine, store, folder, hnsw=None):
    """Build an index if there is none in a folder, and open it."""
    config = EngineConfig(engine, hnsw=hnsw or HnswConfig())
    if not folder.exists():
        folder.mkdir()
        build_index(config, store, folder)
    return open_index(config, store, folder)


@pytest.mark.parametrize("depth", [1, 20, 1000])
@pytest.mark.parametrize("types", [None, frozenset({"answer"})])
def test_every_exact_search_equals_loops(engine, tmp_path, store, posts, depth, types):
    with open_built(engine, store, tmp_path / "index") as index:
        check_engine(index, SlowIndex(posts), depth, types)
        assert (index.posts.encoder, len(index.posts)) == (ENCODER, 60)
        assert index.size()[:2] == (60, store.num_formulas())


def test_names_instead_of_numbers_and_many_ties(engine, tmp_path):
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
    with open_built(engine, store, tmp_path / "index") as index:
        assert index.size()[:2] == (62, 124)
        check_engine(index, SlowIndex(posts), depth=5)


def test_graph_searches_find_the_same_in_a_small_index(engine, tmp_path, store, posts):
    """So small an index is scanned."""
    twin, query, answers = SlowIndex(posts), draw_query(4), frozenset({"answer"})
    with open_built(engine, store, tmp_path / "index", HnswConfig(all_m=16)) as index:
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
    engine, tmp_path, store, posts, types
):
    twin = SlowIndex(posts)
    mode = SearchMode(exact=False, hnsw_ef=3)
    with open_built(engine, store, tmp_path / "index", HnswConfig(all_m=16)) as index:
        for seed in range(4):
            query = draw_query(seed).vectors
            (hits,) = index.search_maxsim([query], 1000, mode, types)
            truth = twin.walk_per_vector(query, 3, 1000, types)
            check_hits(hits, truth)
            assert 3 <= len(hits) <= 3 * len(query) < len(posts)
            (hits,) = index.search_maxsim([query], 2, mode, types)
            check_hits(hits, (truth[0][:2], truth[1]))


def test_graph_search_without_graph_and_unknown_posts_are_refused(
    engine, tmp_path, store
):
    query = draw_query(1).vectors
    with open_built(engine, store, tmp_path / "index") as index:
        with pytest.raises(ConfigurationError, match=r"hnsw\.all_m"):
            index.search_maxsim([query], 5, HNSW)
        assert index.rerank([query], [[]])[0].ids == []
        with pytest.raises(MissingInputError, match="'999'"):
            index.rerank([query], [["1", "999"]])
        with pytest.raises(MissingInputError, match="'601' among the 60"):
            index.posts.read(["601"])


def test_the_index_of_other_vectors_or_graphs_is_refused(
    engine, tmp_path, store, posts
):
    folder = tmp_path / "index"
    open_built(engine, store, folder).close()
    others = make_store(tmp_path / "others", draw_posts(60, seed=77))
    for wrong in ((others, HnswConfig()), (store, HnswConfig(doc_m=8))):
        with pytest.raises(MissingInputError, match=r"got one of others.*kedro run"):
            open_built(engine, wrong[0], folder, wrong[1])
    with pytest.raises(MissingInputError, match=r"got none.*kedro run"):
        open_index(EngineConfig(engine), store, tmp_path / "nowhere")
    with open_built(engine, store, folder) as index:
        check_engine(index, SlowIndex(posts), depth=3)


def test_a_repaired_shard_keeps_the_index(engine, tmp_path, posts):
    """The shard that is written again comes last in the list of the store."""
    store = make_store(tmp_path / "vectors", posts)
    folder = tmp_path / "index"
    open_built(engine, store, folder).close()
    shards = sorted((tmp_path / "vectors").glob("*.safetensors"))
    shards[2].write_bytes(b"")
    with StoreWriter(tmp_path / "vectors", ENCODER, WIDTH) as writer:
        writer.write(PostVectors.of(posts[14:21]), GraphRange("posts", 14, 21))
        writer.complete()
    with open_built(engine, VectorStore(tmp_path / "vectors"), folder) as index:
        check_engine(index, SlowIndex(posts), depth=5)


def test_half_precision_is_kept(engine, tmp_path, posts):
    store = make_store(tmp_path / "vectors", posts, dtype="float16")
    with open_built(engine, store, tmp_path / "index") as index:
        assert index.posts.read(["1"]).vectors.dtype == np.float16
        query = draw_query(1).vectors
        (hits,) = index.search_maxsim([query], 60)
        (scanned,) = ExactIndex(store).search_maxsim([query], 60)
        assert hits.ids == scanned.ids
        np.testing.assert_allclose(hits.scores, scanned.scores, atol=1e-6)


def test_post_with_too_many_vectors_is_refused(engine, tmp_path):
    many = draw_post(np.random.default_rng(0), 900, formulas=1 << 17)
    store = make_store(tmp_path / "vectors", [many])
    with pytest.raises(MalformedInputError, match=r"fewer than 131072 .* post '900'"):
        open_built(engine, store, tmp_path / "index")


def test_formulas_beside_the_posts_are_found_as_formulas(engine, tmp_path, posts):
    comments = [
        PostEntry(
            name_entry(key, "12", f"99{key}"), FORMULA_TYPE, np.eye(WIDTH)[:1], [0],
            [0], [f"99{key}"], ["v99"],
        )
        for key in ("7", "8")
    ]  # fmt: skip
    with StoreWriter(tmp_path / "vectors", ENCODER, WIDTH) as writer:
        writer.write(PostVectors.of(posts), GraphRange("posts", 0, 60))
        writer.write(PostVectors.of(comments), GraphRange("formulas", 0, 2))
        writer.complete()
    store, query = VectorStore(tmp_path / "vectors"), [np.eye(WIDTH)[0]]
    with open_built(engine, store, tmp_path / "index") as index:
        assert index.size().posts == len(index.posts) == 60
        (found,) = find_formulas(index, query, depth=1)
        assert found.visual_ids == ["v99"]
        assert found.post_ids[0] in ("7", "8")
        (hits,) = find_posts(index, [draw_query()], Strategy(post_types=()))
        assert len(hits) == 60  # no formula among them


def test_wrong_counts_are_never_searched(engine, tmp_path, store, monkeypatch):
    folder = tmp_path / "index"
    folder.mkdir()
    config = EngineConfig(engine)
    build_index(config, store, folder)
    for kind in PointCollection.__subclasses__():
        monkeypatch.setattr(kind, "count", lambda self: 3)
    with pytest.raises(DamagedFileError, match=r"60 posts .*got 3 and 3.*kedro run"):
        open_index(config, store, folder)
