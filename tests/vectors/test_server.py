"""The server engine, against qdrant-client's local mode: the same calls, no server."""

from __future__ import annotations

import os

import httpx
import numpy as np
import pytest
from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import (
    ResponseHandlingException,
    UnexpectedResponse,
)
from qdrant_client.http.models.models import InlineResponse2002

from mathamr_kedro.base.errors import (
    ConfigurationError,
    DamagedFileError,
    MissingInputError,
    WorkerError,
)
from mathamr_kedro.vectors import following
from mathamr_kedro.vectors import server as server_index
from mathamr_kedro.vectors.post_vectors import PostEntry, PostVectors
from mathamr_kedro.vectors.protocol import (
    HnswConfig,
    QuantisationConfig,
    SearchMode,
    ServerConfig,
)
from mathamr_kedro.vectors.server import ServerIndex
from mathamr_kedro.vectors.server_collection import (
    Retry,
    ServerCollection,
    connect,
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

pytestmark = [
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect"),
]
QUICK = Retry(attempts=4, sleep=lambda seconds: None)


@pytest.fixture
def client():
    made = QdrantClient(":memory:")
    yield made
    made.close()


def collections_of(client):
    return {c.name for c in client.get_collections().collections}


@pytest.mark.parametrize("depth", [1, 20, 1000])
@pytest.mark.parametrize("types", [None, frozenset({"answer"})])
def test_every_exact_search_equals_loops(client, store, posts, depth, types):
    index = ServerIndex.build(client, store, "mine")
    check_engine(index, SlowIndex(posts), depth, types)
    assert index.encoder == ENCODER
    assert index.size()[0] == len(posts)


def test_index_in_a_folder_is_found_again_by_its_name(tmp_path, store, posts):
    client = QdrantClient(path=str(tmp_path / "local"))
    ServerIndex.build(client, store, "mine")
    client.close()
    client = QdrantClient(path=str(tmp_path / "local"))
    check_engine(ServerIndex(client, "mine"), SlowIndex(posts))
    client.close()


def test_names_instead_of_numbers_and_many_ties(client, tmp_path):
    post = draw_posts(1, formulas=2)[0]
    posts = [
        post._replace(key=k, formula_ids=[f"{k}/0", f"{k}/1"], returnable=None)
        for k in [f"Zeta_function:{i}" for i in range(50)]
    ]
    index = ServerIndex.build(client, make_store(tmp_path, posts), "mine")
    check_engine(index, SlowIndex(posts), depth=5)


def test_graph_searches_are_the_same_calls_in_other_words(client, store, posts):
    hnsw = HnswConfig(all_m=16, formula_m=16)
    index = ServerIndex.build(client, store, "mine", hnsw)
    twin, query, mode = SlowIndex(posts), draw_query(4), SearchMode(exact=False)
    (hits,) = index.search_maxsim([query.vectors], 10, mode)
    check_hits(hits, twin.maxsim(query.vectors, 10))
    (hits,) = index.search_reranked([query], 9, 5, mode)
    pool, _ = twin.documents(query.document(), 9)
    order, scores = twin.maxsim(query.vectors, 1000)
    check_hits(hits, ([k for k in order if k in pool][:5], scores))
    plain = ServerIndex.build(client, store, "plain")
    with pytest.raises(ConfigurationError, match="all_m"):
        plain.search_maxsim([query.vectors], 10, mode)


def test_each_vector_walks_alone_and_the_union_is_ordered(client, store, posts):
    index = ServerIndex.build(client, store, "mine", HnswConfig(all_m=16))
    mode = SearchMode(exact=False, hnsw_ef=4, walks="per_vector")
    query, answers = draw_query(5).vectors, frozenset({"answer"})
    for types in (None, answers):
        (hits,) = index.search_maxsim([query], 1000, mode, types)
        check_hits(hits, SlowIndex(posts).walk_per_vector(query, 4, 1000, types))
        assert len(hits) <= 4 * len(query) < 40


def tell(name, *shards):
    """A collection as ``GET /telemetry`` lists it; a shard is its bytes, or away."""
    away = {"shard_id": 1, "peer_id": 2}
    optimized = {"status": "ok", "optimizations": {"count": 0}, "log": []}
    return {
        "id": name, "init_time_ms": 1, "transfers": [], "resharding": [],
        "shards": [
            {
                "id": number, "key": None, "remote": [] if size else [away],
                "replicate_states": {"1": "Active"},
                "local": size and {
                    "total_optimized_points": 0, "vectors_size_bytes": size[0],
                    "payloads_size_bytes": size[1], "optimizations": optimized,
                },
            }
            for number, size in enumerate(shards)
        ],
    }  # fmt: skip


class Telemetry:
    """The part of the REST client that is asked for sizes."""

    def __init__(self, *collections, error=None):
        self.service_api, self.error = self, error
        listed = {"number_of_collections": 2, "collections": list(collections)}
        self.answer = {"time": 0.1, "result": {"id": "1", "collections": listed}}

    def telemetry(self, details_level):
        if self.error:
            raise self.error
        assert details_level >= 4
        return InlineResponse2002.model_validate(self.answer)


@pytest.mark.parametrize(
    ("shards", "expected"),
    [
        ([(900, 100)], ("telemetry", 1000)),
        ([(900, 100), (50, 5)], ("telemetry", 1055)),
        ([(900, 100), None], ("unknown", 0)),  # a part is on another machine
    ],
)
def test_bytes_are_those_that_the_server_tells(
    client, store, monkeypatch, shards, expected
):
    index = ServerIndex.build(client, store, "mine")
    names = {a.alias_name: a.collection_name for a in client.get_aliases().aliases}
    answer = Telemetry(
        tell("another", (7, 7)),
        tell(names["mine_posts"], *shards),
        tell(names["mine_formulas"], (30, 3)),
    )
    monkeypatch.setattr(QdrantClient, "http", answer)
    size = index.size()
    assert (size.source, size.post_bytes) == expected
    assert size.formula_bytes == (33 if size.post_bytes else 0)
    assert size.posts == 60


def test_server_that_tells_no_sizes_is_no_failure(client, store, monkeypatch):
    index = ServerIndex.build(client, store, "mine")
    assert index.size()[2:5] == (0, 0, "unknown")  # local mode
    forbidden = UnexpectedResponse(403, "Forbidden", b"", httpx.Headers())
    monkeypatch.setattr(QdrantClient, "http", Telemetry(error=forbidden))
    assert index.size()[2:5] == (0, 0, "unknown")


def test_living_index_follows_the_store(client, tmp_path):
    rng = np.random.default_rng(0)
    living: dict[str, PostEntry] = {}
    with VectorStore.open(tmp_path, ENCODER, WIDTH) as store:
        for step in range(8):
            added = draw_posts(int(rng.integers(1, 7)), step, int(rng.integers(1, 25)))
            gone = {str(k) for k in rng.integers(1, 30, 2)} - {p.key for p in added}
            store.commit(PostVectors.of(added), delete=gone)
            living = {k: p for k, p in living.items() if k not in gone}
            living |= {p.key: p for p in added}
            if step in (1, 2, 5, 6):  # lagging behind by one or two commits
                continue
            if step == 4:
                store.compact()
            index = ServerIndex.build(client, store, "mine")
            check_engine(index, SlowIndex(living.values()))
            assert index.size()[0] == len(living)
            assert len(collections_of(client)) == 2


def test_how_far_an_index_is_can_be_read_without_opening_it(client, tmp_path, posts):
    def reached():
        read = VectorStore(tmp_path)
        return ServerIndex.reached(client, read, "mine", HnswConfig(), ServerConfig())

    with VectorStore.open(tmp_path, ENCODER, WIDTH) as store:
        store.commit(PostVectors.of(posts))
        assert reached() is None
        ServerIndex.build(client, store, "mine")
        assert reached() == store.generation
        store.commit(delete=["1"])
        assert reached() == store.generation - 1
        store.commit(delete=["2"])
        store.compact()
        assert reached() is None  # deletions were forgotten


def test_killed_build_leaves_the_old_index_in_use_and_goes_on(
    client, tmp_path, store, posts, monkeypatch
):
    ServerIndex.build(client, store, "mine")
    others = draw_posts(40, seed=9, start=500)
    new = make_store(tmp_path / "new", others)
    monkeypatch.setattr(following, "_NOTE_EVERY", 2)
    written: list[int] = []
    upsert = QdrantClient.upsert

    def kill(self, name, points, **kwargs):
        if len(written) == 5:
            raise KeyboardInterrupt
        written.append(len(points))
        return upsert(self, name, points, **kwargs)

    monkeypatch.setattr(QdrantClient, "upsert", kill)
    with pytest.raises(KeyboardInterrupt):
        ServerIndex.build(client, new, "mine")
    check_engine(ServerIndex(client, "mine"), SlowIndex(posts))
    assert len(collections_of(client)) == 4

    def count(self, name, points, **kwargs):
        written.append(len(points))
        return upsert(self, name, points, **kwargs)

    monkeypatch.setattr(QdrantClient, "upsert", count)
    index = ServerIndex.build(client, new, "mine")
    check_engine(index, SlowIndex(others))
    assert len(collections_of(client)) == 2
    assert len(written) == 13  # twelve batches, the fifth a second time


def test_wrong_counts_are_never_put_into_use(client, store, monkeypatch):
    monkeypatch.setattr(server_index.ServerCollection, "count", lambda self: 3)
    with pytest.raises(DamagedFileError, match="Expected 60 posts"):
        ServerIndex.build(client, store, "mine")
    with pytest.raises(MissingInputError, match="'mine'"):
        ServerIndex(client, "mine")


def test_wrong_vectors_are_never_put_into_use(client, store, monkeypatch):
    fetch = server_index.ServerCollection.fetch

    def swapped(self, ids, space):
        return fetch(self, ids, space)[::-1]

    monkeypatch.setattr(server_index.ServerCollection, "fetch", swapped)
    with pytest.raises(DamagedFileError, match="vectors of post"):
        ServerIndex.build(client, store, "mine")
    assert client.get_aliases().aliases == []


def test_failing_writes_are_repeated_without_doubling_points(
    client, store, posts, monkeypatch
):
    upsert, calls = QdrantClient.upsert, []

    def flaky(self, name, points, **kwargs):
        calls.append(name)
        result = upsert(self, name, points, **kwargs)
        if len(calls) % 3 == 0:  # written, but the answer is lost
            raise ResponseHandlingException(httpx.ReadTimeout("slow"))
        return result

    monkeypatch.setattr(QdrantClient, "upsert", flaky)
    index = ServerIndex.build(client, store, "mine", retry=QUICK)
    check_engine(index, SlowIndex(posts))


def test_server_that_stays_away_is_named(client, store, monkeypatch):
    def refuse(self, *args, **kwargs):
        raise ResponseHandlingException(httpx.ConnectError("refused"))

    monkeypatch.setattr(QdrantClient, "upsert", refuse)
    with pytest.raises(WorkerError, match="Writing points failed 4 times"):
        ServerIndex.build(client, store, "mine", retry=QUICK)


def test_cluster_parameters_reach_the_server(client, store, monkeypatch):
    asked = []
    create = QdrantClient.create_collection

    def note(self, name, **kwargs):
        asked.append(kwargs)
        return create(self, name, **kwargs)

    monkeypatch.setattr(QdrantClient, "create_collection", note)
    parameters = ServerConfig(shard_number=6, replication_factor=2, on_disk=True)
    codes = QuantisationConfig("scalar", quantile=0.95, always_ram=False)
    hnsw = HnswConfig(doc_m=24, formula_m=8, ef_construct=200, quantisation=codes)
    ServerIndex.build(client, store, "mine", hnsw, parameters)
    formulas, posts = asked
    assert posts["shard_number"] == formulas["shard_number"] == 6
    assert posts["replication_factor"] == 2
    assert posts["vectors_config"]["doc"].hnsw_config.m == 24
    assert posts["vectors_config"]["all"].hnsw_config.m == 0
    assert posts["vectors_config"]["all"].on_disk
    assert formulas["vectors_config"]["formula"].hnsw_config.ef_construct == 200
    scalar = posts["vectors_config"]["doc"].quantization_config.scalar
    assert (scalar.quantile, scalar.always_ram) == (0.95, False)
    assert posts["vectors_config"]["all"].quantization_config is None  # it has no graph


@pytest.mark.parametrize(
    ("codes", "asked"),
    [
        (QuantisationConfig(), None),
        (
            QuantisationConfig("product", compression="x32"),
            {"product": {"compression": "x32", "always_ram": True}},
        ),
        (
            QuantisationConfig("binary", always_ram=False),
            {"binary": {"always_ram": False}},
        ),
    ],
)
def test_codes_are_asked_for_as_the_server_names_them(codes, asked):
    spaces = ServerCollection.make_spaces(
        "posts", 8, HnswConfig(quantisation=codes), False
    )
    found = spaces["doc"].quantization_config
    assert (found and found.model_dump(exclude_none=True)) == asked


def test_searches_say_how_codes_are_used(client, store, monkeypatch):
    index, asked = ServerIndex.build(client, store, "mine"), []
    ask = QdrantClient.query_points

    def note(self, *args, **kwargs):
        asked.append(kwargs)
        return ask(self, *args, **kwargs)

    monkeypatch.setattr(QdrantClient, "query_points", note)
    query = draw_query(4)
    for oversampling in (3.0, None):
        mode = SearchMode(exact=False, oversampling=oversampling)
        index.search_documents([query.document()], 5, mode)
        used = asked[-1]["search_params"].quantization
        assert (used.rescore, used.oversampling) == (bool(oversampling), oversampling)
    index.search_reranked([query], 9, 5, SearchMode(exact=False))
    assert asked[-1]["search_params"].quantization.ignore  # candidates by vectors
    assert asked[-1]["prefetch"][0].params.quantization.oversampling == 2.0


@pytest.mark.skipif(
    not os.environ.get("MATHAMR_QDRANT_URL"),
    reason="needs a Qdrant server at $MATHAMR_QDRANT_URL",
)
@pytest.mark.parametrize("kind", ["none", "scalar", "product", "binary"])
def test_a_real_server_takes_codes(store, posts, kind):
    client = connect(os.environ["MATHAMR_QDRANT_URL"])
    hnsw = HnswConfig(16, 16, 16, quantisation=QuantisationConfig(kind))
    parameters = ServerConfig(shard_number=2, on_disk=True, indexing_threshold=1)
    name = f"mathamr_test_{kind}"
    try:
        index = ServerIndex.build(client, store, name, hnsw, parameters)
        check_engine(index, SlowIndex(posts), 20)
        query = draw_query(4)
        (hits,) = index.search_maxsim([query.vectors], 10, SearchMode(exact=False))
        truth = SlowIndex(posts).maxsim(query.vectors, 10)[0]
        assert len(set(hits.ids) & set(truth)) >= 8
    finally:
        for found in client.get_collections().collections:
            if found.name.startswith(name):
                client.delete_collection(found.name)


def test_building_waits_until_the_graphs_are_there(client, store, monkeypatch):
    states = iter(["yellow", "yellow", "green", "yellow", "green"])
    waits: list[float] = []
    monkeypatch.setattr(server_index._ServerBuilds, "_status", lambda *_: next(states))
    retry = Retry(sleep=waits.append)
    ServerIndex.build(client, store, "mine", retry=retry)
    assert len(waits) == 3


def test_missing_index_is_named(client):
    with pytest.raises(MissingInputError, match="run the stage 'indexing'"):
        ServerIndex(client, "none")


def test_absent_server_is_named_when_it_is_asked():
    with pytest.raises(WorkerError, match="is the server up"):
        ServerIndex(connect("http://localhost:1"), "mine", QUICK)


@pytest.mark.parametrize(
    ("url", "key", "warns"),
    [
        ("http://vectors.example.org:6333", "secret", True),
        ("https://vectors.example.org:6333", "secret", False),
        ("http://localhost:6333", "secret", False),
        ("http://vectors.example.org:6333", None, False),
    ],
)
def test_a_key_over_plain_http_is_warned_of(caplog, url, key, warns):
    connect(url, key).close()
    assert ("plain http to vectors.example.org" in caplog.text) == warns
    assert "secret" not in caplog.text
