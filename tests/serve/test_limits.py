"""What the addresses take, to the last character, and what they ask for where a request
says nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is missing")
from fastapi import FastAPI
from fastapi.testclient import TestClient

from mathamr_kedro.serve.gate import Gate
from mathamr_kedro.serve.routes import build_router
from mathamr_kedro.serve.settings import ServeConfig


class Asked:
    """Notes what it is asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        def note(*arguments: Any) -> dict[str, Any]:
            self.calls.append((name, arguments))
            return {}

        return note


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def client(asked: Asked) -> Iterator[TestClient]:
    app = FastAPI()
    config = ServeConfig(token="secret")
    app.include_router(build_router(lambda: asked, Gate(10, 30.0), config))
    with TestClient(app, headers={"Authorization": "Bearer secret"}) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "arguments", "call"),
    [
        ("search?q=x", ("x", 10, (), None, None, None), "search"),
        ("formula?latex=x", ("x", 10, (), None, None, None), "search_formula"),
        ("explain?q=x&post_id=7", ("x", "7", False, False), "explain"),
        (
            "explain?q=x&post_id=7&formula=1&graphs=1",
            ("x", "7", True, True),
            "explain",
        ),
        ("posts/a/b", ("a/b",), "read_post"),
        ("systems", (), "list_systems"),
        (
            "search?q=x&top=3&type=answer&type=question&tag=t&year=2020&system=s",
            ("x", 3, ("answer", "question"), "t", 2020, "s"),
            "search",
        ),
    ],
)
def test_requests_reach_the_service(client, asked, path, arguments, call):
    assert client.get(f"/api/{path}").status_code == 200
    assert asked.calls == [(call, arguments)]


@pytest.mark.parametrize(
    ("path", "name", "taken", "refused"),
    [
        ("search", "q", ["x", "x" * 4000], ["", "x" * 4001]),
        ("search", "q", ["{" * 50, "{}" * 99], ["{" * 51, "{" * 51 + "}" * 51]),
        ("search", "top", [1, 100], [0, 101]),
        ("search", "tag", ["", "x" * 100], ["x" * 101]),
        ("search", "year", [1900, 2200], [1899, 2201]),
        ("search", "system", ["", "x" * 100], ["x" * 101]),
        ("search", "type", [["answer"] * 3], [["answer"] * 4, "comment"]),
        ("formula", "latex", ["x", "x" * 2000], ["", "x" * 2001, "{" * 51]),
        ("formula", "top", [1, 100], [0, 101]),
        ("explain", "post_id", ["x", "x" * 1000], ["", "x" * 1001]),
        ("trees", "latex", ["x", "x" * 2000], ["", "x" * 2001, "{" * 51]),
        ("render", "q", ["", "x" * 4000], ["x" * 4001, "{" * 51]),
        ("render", "latex", ["", "x" * 2000], ["x" * 2001, "{" * 51]),
    ],
)
def test_limits_hold_to_the_last_character(client, path, name, taken, refused):
    others = {"formula": {"latex": "x"}, "explain": {"q": "x", "post_id": "1"}}
    others |= {"search": {"q": "x"}}
    for code, values in ((200, taken), (422, refused)):
        for value in values:
            params = others.get(path, {}) | {name: value}
            answer = client.get(f"/api/{path}", params=params)
            assert answer.status_code == code, (value, answer.text)


def post(**fields: Any) -> dict[str, Any]:
    return {"id": "1", "text": "x", **fields}


@pytest.mark.parametrize(
    ("taken", "refused"),
    [
        ([post()], []),
        ([post()] * 1000, [post()] * 1001),
        ([post(id="x" * 1000)], [post(id="x" * 1001)]),
        ([post()], [post(id="")]),
        ([post(text="x" * 100_000)], [post(text="x" * 100_001)]),
        ([post()], [post(text="")]),
        ([post(title="x" * 1000)], [post(title="x" * 1001)]),
        ([post(tags=["x" * 100] * 20)], [post(tags=["x"] * 21)]),
        ([post(tags=[""])], [post(tags=["x" * 101])]),
        ([post(format="html")], [post(format="docx")]),
    ],
)
def test_limits_of_new_posts(client, asked, taken, refused):
    assert client.post("/api/posts", json=taken).status_code == 200
    ((call, (raw,)),) = asked.calls
    assert (call, len(raw)) == ("add", len(taken))
    assert client.post("/api/posts", json=refused).status_code == 422


def test_new_posts_are_documents_of_their_format(client, asked):
    sent = post(title="T", tags=["a"], format="latex")
    client.post("/api/posts", json=[sent, post()])
    first, second = asked.calls[0][1][0]
    assert first._asdict() == {
        **first._asdict(), "post_id": "1", "post_type": "document", "tags": ("a",),
        "title": "T", "body": "x", "markup": "latex",
    }  # fmt: skip
    assert (second.title, second.tags, second.markup) == ("", (), "markdown")


@pytest.mark.parametrize(("number", "code"), [(0, 422), (1, 200), (1000, 200)])
def test_limits_of_deletions(client, asked, number, code):
    answer = client.request("DELETE", "/api/posts", json=["x"] * number)
    assert answer.status_code == code
    assert len(asked.calls) == (code == 200)


def test_too_many_deletions_are_refused(client):
    answer = client.request("DELETE", "/api/posts", json=["x"] * 1001)
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("token", "given", "code"),
    [
        ("", "Bearer ", 403),
        ("secret", "", 401),
        ("secret", "secret", 401),
        ("secret", "Bearer secrets", 401),
        ("secret", "Bearer secret", 200),
    ],
)
def test_only_who_knows_the_token_writes(asked, token, given, code):
    app = FastAPI()
    config = ServeConfig(token=token)
    app.include_router(build_router(lambda: asked, Gate(10, 30.0), config))
    client = TestClient(app, headers={"Authorization": given})
    assert client.post("/api/posts", json=[post()]).status_code == code
    assert client.request("DELETE", "/api/posts", json=["1"]).status_code == code
    assert [name for name, _ in asked.calls] == ["add", "delete"] * (code == 200)
    assert client.get("/api/systems").json() == {"can_write": bool(token)}


def test_formulas_are_drawn_alone_or_between_words(client):
    words = client.get("/api/render", params={"q": "so $x$"}).json()
    assert words["mathml"] is None
    assert [part.get("latex") for part in words["parts"]] == [None, "x"]
    alone = client.get("/api/render", params={"latex": "x"}).json()
    assert alone["parts"] == []
    assert 'display="block"' in alone["mathml"]
