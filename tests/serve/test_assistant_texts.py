"""What assistants read, and the limits of what they may ask."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the extra mcp is missing")
from mcp import Client

from mathamr_kedro.serve import create_assistant

pytestmark = pytest.mark.filterwarnings("ignore")  # of the package


def words(text: str) -> list[dict[str, Any]]:
    return [{"text": text}]


def result(rank: int, **fields: Any) -> dict[str, Any]:
    return {
        "rank": rank, "post_id": f"p{rank}", "score": 0.5, "type": "answer",
        "title": words("A title"), "sentences": [{"parts": words("One.")}], **fields,
    }  # fmt: skip


FORMULA = {"latex": "x^2", "key": "F0"}
POST = {
    "post_id": "7", "type": "answer", "title": words("Squares"), "question_id": "6",
    "tags": ["algebra", "squares"],
    "sentences": [
        {"new_paragraph": False, "parts": [*words("Let "), FORMULA, *words(" be.")]},
        {"new_paragraph": True, "parts": words("End.")},
    ],
}  # fmt: skip


def ask(service: Any, tool: str, **arguments: Any) -> str:
    """Return what is answered, or said of a wrong request."""

    async def call() -> str:
        async with Client(create_assistant(lambda: service)) as client:
            return (await client.call_tool(tool, arguments)).content[0].text

    return asyncio.run(call())


def test_results_are_two_lines_each():
    found = {"warnings": ["slow"], "results": [result(1), result(2, title=[])]}
    service = SimpleNamespace(search=lambda question, top: found)
    assert ask(service, "search_summary", question="q").splitlines() == [
        "note: slow",
        "1. p1  0.500  answer  A title",
        "   One.",
        "2. p2  0.500  answer  (no title)",
        "   One.",
    ]
    nothing = SimpleNamespace(search=lambda *_: {"warnings": [], "results": []})
    assert ask(nothing, "search_summary", question="q") == "Nothing was found."


@pytest.mark.parametrize(
    ("sentences", "shown"),
    [
        (["a", "b", "c"], "a … b"),
        (["x" * 240], "x" * 240),
        (["x" * 241], "x" * 239 + "…"),
    ],
)
def test_a_result_shows_two_sentences_and_no_more_than_a_line(sentences, shown):
    parts = [{"parts": words(text)} for text in sentences]
    found = {"warnings": [], "results": [result(1, sentences=parts)]}
    service = SimpleNamespace(search_formula=lambda latex, top: found)
    text = ask(service, "search_formula", latex="x")
    assert text.splitlines()[1] == f"   {shown}"


def test_five_posts_are_asked_for_unless_said():
    tops = []

    def search(question, top):
        tops.append(top)
        return {"warnings": [], "results": []}

    service = SimpleNamespace(search=search, search_formula=search)
    for tool, name in (("search_summary", "question"), ("search_formula", "latex")):
        ask(service, tool, **{name: "x"})
        ask(service, tool, **{name: "x"}, top=50)
    assert tops == [5, 50, 5, 50]


def test_a_post_is_shown_with_what_it_belongs_to():
    service = SimpleNamespace(read_post=lambda post_id: POST)
    assert ask(service, "get_post", post_id="7") == (
        "answer 7: Squares\nanswers question 6\ntags: algebra, squares\n\n"
        "Let $x^2$ [F0] be. \n\nEnd."
    )
    bare = POST | {"question_id": None, "tags": []}
    service = SimpleNamespace(read_post=lambda post_id: bare)
    assert ask(service, "get_post", post_id="7", start=4, length=5) == (
        "answer 7: Squares\n\n$x^2$\n(16 more characters from start=9)"
    )
    assert ask(service, "get_post", post_id="7", start=19).endswith("\n\nEnd.")


def test_a_formula_is_shown_in_its_sentence():
    service = SimpleNamespace(read_post=lambda post_id: POST)
    asked = {"post_id": "7", "formula": "F0"}
    short = ask(service, "get_formula", **asked)
    assert short == "$x^2$\nin: Let $x^2$ be."
    drawn = ask(service, "get_formula", **asked, trees=True)
    assert drawn.startswith(short + "\n\n")
    assert drawn.count("\n\n") == 2  # two trees
    missing = ask(service, "get_formula", post_id="7", formula="F1")
    assert "Post '7' has no formula 'F1'" in missing


def test_the_nearest_parts_are_named_first():
    found = {
        "score": 0.25,
        "rows": [{"key": "F0", "parts": [FORMULA]}, {"key": "", "parts": words("a")}],
        "columns": [{"key": "S0", "parts": words("b")}, {"key": "D", "parts": []}],
        "best": [1, 0],
        "similarity": [[0.1, 0.2], [0.7, 0.3]],
    }
    service = SimpleNamespace(explain=lambda question, post_id: found)
    asked = {"question": "q", "post_id": "7"}
    first = "0.250, the mean over 2 parts of the question\n0.700  a  ~  S0 b"
    assert ask(service, "explain", **asked) == first + "\n0.200  F0 $x^2$  ~  D"
    assert ask(service, "explain", **asked, top=1) == first


@pytest.mark.parametrize(
    ("tool", "name", "refused"),
    [
        ("search_summary", "question", ["", "x" * 4001]),
        ("search_summary", "top", [0, 51]),
        ("search_formula", "latex", ["", "x" * 2001]),
        ("get_post", "post_id", ["", "x" * 1001]),
        ("get_post", "start", [-1]),
        ("get_post", "length", [0, 50_001]),
        ("get_formula", "formula", ["F", "F12345", "S0"]),
        ("explain", "question", ["", "x" * 4001]),
    ],
)
def test_what_is_beyond_the_limits_never_reaches_the_service(tool, name, refused):
    def fail(*_):
        raise AssertionError("asked")

    service = SimpleNamespace(
        search=fail, search_formula=fail, read_post=fail, explain=fail
    )
    asked = {
        "search_summary": {"question": "x"},
        "search_formula": {"latex": "x"},
        "get_post": {"post_id": "7"},
        "get_formula": {"post_id": "7", "formula": "F0"},
        "explain": {"question": "x", "post_id": "7"},
    }[tool]
    for value in refused:
        answer = ask(service, tool, **asked | {name: value})
        assert name in answer and "asked" not in answer


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search_summary", {"question": "x" * 4000, "top": 50}),
        ("search_summary", {"question": "x", "top": 1}),
        ("search_formula", {"latex": "x" * 2000}),
        ("get_post", {"post_id": "x" * 1000, "start": 0, "length": 50_000}),
        ("get_post", {"post_id": "x", "length": 1}),
        ("get_formula", {"post_id": "x", "formula": "F0"}),
        ("explain", {"question": "x", "post_id": "7", "top": 1}),
    ],
)
def test_what_is_at_the_limits_reaches_the_service(tool, arguments):
    reached = []

    def answer(*given):
        reached.append(given)
        raise KeyError("enough")

    service = SimpleNamespace(
        search=answer, search_formula=answer, read_post=answer, explain=answer
    )
    ask(service, tool, **arguments)
    assert reached
