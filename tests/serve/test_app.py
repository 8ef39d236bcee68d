"""The application around a service that is none: start, end, limits and logs."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
import time
from concurrent.futures import CancelledError
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is missing")
pytest.importorskip("httpx")
from fastapi.testclient import TestClient

from mathamr_kedro import __version__
from mathamr_kedro.base.errors import ConfigurationError, LockedError, MissingInputError
from mathamr_kedro.serve import app as module
from mathamr_kedro.serve.app import create_app
from mathamr_kedro.serve.settings import ServeConfig
from tests.conftest import PATIENCE

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


class Service:
    """Answers with what it was given, or fails."""

    def __init__(self, answer: Any = None) -> None:
        self.answer, self.is_open = answer, True

    def list_systems(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer or {}

    def count_posts(self) -> int:
        return 7

    def add(self, posts: Any) -> dict[str, Any]:
        return {"added": [post.post_id for post in posts]}

    def warm_up(self, is_idle: Any) -> None:
        pass

    def close(self) -> None:
        self.is_open = False


def connect(service: Any, **settings: Any) -> TestClient:
    config = ServeConfig(hosts=("testserver",), seconds=PATIENCE, **settings)
    return TestClient(create_app(config, service))


def test_a_server_that_ends_takes_its_warming_up_along(monkeypatch):
    monkeypatch.setattr(module, "_WARM_UP_AFTER", 0.0)
    begun, ends, threads = threading.Event(), [], []

    class Warming(Service):
        def warm_up(self, is_idle):
            threads.append(threading.current_thread())
            begun.set()
            try:
                for _ in range(int(PATIENCE) * 100):  # a large collection
                    is_idle(0)
                    time.sleep(0.01)
            except CancelledError:
                ends.append(self.is_open)

    service = Warming()
    with connect(service):
        assert begun.wait(PATIENCE)
    assert ends == [True]  # it reads what is closed after it has ended
    assert not service.is_open
    assert threads[0].daemon  # a server that is killed does not wait for it


def test_a_server_that_ends_at_once_warms_nothing_up(monkeypatch):
    monkeypatch.setattr(module, "_WARM_UP_AFTER", 0.0)
    service, warmed = Service(), []
    service.warm_up = warmed.append

    async def start_and_end():
        app = create_app(ServeConfig(), service)
        async with app.router.lifespan_context(app):
            assert service.is_open
        await asyncio.sleep(0.01)

    asyncio.run(start_and_end())
    assert not service.is_open
    assert warmed == []


def test_a_server_opens_its_service_when_it_starts(monkeypatch):
    opened = []

    def open_service(settings):
        opened.append(settings)
        return Service()

    monkeypatch.setattr(module, "SearchService", open_service)
    config = ServeConfig("own", hosts=("testserver",))
    client = TestClient(create_app(config))
    assert opened == []
    with client:
        assert client.get("/health").json() == {
            "status": "ok", "version": __version__, "posts": 7,
        }  # fmt: skip
    assert opened == [config]


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ConfigurationError("no such system"), 422),
        (MissingInputError("no such post"), 404),
        (LockedError("somebody writes"), 503),
        (RuntimeError("secret"), 500),
    ],
)
def test_errors_have_the_status_of_their_kind(error, status):
    answer = connect(Service(error)).get("/api/systems")
    assert answer.status_code == status
    detail = answer.json()["detail"]
    assert detail == str(error) if status != 500 else "secret" not in detail


def test_metrics_count_requests_and_what_the_index_holds():
    client = connect(Service())
    client.get("/api/systems")
    client.request("BREW", "/tea")
    lines = client.get("/metrics").text.splitlines()
    values = {line.split("{")[0]: line.split()[-1] for line in lines if line[0] != "#"}
    assert values["mathamr_index_entries"] == "7"
    for name in ("waiting", "refused", "late"):
        assert values[f"mathamr_{name}_requests"] == "0"
    text = "\n".join(lines)
    assert 'method="GET",route="/api/systems",status="200"' in text
    assert 'method="other",route="other",status="404"' in text


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
    assert entry == {"request": name, "method": "GET", "route": "other", "status": 404}


def test_pages_have_their_type_and_are_asked_for_again():
    client = connect(Service())
    for path, kind in (("/", "text/html"), ("/static/page.js", "text/javascript")):
        answer = client.get(path)
        assert answer.headers["content-type"] == f"{kind}; charset=utf-8"
        assert answer.headers["cache-control"] == "no-cache"
        assert client.head(path).status_code == 200
    assert "/" not in client.get("/openapi.json").json()["paths"]


def test_any_name_may_be_allowed():
    strange = {"Host": "strange.example"}
    assert connect(Service()).get("/health", headers=strange).status_code == 400
    config = ServeConfig(hosts=("*",))
    client = TestClient(create_app(config, Service()))
    assert client.get("/health", headers=strange).status_code == 200


def test_a_worker_process_takes_over_settings_and_log(monkeypatch):
    config, logged = ServeConfig(hosts=("worker.example",)), []

    def note(settings):
        logged.append(settings)

    monkeypatch.setattr(ServeConfig, "take_over", classmethod(lambda cls: config))
    monkeypatch.setattr(ServeConfig, "set_up_logs", note)
    create_app(ServeConfig(), Service())
    assert logged == []  # who has settings has a log
    client = TestClient(create_app(service=Service()))
    assert logged == [config]
    asked = {"Host": "worker.example"}
    assert client.get("/health", headers=asked).status_code == 200


def test_the_time_of_a_request_is_logged_and_counted(monkeypatch, caplog):
    clock = iter([10.0, 11.5, 20.0, 20.25])
    fake = SimpleNamespace(perf_counter=lambda: next(clock))
    monkeypatch.setattr(module, "time", fake)
    client = connect(Service())
    with caplog.at_level(logging.INFO, "mathamr_kedro.serve.app"):
        client.get("/api/systems")
    assert "GET /api/systems 200 1500.0 ms" in caplog.messages
    lines = client.get("/metrics").text.splitlines()
    (total,) = [line for line in lines if "_seconds_sum" in line]
    assert total.endswith(" 1.500000")


def test_what_breaks_stands_in_the_log(caplog):
    answer = connect(Service(RuntimeError("the reason"))).get("/api/systems")
    assert f"Request {answer.headers['X-Request-Id']} failed" in caplog.text
    assert "the reason" in caplog.text
