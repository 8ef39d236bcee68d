"""What the API answers, and what it refuses."""

from __future__ import annotations

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is missing")
pytest.importorskip("httpx")
from fastapi.testclient import TestClient

from mathamr_kedro.base.errors import MissingInputError
from mathamr_kedro.search.responses import (
    AddResponse,
    DeleteResponse,
    SystemsResponse,
)
from mathamr_kedro.serve import ServeConfig, create_app
from mathamr_kedro.serve.settings import SETTINGS, TOKEN
from tests.conftest import PATIENCE

pytestmark = [
    pytest.mark.timeout(2400),  # the first of them waits for the demo
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

QUESTION = r"is $\sqrt p$ irrational for a prime $p$?"


def connect(service: Any, **changed: Any) -> TestClient:
    """Return a client; the service stays open for others."""
    settings = {"seconds": PATIENCE, **changed}
    config = ServeConfig("demo", hosts=("testserver",), **settings)
    return TestClient(create_app(config, service))


@pytest.fixture(scope="module")
def client(service: Any) -> TestClient:
    return connect(service)


def test_search_finds_posts_and_says_what_matched(client: TestClient) -> None:
    found = client.get("/api/search", params={"q": QUESTION, "top": 3}).json()
    (sentence,) = found["query"]
    assert [part.get("key") for part in sentence["parts"]] == [
        None, "F0", None, "F1", None,
    ]  # fmt: skip
    first = found["results"][0]
    assert [r["rank"] for r in found["results"]] == [1, 2, 3]
    assert "irrational" in json.dumps(first["title"])
    assert "irrational-numbers" in first["tags"]  # of its question
    assert {m["query"] for m in first["matches"]} == {"F0", "F1", "S1"}
    # what matched is among the sentences that are shown
    shown = {p.get("key") for s in first["sentences"] for p in s["parts"]}
    shown |= {s["key"] for s in first["sentences"]}
    assert {m["post"] for m in first["matches"]} <= shown
    formulas = [p for s in first["sentences"] for p in s["parts"] if "latex" in p]
    assert all(p["mathml"].startswith("<math") for p in formulas)


def test_search_finds_what_the_searcher_finds(client: TestClient, service: Any) -> None:
    found = client.get("/api/search", params={"q": QUESTION, "top": 5}).json()
    expected = service.searcher.search(QUESTION, 5).results
    assert [r["post_id"] for r in found["results"]] == [r.post_id for r in expected]


@pytest.mark.parametrize(
    ("filters", "holds"),
    [
        ({"type": "question"}, lambda r: r["type"] == "question"),
        ({"tag": "prime-numbers"}, lambda r: "prime-numbers" in r["tags"]),
        ({"year": 2013}, lambda r: r["date"].startswith("2013")),
    ],
)
@pytest.mark.parametrize("path", ["search", "formula"])
def test_filters(client: TestClient, path: str, filters: Any, holds: Any) -> None:
    asked = {"q": "a prime $p$"} if path == "search" else {"latex": "p"}
    found = client.get(f"/api/{path}", params={**asked, **filters}).json()["results"]
    assert found
    assert all(map(holds, found))


def test_systems_can_be_chosen(client: TestClient) -> None:
    systems = client.get("/api/systems").json()
    names = {s["name"]: s["kind"] for s in systems["systems"]}
    assert names["bm25"] == "baseline"
    assert systems["default"] in names
    labels = [s["label"] for s in systems["systems"] if s["label"]]
    assert labels == [
        "recommended", "meaning (graphs)", "same words", "similar sentences",
    ]  # fmt: skip
    asked = {"q": "infinitely many primes", "top": 5}
    ours, bm25 = (
        client.get("/api/search", params=asked | more).json()["results"]
        for more in ({}, {"system": "bm25"})
    )
    assert [r["score"] for r in ours] != [r["score"] for r in bm25]
    assert [p["system"] for p in bm25[0]["parts"]] == ["bm25"]
    assert bm25[0]["parts"][0]["share"] == bm25[0]["score"]
    assert bm25[0]["matches"]  # whoever found it, the nearest parts are marked
    wrong = client.get("/api/search", params={"q": "x", "system": "bm26"})
    assert wrong.status_code == 422
    assert "did you mean 'bm25'" in wrong.json()["detail"]


def test_what_is_listed_answers_and_no_request_prepares_a_system(client) -> None:
    for kind, path, key in (("", "search", "q"), ("formula_", "formula", "latex")):
        for system in client.get("/api/systems").json()[f"{kind}systems"]:
            asked = {key: "p", "top": 1, "system": system["name"]}
            answer = client.get(f"/api/{path}", params=asked)
            if system["kind"] != "not prepared":
                assert answer.status_code == 200, system
                continue
            assert answer.status_code == 422
            told = answer.json()["detail"]
            assert "run `kedro run --pipelines indexing --params 'evaluation." in told


def test_systems_for_formulas_can_be_chosen(client: TestClient) -> None:
    systems = client.get("/api/systems").json()
    names = {s["name"]: s["kind"] for s in systems["formula_systems"]}
    assert systems["formula_default"] in names
    asked = {"latex": r"\sum_{i=1}^n d_i", "top": 3, "system": "bm25_tuples"}
    assert names["bm25_tuples"] == "baseline"
    first = client.get("/api/formula", params=asked).json()["results"][0]
    assert [p["system"] for p in first["parts"]] == ["bm25_tuples"]
    wrong = client.get("/api/formula", params={"latex": "x", "system": "minilm_title"})
    assert wrong.status_code == 422
    assert "No system for formulas" in wrong.json()["detail"]


def test_formula_search_marks_the_formula(client: TestClient) -> None:
    found = client.get("/api/formula", params={"latex": r"\sum_{i=1}^n d_i"}).json()
    first = found["results"][0]
    assert first["matches"][0]["query"] == "F0"
    assert first["matches"][0]["similarity"] > 0.8


def test_query_variables_are_bound(client: TestClient) -> None:
    asked = {"latex": r"\sum_{?i=1}^n ?d_?i"}
    found = client.get("/api/formula", params=asked).json()
    assert found["query"][0]["parts"][0]["latex"] == asked["latex"]
    first = found["results"][0]
    bindings = first["pattern"]["bindings"]
    assert {name: f["latex"] for name, f in bindings.items()} == {"?i": "i", "?d": "d"}
    assert "<math" in bindings["?i"]["mathml"]
    plain = client.get("/api/formula", params={"latex": "x"}).json()["results"][0]
    assert plain["pattern"] is None
    wrong = client.get("/api/formula", params={"latex": "?a"})
    assert wrong.status_code == 422
    assert "around the query variables" in wrong.json()["detail"]


def test_explanation_has_all_pairs_and_both_graphs(client: TestClient) -> None:
    asked = {"q": QUESTION, "post_id": "33703", "graphs": True}
    found = client.get("/api/explain", params=asked).json()
    assert [row["key"] for row in found["rows"]] == ["F0", "F1", "S1", "D"]
    assert len(found["similarity"]) == 4
    assert len(found["similarity"][0]) == len(found["columns"])
    best = [max(row) for row in found["similarity"]]
    assert found["maxsim"] == pytest.approx(sum(best) / 4, abs=1e-3)
    assert 'data-key="F0"' in found["graphs"]["query"]
    assert found["graphs"]["post"].startswith("<svg")
    assert "<style" not in found["graphs"]["post"]


@pytest.mark.parametrize("system", [None, "bm25", "maxsim-exact", "mathamr_plus+bm25"])
def test_the_score_that_is_explained_is_that_of_the_search(client, system) -> None:
    asked = {"q": QUESTION, "top": 2} | ({"system": system} if system else {})
    for result in client.get("/api/search", params=asked).json()["results"]:
        post = {"post_id": result["post_id"]}
        why = client.get("/api/explain", params=asked | post).json()
        assert why["score"] == pytest.approx(result["score"], abs=1e-5)
        assert sum(p["share"] for p in why["parts"]) == pytest.approx(why["score"])
        own = next((p["score"] for p in why["parts"]), None)
        if why["terms"] and len(why["parts"]) == 1:
            assert sum(t["share"] for t in why["terms"]) == pytest.approx(own, abs=1e-4)
        assert why["reasons"]
        for part in why["parts"]:
            own = sum(word["share"] for word in part["words"])
            assert not part["words"] or own == pytest.approx(part["score"], abs=1e-4)
    if system is None:  # the question of the thread counts too
        assert any(term["in_question"] for term in why["terms"])


def test_the_score_of_a_formula_is_explained_and_says_how_much_is_the_same(client):
    asked = {"latex": r"\sum_{j=1}^m j^2", "top": 3}
    results = client.get("/api/formula", params=asked).json()["results"]
    assert all(0 < r["same"] < 1 for r in results)  # none is the formula itself
    for result in results:
        given = {"q": asked["latex"], "post_id": result["post_id"], "formula": True}
        why = client.get("/api/explain", params=given).json()
        assert why["score"] == pytest.approx(result["score"], abs=1e-5)
    (same,) = client.get(
        "/api/formula", params={"latex": r"\sum_{i=1}^{n} d_i", "top": 1}
    ).json()["results"]
    assert same["same"] == 1


def test_posts_are_read_by_id(client: TestClient) -> None:
    post = client.get("/api/posts/33703").json()
    assert post["type"] == "answer"
    assert post["question_id"] == "33701"
    assert "irrational" in json.dumps(post["title"])
    missing = client.get("/api/posts/nothing")
    assert (missing.status_code, missing.json()["detail"]) == (
        404, "No post has the id 'nothing'",
    )  # fmt: skip


@pytest.mark.parametrize(
    "path", ["../../etc/passwd", "..%2f..%2fetc%2fpasswd", "/etc/passwd", "%00", "a/b"]
)
def test_ids_are_no_paths(client: TestClient, path: str) -> None:
    for prefix in ("/api/posts/", "/static/"):
        answer = client.get(prefix + path)
        assert answer.status_code in (404, 422)
        assert "root:" not in answer.text


def test_drawings(client: TestClient) -> None:
    found = client.get("/api/render", params={"q": "so $x^2$", "latex": "y"}).json()
    assert found["parts"][1]["mathml"].startswith("<math alttext")
    assert 'display="block"' in found["mathml"]
    trees = client.get("/api/trees", params={"latex": "x^2"}).json()
    assert trees["slt"].startswith("<svg")
    assert trees["opt"].startswith("<svg")


@pytest.mark.parametrize(
    ("path", "values", "status"),
    [
        ("search", {}, 422),
        ("search", {"q": ""}, 422),
        ("search", {"q": "..."}, 422),
        ("search", {"q": "x" * 4001}, 422),
        ("search", {"q": "x", "top": 0}, 422),
        ("search", {"q": "x", "top": 101}, 422),
        ("search", {"q": "x", "type": "comment"}, 422),
        ("search", {"q": "x", "year": "next"}, 422),
        ("search", {"q": "x", "type": ["answer"] * 21}, 422),
        ("search", {"q": "x", "tag": "x" * 101}, 422),
        ("search", {"q": "$" + "{" * 60 + "}" * 60 + "$"}, 422),
        ("formula", {"latex": "x" * 2001}, 422),
        ("trees", {"latex": "x" * 2001}, 422),
        ("render", {"q": "x" * 4001}, 422),
        ("explain", {"q": "x", "post_id": "x" * 1001}, 422),
        ("formula", {"latex": "  "}, 422),
        ("explain", {"q": "x", "post_id": "nothing"}, 404),
        ("nothing", {}, 404),
    ],
)
def test_refusals_say_why(client: TestClient, path: str, values: Any, status: int):
    answer = client.get(f"/api/{path}", params=values)
    assert answer.status_code == status
    detail = answer.json()["detail"]
    assert isinstance(detail, str)
    assert len(detail) < 500


@pytest.mark.parametrize("text", ["$x$\u202e3", "$x$\u200b17 is prime", "FORMULA_7 x"])
def test_what_looks_like_a_formula_is_none(client: TestClient, text: str) -> None:
    """Digits behind an invisible character do not make another formula of it."""
    answer = client.get("/api/search", params={"q": text})
    assert answer.status_code == 200
    keys = {part.get("key") for s in answer.json()["query"] for part in s["parts"]}
    assert keys - {None} == ({"F0"} if "$" in text else set())


def test_while_one_waits_the_next_is_refused() -> None:
    busy = _Busy()
    with connect(busy, max_waiting=1) as narrow, ThreadPoolExecutor(1) as other:
        first = other.submit(narrow.get, "/api/systems")
        assert busy.begun.wait(PATIENCE)
        refused = narrow.get("/api/systems")
        busy.end.set()
        assert first.result().status_code == 200
    assert refused.status_code == 503
    assert refused.headers["Retry-After"]
    assert "try again" in refused.json()["detail"]


def test_what_takes_too_long_is_given_up() -> None:
    busy = _Busy()
    with connect(busy, seconds=0.05) as hasty:
        answer = hasty.get("/api/systems")
        busy.end.set()
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert "try again" in answer.json()["detail"]


def test_what_breaks_is_answered_and_its_reason_stays_in_the_log(caplog) -> None:
    class Broken(_Busy):
        def list_systems(self) -> SystemsResponse:
            raise RuntimeError("the reason")

    with connect(Broken()) as client:
        answer = client.get("/api/systems")
    name = answer.headers["X-Request-Id"]
    detail = f"The server failed; its log has more under {name}"
    assert (answer.status_code, answer.json()) == (500, {"detail": detail})
    assert f"Request {name} failed" in caplog.text and "the reason" in caplog.text


class _Busy:
    """A service that answers when it is told to."""

    def __init__(self) -> None:
        self.begun, self.end = threading.Event(), threading.Event()

    def list_systems(self) -> SystemsResponse:
        self.begun.set()
        self.end.wait(PATIENCE)
        return SystemsResponse(0, "bm25", (), "bm25", ())

    def warm_up(self) -> None:
        pass

    def close(self) -> None:
        pass


def test_the_api_describes_itself_without_help_from_elsewhere(client) -> None:
    api = client.get("/openapi.json").json()
    assert {"/api/search", "/api/formula", "/api/explain", "/api/systems"} <= set(
        api["paths"]
    )
    page = client.get("/api")
    assert page.headers["content-type"].startswith("text/html")
    assert "http" not in page.text.replace("http://127.0.0.1", "")


@pytest.mark.parametrize(
    ("path", "values", "status"),
    [
        ("/api/search", {"q": QUESTION}, 200),
        ("/api/formula", {"latex": r"\sum_{?i=1}^n ?d_?i"}, 200),
        ("/api/explain", {"q": QUESTION, "post_id": "33703"}, 200),
        ("/api/explain", {"q": QUESTION, "post_id": "33703", "graphs": True}, 200),
        ("/api/posts/33703", {}, 200),
        ("/api/systems", {}, 200),
        ("/api/render", {"q": "so $x^2$", "latex": "y"}, 200),
        ("/api/trees", {"latex": "x^2"}, 200),
        ("/health", {}, 200),
        ("/api/posts/nothing", {}, 404),
        ("/api/search", {}, 422),
        ("/api/search", {"q": "x", "system": "bm26"}, 422),
    ],
)
def test_answers_are_as_the_api_describes_them(
    client: TestClient, path: str, values: Any, status: int
) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    api = client.get("/openapi.json").json()
    pattern = "/api/posts/{post_id}" if path.startswith("/api/posts/") else path
    (described,) = api["paths"][pattern]["get"]["responses"][str(status)][
        "content"
    ].values()
    answer = client.get(path, params=values)
    assert answer.status_code == status
    assert described["schema"]  # {} would allow everything
    schema = {**described["schema"], "components": api["components"]}
    jsonschema.validate(answer.json(), schema)
    if status == 200:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({}, schema)


def test_no_answer_of_the_api_is_just_an_object(client: TestClient) -> None:
    api = client.get("/openapi.json").json()
    for path, methods in api["paths"].items():
        for method, about in methods.items():
            schemas = [
                content["schema"]
                for response in about["responses"].values()
                for content in response.get("content", {}).values()
            ]
            if path != "/metrics":
                assert all("$ref" in s or "anyOf" in s for s in schemas), (path, method)


def test_every_answer_has_the_headers(client: TestClient) -> None:
    for path in ("/", "/api/systems", "/nothing", "/api/search", "/static/page.js"):
        headers = client.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"


def test_an_index_without_formulas_still_serves(service: Any, caplog, monkeypatch):
    def refuse(*_: Any) -> None:
        raise MissingInputError("No formulas")

    monkeypatch.setattr(service.searcher, "warm_up", refuse)
    service.warm_up()
    assert "Searches for formulas will fail: No formulas" in caplog.text


def write_post(**fields: Any) -> dict[str, Any]:
    return {"id": "1", "text": "x", **fields}


class _Written(_Busy):
    """Takes posts, and counts them."""

    def add(self, posts: Any) -> AddResponse:
        return AddResponse(tuple(post.post_id for post in posts), (), ())

    def delete(self, ids: Any) -> DeleteResponse:
        return DeleteResponse(tuple(ids))


@pytest.mark.parametrize(
    ("taken", "refused"),
    [
        ([write_post()] * 1000, [write_post()] * 1001),
        ([write_post(id="x" * 1000)], [write_post(id="x" * 1001)]),
        ([write_post(text="x" * 100_000)], [write_post(text="x" * 100_001)]),
        ([write_post(title="x" * 1000)], [write_post(title="x" * 1001)]),
        ([write_post(tags=["x" * 100] * 20)], [write_post(tags=["x"] * 21)]),
        ([write_post(format="html")], [write_post(format="docx")]),
    ],
)
def test_limits_of_new_posts(taken: Any, refused: Any) -> None:
    client = connect(_Written(), token="secret", max_body=10**8)
    headers = {"Authorization": "Bearer secret"}
    answer = client.post("/api/posts", json=taken, headers=headers)
    assert len(answer.json()["added"]) == len(taken)
    answer = client.post("/api/posts", json=refused, headers=headers)
    assert answer.status_code == 422


@pytest.mark.parametrize(
    ("token", "given", "status"),
    [
        ("", "", 403),
        ("", "Bearer ", 403),
        ("secret", "", 401),
        ("secret", "Bearer", 401),
        ("secret", "Bearer é", 401),
        ("secret", "secret", 401),
        ("secret", "Bearer secrets", 401),
        ("secret", "Bearer secret", 200),
    ],
)
def test_only_who_knows_the_token_writes(
    monkeypatch, token: str, given: str, status: int
) -> None:
    monkeypatch.setenv("MATHAMR_TOKEN", token)
    client = connect(_Written())
    headers = {"Authorization": given.encode()}
    for method, body in (("POST", [write_post()]), ("DELETE", ["1"])):
        answer = client.request(method, "/api/posts", json=body, headers=headers)
        assert answer.status_code == status


def test_worker_processes_inherit_settings_but_no_token(monkeypatch) -> None:
    for name in (SETTINGS, TOKEN):
        monkeypatch.setenv(name, "")  # restored after the test
        monkeypatch.delenv(name)
    assert ServeConfig.from_environment() == ServeConfig()
    config = ServeConfig("own", "root", "bm25", ("a.example",), token="secret")
    config.to_environment()
    assert ServeConfig.from_environment() == replace(config, token=None)
    assert "secret" not in os.environ[SETTINGS] + repr(config)
