"""Adding and deleting posts: who may, and what searches see of it."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the extra serve is missing")
pytest.importorskip("httpx")
from fastapi.testclient import TestClient

from mathamr_kedro.serve import SearchService, ServeConfig, create_app
from tests.conftest import PATIENCE

pytestmark = [
    pytest.mark.timeout(2400),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

POST = {
    "id": "zebra-1",
    "title": "Stripes <b>of</b> a zebra",
    "text": r"The zebra has $z_{17} = \binom{41}{17}$ stripes.",
    "tags": ["zebras"],
}


@pytest.fixture(scope="module")
def written(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> ServeConfig:
    """Settings of a server that may write, into a copy of the demo's data."""
    root = tmp_path_factory.mktemp("written") / "data"
    shutil.copytree(demo / "data", root, symlinks=True)
    return ServeConfig(
        "demo", str(root), hosts=("testserver",), token="s3cret", seconds=PATIENCE
    )


@contextlib.contextmanager
def start(demo: Path, config: ServeConfig) -> Iterator[TestClient]:
    with contextlib.chdir(demo):
        service = SearchService(config)
    with TestClient(create_app(config, service)) as client:
        yield client


@pytest.fixture(scope="module")
def opened(demo: Path, written: ServeConfig) -> Iterator[TestClient]:
    with start(demo, written) as client:
        yield client


def test_posts_come_and_go(opened: TestClient) -> None:
    headers = {"Authorization": "Bearer s3cret"}
    asked = {"q": r"how many stripes $\binom{41}{17}$ has the zebra", "top": 1}
    added = opened.post("/api/posts", json=[POST], headers=headers)
    none = {"replaced": [], "unchanged": [], "failures": [], "cut": []}
    assert added.json() == {"added": ["zebra-1"], **none}
    (found,) = opened.get("/api/search", params=asked).json()["results"]
    assert (found["post_id"], found["tags"]) == ("zebra-1", ["zebras"])
    assert opened.get("/api/posts/zebra-1").json()["type"] == "document"
    gone = opened.request("DELETE", "/api/posts", json=["zebra-1"], headers=headers)
    assert gone.json() == {"deleted": ["zebra-1"]}
    (found,) = opened.get("/api/search", params=asked).json()["results"]
    assert found["post_id"] != "zebra-1"
    again = opened.request("DELETE", "/api/posts", json=["zebra-1"], headers=headers)
    assert again.status_code == 404


def test_what_cannot_be_read_is_named(opened: TestClient) -> None:
    headers = {"Authorization": "Bearer s3cret"}
    empty = {"id": "empty", "text": "..."}
    answer = opened.post("/api/posts", json=[empty], headers=headers).json()
    assert answer["added"] == []
    assert answer["failures"][0]["id"] == "empty"
    for wrong in ([], [{"id": "", "text": "x"}], [{"id": "a"}], {"id": "a"}, "x"):
        answer = opened.post("/api/posts", json=wrong, headers=headers)
        assert answer.status_code == 422


@pytest.mark.slow
def test_a_post_of_thousands_of_formulas_is_cut_and_breaks_nothing(
    opened: TestClient,
) -> None:
    headers = {"Authorization": "Bearer s3cret"}
    poison = {"id": "poison", "text": "$a$ " * 20_000}
    answer = opened.post("/api/posts", json=[poison], headers=headers).json()
    assert (answer["added"], answer["failures"]) == (["poison"], [])
    assert answer["cut"][0]["id"] == "poison"
    assert "2,000 formulas" in answer["cut"][0]["problem"]
    assert opened.get("/api/search", params={"q": "primes"}).json()["results"]
    gone = opened.request("DELETE", "/api/posts", json=["poison"], headers=headers)
    assert gone.json() == {"deleted": ["poison"]}


@pytest.mark.slow
def test_every_server_sees_at_once_what_another_one_acknowledged(
    demo: Path, written: ServeConfig, opened: TestClient
) -> None:
    headers = {"Authorization": "Bearer s3cret"}
    other = {**POST, "text": "The zebra has $z = 2$ ears."}
    with start(demo, written) as second:
        assert second.get("/api/posts/zebra-1").status_code == 404
        assert opened.post("/api/posts", json=[POST], headers=headers).is_success
        assert second.get("/api/posts/zebra-1").is_success
        again = second.post("/api/posts", json=[POST], headers=headers).json()
        assert (again["added"], again["unchanged"]) == ([], ["zebra-1"])
        changed = second.post("/api/posts", json=[other], headers=headers).json()
        assert changed["replaced"] == ["zebra-1"]
        assert "ears" in opened.get("/api/posts/zebra-1").text
        args = ("DELETE", "/api/posts")
        assert second.request(*args, json=["zebra-1"], headers=headers).is_success
        assert opened.get("/api/posts/zebra-1").status_code == 404
        assert opened.request(*args, json=["zebra-1"], headers=headers).is_client_error


@pytest.mark.slow
def test_health_is_that_of_the_index(written: ServeConfig, opened: TestClient) -> None:
    root, asked = Path(str(written.data_root)), {"q": "primes", "top": 1}
    headers = {"Authorization": "Bearer s3cret"}
    assert opened.post("/api/posts", json=[POST], headers=headers).is_success
    models, away = root / "06_models", root / "away"
    models.rename(away)
    for path in ("/health", "/api/posts/zebra-1"):
        assert opened.get(path, params=asked).status_code == 503
    refused = opened.post("/api/posts", json=[POST], headers=headers)
    assert refused.status_code == 503
    assert "No index" in opened.get("/health").json()["problem"]
    away.rename(models)
    assert opened.get("/health").json()["status"] == "ok"
    assert opened.get("/api/search", params=asked).is_success
    gone = opened.request("DELETE", "/api/posts", json=["zebra-1"], headers=headers)
    assert gone.is_success


@pytest.mark.slow
def test_nothing_is_written_while_a_run_writes(
    written: ServeConfig, opened: TestClient
) -> None:
    headers = {"Authorization": "Bearer s3cret"}
    command = "from pathlib import Path; import sys;"
    command += "from mathamr_kedro.base.writers import WriterLock;"
    command += "lock = WriterLock(Path(sys.argv[1]), 'kedro run --env demo');"
    command += "print('locked', flush=True); sys.stdin.readline()"
    with subprocess.Popen(
        [sys.executable, "-c", command, str(written.data_root)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as run:  # fmt: skip
        assert run.stdout is not None
        assert run.stdout.readline() == "locked\n"
        refused = opened.post("/api/posts", json=[POST], headers=headers)
        run.communicate("\n")
    assert refused.status_code == 503
    assert refused.headers["Retry-After"]
    assert "kedro run --env demo" in refused.json()["detail"]
    assert opened.get("/api/posts/zebra-1").status_code == 404
