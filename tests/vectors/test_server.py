"""The server engine, against qdrant-client's local mode: the same calls, no server."""

from __future__ import annotations

import os

import httpx
import pytest
from qdrant_client import QdrantClient
from qdrant_client.http.exceptions import (
    ResponseHandlingException,
    UnexpectedResponse,
)

from mathamr_kedro.base.errors import (
    ConfigurationError,
    MissingInputError,
    WorkerError,
)
from mathamr_kedro.vectors import EngineConfig, HnswConfig, SearchMode, ServerConfig
from mathamr_kedro.vectors.qdrant import QdrantIndex
from mathamr_kedro.vectors.server import Retry, Server, connect
from tests.vectors.conftest import SlowIndex, check_engine, draw_query

pytestmark = [
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect"),
]
QUICK = Retry(attempts=4, sleep=lambda seconds: None)
NAME = "mine_3f0c"


@pytest.fixture
def client():
    made = QdrantClient(":memory:")
    yield made
    made.close()


def build(client, store, hnsw=None, config=None, retry=QUICK, name=NAME):
    """Build an index and open it."""
    server, hnsw = Server(client, retry), hnsw or HnswConfig()
    server.build(name, store, hnsw, config or ServerConfig())
    return QdrantIndex(server.open(name), store, hnsw, store.folder)


def list_collections(client):
    return {found.name for found in client.get_collections().collections}


def test_another_build_takes_the_place_of_the_first(client, store, posts):
    first = build(client, store)
    before = list_collections(client)
    build(client, store)
    after = list_collections(client)
    assert len(before) == len(after) == 2 and not before & after
    check_engine(first, SlowIndex(posts), depth=3)  # by the same names


def test_indexes_of_other_names_stay(client, store):
    build(client, store)
    build(client, store, name="mine_77aa")
    assert len(list_collections(client)) == 4


@pytest.mark.parametrize("after", [1, 2])
def test_a_killed_build_is_not_seen_and_is_repeated(
    client, store, posts, monkeypatch, after
):
    upsert, calls = QdrantClient.upsert, []

    def kill(self, *args, **kwargs):
        calls.append(args)
        if len(calls) == after:
            raise KeyboardInterrupt
        return upsert(self, *args, **kwargs)

    with monkeypatch.context() as patch:
        patch.setattr(QdrantClient, "upsert", kill)
        with pytest.raises(KeyboardInterrupt):
            build(client, store)
    with pytest.raises(MissingInputError, match=r"'mine_3f0c'.*kedro run"):
        Server(client, QUICK).open(NAME)
    check_engine(build(client, store), SlowIndex(posts), depth=3)
    assert len(list_collections(client)) == 2


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
    check_engine(build(client, store), SlowIndex(posts), depth=5)


def test_server_that_stays_away_is_named(client, store, monkeypatch):
    def refuse(self, *args, **kwargs):
        raise ResponseHandlingException(httpx.ConnectError("refused"))

    monkeypatch.setattr(QdrantClient, "upsert", refuse)
    with pytest.raises(WorkerError, match="refuse failed 4 times"):
        build(client, store)
    away = connect("http://localhost:1")
    with pytest.raises(WorkerError, match="is the server up"):
        Server(away, QUICK).open(NAME)


def test_cluster_parameters_reach_the_server(client, store, monkeypatch):
    asked = []
    create = QdrantClient.create_collection

    def note(self, name, **kwargs):
        asked.append(kwargs)
        return create(self, name, **kwargs)

    monkeypatch.setattr(QdrantClient, "create_collection", note)
    parameters = ServerConfig(shard_number=6, replication_factor=2, on_disk=True)
    build(client, store, HnswConfig(doc_m=24), parameters)
    posts, formulas = asked
    assert posts["shard_number"] == formulas["shard_number"] == 6
    assert posts["replication_factor"] == 2
    spaces = posts["vectors_config"]
    assert (spaces["doc"].hnsw_config.m, spaces["all"].hnsw_config.m) == (24, 0)
    assert spaces["all"].on_disk
    assert formulas["vectors_config"]["formula"].hnsw_config.m == 0


@pytest.mark.skipif(
    not os.environ.get("MATHAMR_QDRANT_URL"),
    reason="needs a Qdrant server at $MATHAMR_QDRANT_URL",
)
def test_a_real_server_finds_the_same(store, posts):
    client = connect(os.environ["MATHAMR_QDRANT_URL"])
    name = "mathamr_test"
    hnsw, config = HnswConfig(16, 16), ServerConfig(shard_number=2, on_disk=True)
    try:
        index = build(client, store, hnsw, config, Retry(), name)
        check_engine(index, SlowIndex(posts), 20)
        query = draw_query(4)
        (hits,) = index.search_maxsim([query.vectors], 10, SearchMode(exact=False))
        truth = SlowIndex(posts).maxsim(query.vectors, 10)[0]
        assert len(set(hits.ids) & set(truth)) >= 8
    finally:
        for collection in client.get_collections().collections:
            if collection.name.startswith(name):
                client.delete_collection(collection.name)


def test_building_waits_until_the_graphs_are_there(client, store, monkeypatch):
    states = iter(["yellow", "yellow", "green", "yellow", "green"])
    waits: list[float] = []
    # A server of a few posts has its graphs at once.
    read = client.get_collection

    def describe(name):
        return read(name).model_copy(update={"status": next(states, "green")})

    monkeypatch.setattr(client, "get_collection", describe)
    build(client, store, retry=Retry(sleep=waits.append))
    assert len(waits) == 3


def test_a_server_needs_a_url_and_gets_the_key_of_the_environment(monkeypatch):
    with pytest.raises(ConfigurationError, match=r"indexing\.engine\.server\.url"):
        ServerConfig().connect()
    monkeypatch.setenv("QDRANT_API_KEY", "secret")
    client = ServerConfig("http://localhost:1").connect()
    assert client.init_options["api_key"] == "secret"
    client.close()


def test_where_a_server_is_does_not_decide_what_is_built():
    here, there = (
        EngineConfig("server", server=ServerConfig(url, prefer_grpc, shard_number=2))
        for url, prefer_grpc in ((None, False), ("https://example.org", True))
    )
    assert here.describe_result() == there.describe_result()
    other = EngineConfig("server", server=ServerConfig(shard_number=3))
    assert here.describe_result() != other.describe_result()


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


class Flaky:
    def __init__(self, failures, error=None):
        self.failures, self.calls = failures, 0
        self.error = error or ConnectionError("refused")

    def __call__(self):
        self.calls += 1
        if self.calls <= self.failures:
            raise self.error
        return "answer"


def test_call_works_after_some_failures_and_growing_waits(caplog):
    waits: list[float] = []
    call = Flaky(4)
    assert Retry(attempts=5, sleep=waits.append)(call) == "answer"
    assert call.calls == 5
    for wait, longest in zip(waits, [0.5, 1, 2, 4], strict=True):
        assert longest / 2 <= wait <= longest
    assert "refused" in caplog.text


def test_call_that_never_works_names_the_cause():
    with pytest.raises(
        WorkerError, match=r"request failed 3 times \(refused\)"
    ) as caught:
        Retry(attempts=3, sleep=lambda s: None)(Flaky(9))
    assert isinstance(caught.value.__cause__, ConnectionError)


@pytest.mark.parametrize(("code", "calls"), [(503, 4), (429, 4), (400, 1)])
def test_only_errors_of_the_server_are_temporary(code, calls):
    call = Flaky(9, UnexpectedResponse(code, "reason", b"", httpx.Headers()))
    with pytest.raises((WorkerError, UnexpectedResponse)):
        QUICK(call)
    assert call.calls == calls
