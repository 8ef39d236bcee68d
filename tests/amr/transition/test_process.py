import json

import pytest

from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.transition.process import (
    _format_request,
    _is_answer,
    _read_message,
)


def test_a_request_is_one_line_whatever_the_text():
    chunk = Chunk(("a\nb\u2028c", "\ud800"))
    line = _format_request(3, [chunk])
    assert line.count("\n") == 1
    assert line.isascii()
    assert json.loads(line) == {"id": 3, "chunks": [["a\nb\u2028c", "\ud800"]]}


@pytest.mark.parametrize(
    "line",
    [
        "",
        "Downloading: 17 %",
        "[1, 2]",
        "null",
        '{"type": "greeting"}',
        '{"type": "result", "id": "7", "answers": []}',
        '{"type": "result", "id": 7}',
        '{"type": "error", "id": 7, "kind": "exception"}',
        "[" * 100_000,
    ],
)
def test_garbage_is_no_message(line):
    assert _read_message(line) is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"graphs": ["(a / b)"]}, True),
        ({"graphs": []}, False),
        ({"graphs": [None]}, False),
        ({"error": "no words", "reason": "empty_text"}, True),
        ({"error": "no words", "reason": "bad mood"}, False),
        ("(a / b)", False),
    ],
)
def test_answers_have_the_agreed_form(answer, expected):
    assert _is_answer(answer) is expected
