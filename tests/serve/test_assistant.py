"""The tool for assistants, asked by the package's own client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is missing")
from mcp import Client, StdioServerParameters

from mathamr_kedro.serve import create_assistant
from tests.conftest import PATIENCE

pytestmark = [
    pytest.mark.timeout(2400),
    pytest.mark.filterwarnings("ignore"),  # the package's own
]

TOOLS = {"search_summary", "search_formula", "get_post", "get_formula", "explain"}


def call(service: Any, tool: str, **arguments: Any) -> tuple[bool, str]:
    """Return whether a call failed, and what was answered."""

    async def ask() -> tuple[bool, str]:
        async with Client(create_assistant(lambda: service)) as client:
            result = await client.call_tool(tool, arguments)
            return bool(result.is_error), result.content[0].text

    return asyncio.run(ask())


@pytest.mark.slow
def test_a_process_answers_over_standard_input(demo: Path) -> None:
    command = ["-m", "mathamr_kedro", "mcp", "--env", "demo"]
    process = StdioServerParameters(
        command=sys.executable, args=command, cwd=demo, env={**os.environ}
    )

    async def ask() -> tuple[set[str], str]:
        async with Client(process, read_timeout_seconds=PATIENCE) as client:
            listed = await client.list_tools()
            # Texts are all there is to read: no second copy of them as JSON.
            assert not any(tool.output_schema for tool in listed.tools)
            asked = {"question": "infinitely many primes", "top": 2}
            result = await client.call_tool("search_summary", asked)
            return {tool.name for tool in listed.tools}, result.content[0].text

    names, text = asyncio.run(ask())
    assert names == TOOLS
    assert text.startswith("1. ")
    assert "prime" in text


@pytest.mark.slow
def test_half_a_surrogate_pair_is_answered(demo: Path) -> None:
    start = {"protocolVersion": "2025-03-26", "capabilities": {},
             "clientInfo": {"name": "test", "version": "1"}}  # fmt: skip
    asked = {"name": "no_such_tool", "arguments": {"question": "a \ud800 b"}}
    messages = [
        {"id": 1, "method": "initialize", "params": start},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": asked},
    ]
    command = [sys.executable, "-m", "mathamr_kedro", "mcp", "--env", "demo"]
    with subprocess.Popen(
        command, cwd=demo, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        answered = []
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()
            if "id" in message:
                answered.append(json.loads(process.stdout.readline())["id"])
        process.stdin.close()
    assert answered == [1, 2]


def test_summaries_are_short(service: Any) -> None:
    question = r"is $\sqrt p$ irrational for a prime $p$?"
    failed, text = call(service, "search_summary", question=question, top=5)
    assert not failed
    assert len(text.splitlines()) == 10
    assert max(map(len, text.splitlines())) < 400
    assert r"$\sqrt p$" in text


def test_posts_are_read_piece_by_piece(service: Any) -> None:
    _, whole = call(service, "get_post", post_id="33701")
    assert whole.startswith("question 33701: Prove that")
    assert r"$\sqrt 2$ [F2]" in whole
    _, start = call(service, "get_post", post_id="33701", length=50)
    assert "more characters from start=50" in start


def test_formulas_come_with_their_trees(service: Any) -> None:
    asked = {"post_id": "33701", "formula": "F2"}
    _, short = call(service, "get_formula", **asked)
    _, drawn = call(service, "get_formula", **asked, trees=True)
    assert short.startswith("$\\sqrt 2$\nin: The usual proof")
    assert "O!root" in drawn


def test_a_formula_finds_posts(service: Any) -> None:
    _, text = call(service, "search_formula", latex=r"\sum_{i=1}^n d_i", top=1)
    assert "$\\sum_{i=1}^{n} d_i" in text


def test_reasons(service: Any) -> None:
    asked = {"question": r"is $\sqrt p$ rational", "post_id": "33703"}
    _, text = call(service, "explain", **asked)
    assert r"F0 $\sqrt p$  ~  F" in text


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_post", {"post_id": "nothing"}),
        ("get_formula", {"post_id": "33701", "formula": "F99"}),
        ("search_summary", {"question": "..."}),
        ("search_summary", {"question": "x", "top": 51}),
        ("search_summary", {"question": "x" * 4001}),
        ("search_formula", {"latex": "x" * 2001}),
        ("get_post", {"post_id": "33701", "start": -1}),
        ("get_post", {"post_id": "33701", "length": 50_001}),
        ("get_formula", {"post_id": "33701", "formula": "S0"}),
    ],
)
def test_errors_are_one_line_of_advice(service: Any, tool: str, arguments: Any) -> None:
    failed, text = call(service, tool, **arguments)
    assert failed
    assert "Traceback" not in text
