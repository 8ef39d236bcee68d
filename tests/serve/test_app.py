"""The application around a service that is none: start, end, limits and logs."""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is missing")
pytest.importorskip("httpx")
from fastapi.testclient import TestClient

from mathamr_kedro.base.errors import (
    ConfigurationError,
    DiskFullError,
    LockedError,
    MissingInputError,
)
from mathamr_kedro.search.responses import AddResponse, SystemsResponse
from mathamr_kedro.serve import app as module
from mathamr_kedro.serve.app import create_app
from mathamr_kedro.serve.settings import ServeConfig
from tests.conftest import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Service:
    """Answers with what it was given, or fails."""

    def __init__(self, answer: Any = None) -> None:
        self.answer, self.is_open = answer, True
        self.problem: str | None = None

    def catch_up(self) -> None:
        pass

    def list_systems(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return SystemsResponse(7, "bm25", (), "bm25", ())

    def count_posts(self) -> int:
        return 7

    def add(self, posts: Any) -> AddResponse:
        return AddResponse(tuple(post.post_id for post in posts), (), ())

    def warm_up(self) -> None:
        pass

    def close(self) -> None:
        self.is_open = False


def connect(service: Any, **settings: Any) -> TestClient:
    config = ServeConfig(hosts=("testserver",), seconds=PATIENCE, **settings)
    return TestClient(create_app(config, service))


def test_a_server_that_ends_waits_for_its_warming_up(monkeypatch):
    monkeypatch.setattr(module, "_WARM_UP_AFTER", 0.0)  # seconds of a user's peace
    begun, leaves, ends, threads = threading.Event(), threading.Event(), [], []

    class Warming(Service):
        def warm_up(self):
            threads.append(threading.current_thread())
            begun.set()
            leaves.wait(PATIENCE)
            ends.append(self.is_open)

    service = Warming()
    with connect(service):
        assert begun.wait(PATIENCE)
        leaves.set()
    assert ends == [True]  # it reads what is closed after it has ended
    assert not service.is_open
    assert threads[0].daemon  # a server that is killed does not wait for it


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ConfigurationError("no such system"), 422),
        (MissingInputError("no such post"), 404),
        (LockedError("somebody writes"), 503),
        (DiskFullError("no room"), 503),
        (RuntimeError("secret"), 500),
    ],
)
def test_errors_have_the_status_of_their_kind(error, status):
    answer = connect(Service(error)).get("/api/systems")
    assert answer.status_code == status
    detail = answer.json()["detail"]
    assert detail == str(error) if status != 500 else "secret" not in detail


def test_commands_in_refusals_have_the_environment_of_the_server():
    error = ConfigurationError("run `kedro run --pipelines indexing`")
    answer = TestClient(
        create_app(ServeConfig(hosts=("*",), env="own"), Service(error))
    )
    assert answer.get("/api/systems").json()["detail"].endswith("indexing --env own`")


def test_health_tells_why_the_index_cannot_be_opened():
    service = Service()
    assert connect(service).get("/health").json()["status"] == "ok"
    service.problem = "Expected a file"
    answer = connect(service).get("/health")
    assert answer.status_code == 503
    assert (answer.json()["status"], answer.json()["problem"]) == (
        "failing",
        "Expected a file",
    )


def test_metrics_count_requests_and_what_the_index_holds():
    client = connect(Service())
    client.get("/api/systems")
    client.get("/api/secret-words")
    client.request("BREW", "/tea")
    lines = client.get("/metrics").text.splitlines()
    assert "mathamr_index_entries 7.0" in lines
    for name in ("waiting", "refused", "late"):
        assert f"mathamr_{name}_requests 0.0" in lines
    text = "\n".join(lines)
    assert 'method="GET",route="/api/systems",status="200"' in text
    assert 'method="other",route="other",status="404"' in text
    assert "secret-words" not in text
    assert "mathamr_request_seconds_bucket" in text


@pytest.mark.parametrize(("size", "status"), [(1000, 200), (1001, 413)])
@pytest.mark.parametrize("is_announced", [True, False])
def test_bodies_are_read_up_to_the_last_byte_allowed(size, status, is_announced):
    client = connect(Service(), max_body=1000, token="t")
    body = b'[{"id": "1", "text": "x"}]'.ljust(size)
    answer = client.post(
        "/api/posts",
        content=body if is_announced else iter([body[:1000], body[1000:]]),
        headers={"Authorization": "Bearer t", "Content-Type": "application/json"},
    )
    assert answer.status_code == status
    if status == 413:
        assert (
            answer.json()["detail"] == "Expected at most 1000 bytes (got 1001 or more)"
        )


def test_a_length_that_is_no_number_is_nothing_to_go_by():
    client = connect(Service(), max_body=1000)
    for length in ("many", "9" * 19):
        answer = client.get("/api/systems", headers={"Content-Length": length})
        assert answer.status_code == 200
    answer = client.get("/api/systems", headers={"Content-Length": "9" * 18})
    assert answer.status_code == 413


def test_at_most_five_problems_of_a_request_are_told():
    client = connect(Service(), token="t")
    posts = [{"id": "", "text": "x"}] * 7
    headers = {"Authorization": "Bearer t"}
    detail = client.post("/api/posts", json=posts, headers=headers).json()["detail"]
    assert detail.count("; ") == 4
    assert detail.startswith("0.id: ")


def test_requests_are_logged_by_pattern_in_words_or_as_json(caplog):
    with caplog.at_level(logging.INFO, "mathamr_kedro.serve.app"):
        connect(Service()).get("/api/systems?secret=1")
        name = (
            connect(Service(), json_logs=True).get("/nothing").headers["X-Request-Id"]
        )
    words, line = [r.getMessage() for r in caplog.records if "serve.app" in r.name]
    assert words.startswith("GET /api/systems 200 ") and words.endswith(" ms")
    entry = json.loads(line)
    assert next(iter(entry)) == "time" and entry["milliseconds"] >= 0
    del entry["time"], entry["milliseconds"]
    assert entry == {
        "request": name, "process": os.getpid(), "method": "GET", "route": "other",
        "status": 404,
    }  # fmt: skip


def test_pages_have_their_type_and_are_asked_for_again():
    client = connect(Service())
    for path, kind in (("/", "text/html"), ("/static/page.js", "text/javascript")):
        answer = client.get(path)
        assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
        assert answer.headers["cache-control"] == "no-cache"
        assert client.head(path).status_code == 200
    assert "/" not in client.get("/openapi.json").json()["paths"]


def test_unknown_addresses_are_a_page_for_people_and_json_for_programs():
    client = connect(Service())
    page = client.get("/nothing", headers={"Accept": "text/html,*/*;q=0.8"})
    assert page.status_code == 404
    assert 'href="/"' in page.text
    answer = client.get("/nothing")
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


def test_any_name_may_be_allowed():
    strange = {"Host": "strange.example"}
    assert connect(Service()).get("/health", headers=strange).status_code == 400
    config = ServeConfig(hosts=("*",))
    client = TestClient(create_app(config, Service()))
    assert client.get("/health", headers=strange).status_code == 200


def test_a_refused_host_gets_the_headers_of_every_answer():
    client = TestClient(connect(Service()).app, base_url="http://evil.example")
    answer = client.get("/")
    assert answer.status_code == 400
    assert (
        module.HEADERS.items()
        <= {k.title(): v for k, v in answer.headers.items()}.items()
    )


@pytest.mark.parametrize("sent", [b"", b"GET / HT", b"GET /x HTTP/1.1\r\nHost: a\r\n"])
def test_connections_without_a_request_are_closed(monkeypatch, sent):
    uvicorn = pytest.importorskip("uvicorn")
    from mathamr_kedro.serve import connections

    monkeypatch.setattr(connections, "SECONDS", 0.05)
    config = uvicorn.Config(
        connect(Service()).app, http=connections.BoundedConnection, lifespan="off",
        log_config=None,
    )  # fmt: skip
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        address = listening.getsockname()
        with socket.create_connection(address, PATIENCE) as half_open:
            half_open.sendall(sent)
            assert half_open.recv(1) == b""
        server.should_exit = True
        thread.join()


def test_a_change_that_has_begun_is_answered_when_it_is_done():
    class Slow(Service):
        def add(self, posts):
            time.sleep(0.2)
            return super().add(posts)

    config = ServeConfig(hosts=("testserver",), token="t", seconds=0.01)
    client = TestClient(create_app(config, Slow()))
    sent = {
        "json": [{"id": "a", "text": "x"}],
        "headers": {"Authorization": "Bearer t"},
    }
    assert client.post("/api/posts", **sent).json()["added"] == ["a"]
