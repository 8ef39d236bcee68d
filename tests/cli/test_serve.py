"""``mathamr serve`` as a command: processes, logs, and how it ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from mathamr_kedro.cli import group, main
from tests.conftest import PATIENCE, PROJECT

pytest.importorskip("fastapi", reason="the extra serve is missing")
httpx = pytest.importorskip("httpx")

pytestmark = pytest.mark.timeout(2400)


def find_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_processes_share_an_index_and_end_in_order(
    demo: Path, tmp_path: Path, workers: int
) -> None:
    port, root, scratch = find_port(), tmp_path / "data", tmp_path / "scratch"
    scratch.mkdir()
    shutil.copytree(demo / "data", root, symlinks=True)
    command = [sys.executable, "-m", "mathamr_kedro", "serve", "--env", "demo"]
    command += ["--port", str(port), "--workers", str(workers), "--json-logs"]
    command += ["--seconds", str(PATIENCE), "--data-root", str(root)]
    log = tmp_path / "log"
    with log.open("w") as errors:
        server = subprocess.Popen(
            command, cwd=demo, stdout=errors, stderr=errors,
            env=os.environ | {"MATHAMR_TOKEN": "s3cret", "TMPDIR": str(scratch)},
        )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        _wait(address, server, log)
        found = _ask_each(address, "/api/search?q=infinitely+many+primes", workers, log)
        seen = found.keys()
        assert set(found.values()) == {200}
        # what is acknowledged is seen at once, whichever process is asked
        for method, sent, status in (
            ("POST", [{"id": "zebra", "text": "It has $n^2$ stripes."}], 200),
            ("DELETE", ["zebra"], 404),
        ):
            done = httpx.request(
                method, f"{address}/api/posts", json=sent, timeout=PATIENCE,
                headers={"Authorization": "Bearer s3cret"},
            )  # fmt: skip
            assert done.is_success
            found = _ask_each(address, "/api/posts/zebra", workers, log)
            assert set(found.values()) == {status}
        # each scrape has the counts of all processes
        searched = sum('"route": "/api/search"' in line for line in _read(log))
        for _ in range(5):
            text = httpx.get(f"{address}/metrics", timeout=PATIENCE).text
            (line,) = [
                line for line in text.splitlines()
                if line.startswith("mathamr_requests_total{")
                and 'route="/api/search"' in line
            ]  # fmt: skip
            assert float(line.split()[-1]) == searched >= workers
        evil = httpx.get(address, headers={"Host": "evil"}, timeout=PATIENCE)
        assert evil.status_code == 400
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(PATIENCE)
    assert server.returncode in (0, -signal.SIGTERM)
    assert not any(Path(f"/proc/{pid}").exists() for pid in seen)
    assert list(scratch.iterdir()) == []
    entries = [json.loads(line) for line in _read(log)]
    searches = [e for e in entries if e.get("route") == "/api/search"]
    assert searches[0]["status"] == 200
    assert "primes" not in log.read_text()  # what people ask stays with them


def _ask_each(address: str, path: str, workers: int, log: Path) -> dict[int, int]:
    """Return what each process answers first; a connection belongs to one of them."""
    found: dict[int, int] = {}
    end = time.monotonic() + PATIENCE
    while len(found) < workers:
        assert time.monotonic() < end, found
        answer = httpx.get(f"{address}{path}", timeout=PATIENCE)
        process = None
        while process is None:  # the line is written after the answer
            for entry in map(json.loads, _read(log)):
                if entry["request"] == answer.headers["X-Request-Id"]:
                    process = entry["process"]
        found.setdefault(process, answer.status_code)
    return found


def _read(log: Path) -> list[str]:
    """Return the lines about requests."""
    lines = log.read_text().splitlines()
    return [line for line in lines if line.startswith("{") and '"request"' in line]


def _wait(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE
    while True:
        assert server.poll() is None, log.read_text()
        assert time.monotonic() < end, log.read_text()
        try:
            httpx.get(f"{address}/health", timeout=PATIENCE)
            return
        except httpx.TransportError:
            time.sleep(0.1)


def test_without_an_index_it_says_what_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["mathamr", "serve", "--env", "demo", "--data-root", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", [*command, "--port", "0"])
    monkeypatch.setattr(sys, "stdout", sys.stdout)
    monkeypatch.setattr(sys, "stderr", sys.stderr)
    monkeypatch.chdir(PROJECT)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    told = f"run `kedro run --env demo --params data_root={tmp_path}` first"
    errors = capsys.readouterr().err
    assert f"No index to search; {told}" in errors
    assert "Traceback" not in errors


def test_a_port_in_use_is_said_before_anything_loads(monkeypatch) -> None:
    monkeypatch.chdir(PROJECT)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(group, ["serve", "--port", str(port)])
    told = str(result.exception)
    assert f"port {port}: Address already in use" in told
    assert f"--port {port + 1}" in told
    assert "Loading" not in result.output


@pytest.mark.parametrize(("command", "package"), [("serve", "fastapi"), ("mcp", "mcp")])
def test_a_missing_package_is_named(command, package, monkeypatch) -> None:
    module = f"mathamr_kedro.cli.{command}"
    __import__(module)
    monkeypatch.setattr(f"{module}.find_spec", lambda name: None)
    result = CliRunner().invoke(group, [command])
    assert f"mathamr-kedro[{command}]" in str(result.exception)
