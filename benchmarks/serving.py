"""How the search server holds: ``python -m benchmarks.serving --env demo``.

Starts ``mathamr serve`` and measures, over the loopback interface:

    start       from the command to the first answer of a search
    latency     warm queries one after the other, as the page asks them
    clients     many at once: answers a second, times of answers, of refusals and of
                /health, errors, and the memory of the server over time
    noise       requests made of noise: answers of 500 and above, and hangs
    weight      bytes of the page with everything it loads

``--parts`` chooses among them; ``--seconds``, ``--clients``, ``--requests`` set sizes;
``--seed`` draws other noise.
Where schemathesis is installed, it sends a part of the noise.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import httpx

PARTS = ("start", "latency", "clients", "noise", "weight")
QUESTIONS = (
    r"is $\sqrt p$ irrational for a prime $p$?",
    r"how do I show that $\sum_{k=1}^\infty \frac{1}{k^2}$ converges?",
    r"when does $x^2 \equiv -1 \pmod p$ have a solution?",
    r"why are there infinitely many primes?",
    r"prove $n! > 2^n$ by induction for $n \geq 4$",
    r"limit of $\left(1+\frac1n\right)^n$ as $n \to \infty$",
    r"the number of edges of a tree with $n$ vertices is $n-1$",
    r"is every continuous function on $[0,1]$ bounded?",
)
ALPHABET = (
    *"abcxyz0123 $$$\\{}^_&<>\"'/=()[]|~#%\n\t\x00\u202e\U0001d54f√∑é",
    "\\frac", "\\sqrt", "\\begin{pmatrix}", "\\left(", "\\text{", "\\def\\x{\\x\\x}",
    "\\href{javascript:x}", "<script>", "FORMULA_0", " prime ", "\ud800",
)  # fmt: skip


class Server:
    """A server of our own, and what it says about itself."""

    def __init__(self, address: str, process: int) -> None:
        self.address, self.process = address, process

    def read_memory(self) -> int:
        """Return the resident bytes of the process and its children."""
        pids, total = [self.process], 0
        while pids:
            pid = pids.pop()
            try:
                with open(f"/proc/{pid}/statm", encoding="ascii") as file:
                    total += int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
                with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                    pids += map(int, file.read().split())
            except OSError:
                continue
        return total


@contextmanager
def run_server(options: Sequence[str]) -> Iterator[tuple[Server, float]]:
    """Start a server; also give the seconds until it answered a search."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mathamr_kedro", "serve", "--port", str(port)]
    address = f"http://127.0.0.1:{port}"
    started = time.perf_counter()
    with subprocess.Popen([*command, *options], stderr=subprocess.DEVNULL) as process:
        try:
            while True:
                try:
                    asked = {"q": QUESTIONS[0]}
                    httpx.get(f"{address}/api/search", params=asked, timeout=60)
                    break
                except httpx.TransportError:
                    assert process.poll() is None, "the server ended"
                    time.sleep(0.02)
            yield Server(address, process.pid), time.perf_counter() - started
        finally:
            process.terminate()


def measure_latency(server: Server, count: int) -> dict[str, float]:
    """Ask one question after the other, as a person does, when all is loaded."""
    times = []
    with httpx.Client(timeout=120) as client:
        # Answered when the server has read what searches for formulas need.
        client.get(f"{server.address}/api/formula", params={"latex": "x"})
        for number in range(count + 5):
            asked = {"q": QUESTIONS[number % len(QUESTIONS)]}
            started = time.perf_counter()
            client.get(f"{server.address}/api/search", params=asked).raise_for_status()
            times.append(1000 * (time.perf_counter() - started))
    cuts = statistics.quantiles(times[5:], n=100)
    return {"median_ms": cuts[49], "p95_ms": cuts[94], "p99_ms": cuts[98]}


async def load_clients(server: Server, clients: int, seconds: float) -> dict[str, Any]:
    """Let many clients ask at once; one that is refused waits as it was told to."""
    found: Counter[str] = Counter()
    times: dict[str, list[float]] = {"answered": [], "refused": [], "health": []}
    memory: list[int] = []
    end = time.monotonic() + seconds

    async def ask(number: int, client: httpx.AsyncClient) -> None:
        while time.monotonic() < end:
            asked = {"q": QUESTIONS[(number + sum(found.values())) % len(QUESTIONS)]}
            try:
                url = f"{server.address}/api/search"
                started = time.perf_counter()
                answer = await client.get(url, params=asked)
                kind = "answered" if answer.is_success else "refused"
                times[kind].append(1000 * (time.perf_counter() - started))
                found[str(answer.status_code)] += 1
                await asyncio.sleep(float(answer.headers.get("Retry-After", 0)))
            except httpx.HTTPError as exc:
                found[type(exc).__name__] += 1

    async def watch(client: httpx.AsyncClient) -> None:
        while time.monotonic() < end:
            memory.append(server.read_memory())
            started = time.perf_counter()
            await client.get(f"{server.address}/health")
            times["health"].append(1000 * (time.perf_counter() - started))
            await asyncio.sleep(max(0.2, seconds / 60))

    limits = httpx.Limits(max_connections=clients + 1)
    async with httpx.AsyncClient(timeout=60, limits=limits) as client:
        await asyncio.gather(watch(client), *(ask(n, client) for n in range(clients)))
    warm = memory[len(memory) // 4 :]
    return {
        "answers": dict(found),
        "answered_per_second": len(times["answered"]) / seconds,
        "milliseconds": {
            kind: dict(zip(("p50", "p95"), _cut(found), strict=True))
            for kind, found in times.items()
        },
        "memory_mb": [round(m / 1e6) for m in memory[:: max(1, len(memory) // 12)]],
        "memory_growth": warm[-1] / warm[0] - 1,
    }


def _cut(times: Sequence[float]) -> tuple[float, float]:
    """Return median and 95th percentile."""
    if len(times) < 2:
        return (*times, *times)[:2] if times else (0.0, 0.0)  # type: ignore[return-value]
    cuts = statistics.quantiles(times, n=100)
    return round(cuts[49], 1), round(cuts[94], 1)


def make_noise(rng: random.Random) -> tuple[str, str, dict[str, Any]]:
    """Return method, path and arguments of a request that no person sends."""

    def text(most: int) -> str:
        made = "".join(rng.choices(ALPHABET, k=rng.randrange(most)))
        return made.encode("utf-8", "replace").decode()

    path = rng.choice(
        ("/api/search", "/api/formula", "/api/explain", "/api/render", "/api/trees",
         "/api/systems", "/health", f"/api/posts/{text(8)}", f"/{text(6)}", "/metrics")
    )  # fmt: skip
    names = ("q", "latex", "top", "post_id", "type", "tag", "year", "system", "graphs")
    known = ("33703", "33701", "bm25", "answer", "-1", "1e9", "true", "2013", "")
    params = {}
    for name in rng.sample(names, rng.randrange(1, 6)):
        params[name] = text(60) if rng.random() < 0.6 else rng.choice(known)
    if rng.random() < 0.02:
        params["q"] = "$" + text(3000) + "$"
    method = rng.choices(("GET", "POST", "DELETE", "PUT", "HEAD"), (20, 2, 2, 1, 1))[0]
    more: dict[str, Any] = {"params": params}
    if method in ("POST", "DELETE"):
        more["content"] = text(200).encode("utf-8", "replace")
        more["headers"] = {"Authorization": rng.choice(("", "Bearer x"))}
    return method, path, more


async def send_noise(
    server: Server, seeds: Iterable[int], limit: float
) -> dict[str, Any]:
    """Send noise from eight clients, one request a seed; count what must not happen."""
    statuses: Counter[int] = Counter()
    slowest, broken, failed = 0.0, 0, []
    numbers = iter(seeds)

    async def ask(client: httpx.AsyncClient) -> None:
        nonlocal slowest, broken
        for number in numbers:
            method, path, more = make_noise(random.Random(number))
            started = time.perf_counter()
            try:
                answer = await client.request(method, server.address + path, **more)
            except httpx.InvalidURL:
                continue  # the client itself refuses
            except httpx.HTTPError:
                broken += 1
                continue
            slowest = max(slowest, time.perf_counter() - started)
            statuses[answer.status_code] += 1
            if answer.status_code >= 500:
                failed.append(number)

    async with httpx.AsyncClient(timeout=limit + 10) as client:
        await asyncio.gather(*(ask(client) for _ in range(8)))
    return {
        "statuses": dict(sorted(statuses.items())),
        "5xx": len(failed),
        "seeds_of_5xx": failed[:5],
        "broken_connections": broken,
        "slowest_s": slowest,
    }


def run_schemathesis(server: Server) -> dict[str, Any]:
    """Let schemathesis try what the API says it takes; 0 is its status of success."""
    if find_spec("schemathesis") is None:
        return {"status": None, "said": "not installed"}
    command = [sys.executable, "-m", "schemathesis.cli", "run", "--checks"]
    command += ["not_a_server_error", f"{server.address}/openapi.json"]
    with tempfile.TemporaryDirectory() as folder:  # it leaves files where it runs
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False
        )
    said = (done.stdout.strip() or done.stderr).splitlines()[-12:]
    return {"status": done.returncode, "said": said}


def weigh_page(server: Server) -> dict[str, int]:
    """Return the bytes of the page and of what it names, and the search it makes."""
    sizes = {"/": httpx.get(server.address).content}
    waiting = ["/"]
    while waiting:
        text = sizes[waiting.pop()].decode("utf-8", "replace")
        for path in re.findall(r'"(/static/[\w.]+)"', text):
            if path not in sizes:
                sizes[path] = httpx.get(server.address + path).content
                waiting.append(path)
    asked = {"q": QUESTIONS[0]}
    sizes["search"] = httpx.get(f"{server.address}/api/search", params=asked).content
    found = {path: len(content) for path, content in sizes.items()}
    return {**found, "total": sum(found.values())}


def main() -> None:
    """Measure and print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--env", default="demo")
    parser.add_argument("--data-root")
    parser.add_argument("--workers", default="1")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 10, 50])
    parser.add_argument("--seconds", type=float, default=120, help="each of clients")
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0, help="of the first request")
    given = parser.parse_args()
    options = ["--env", given.env, "--workers", given.workers]
    options += ["--data-root", given.data_root] if given.data_root else []
    report: dict[str, Any] = {}
    with run_server(options) as (server, seconds):
        if "start" in given.parts:
            report["start_to_first_answer_s"] = seconds
        if "weight" in given.parts:
            report["page_bytes"] = weigh_page(server)
        if "latency" in given.parts:
            report["latency"] = measure_latency(server, given.queries)
        if "clients" in given.parts:
            report["clients"] = {
                clients: asyncio.run(load_clients(server, clients, given.seconds))
                for clients in given.clients
            }
        if "noise" in given.parts:
            seeds = range(given.seed, given.seed + given.requests)
            report["noise"] = asyncio.run(send_noise(server, seeds, 30))
            report["schemathesis"] = run_schemathesis(server)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
