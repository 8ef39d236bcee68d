import io
import json
import queue
import sys
from collections import deque
from types import SimpleNamespace

import pytest

from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.transition.process import (
    WorkerProcess,
    _format_request,
    _is_answer,
    _read_message,
)
from mathamr_kedro.base.errors import ConfigurationError, WorkerError
from tests.conftest import PATIENCE


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
        ({"error": None, "reason": "empty_text"}, False),
        ({"graphs": "(a / b)"}, False),
        ("(a / b)", False),
    ],
)
def test_answers_have_the_agreed_form(answer, expected):
    assert _is_answer(answer) is expected


class ThreadAtOnce:
    """A thread that has done its work when its start returns: nothing is waited for."""

    def __init__(self, target, args=(), daemon=False):
        assert daemon  # or else a stuck worker would keep the program from ending
        self._target, self._args = target, args

    def start(self):
        self._target(*self._args)

    def join(self, timeout):
        self.is_joined = True


@pytest.fixture
def start(monkeypatch):
    """Return a function that starts a worker which says some lines and ends."""
    monkeypatch.setattr("threading.Thread", ThreadAtOnce)

    def start(*lines, errors=(), code=0, **seconds):
        said = "".join(f"{line}\n" for line in lines)
        complaint = "".join(f"{line}\n" for line in errors)
        script = (
            f"import sys; sys.stdout.write({said!r}); sys.stderr.write({complaint!r}); "
            f"sys.exit({code})"
        )
        command = [sys.executable, "-I", "-S", "-c", script]
        limits = {"start_s": 0.0, "request_s": 0.0, "silence_s": 0.0, **seconds}
        return WorkerProcess(command, {}, **limits)

    return start


READY = '{"type": "ready", "protocol": 1}'


def test_what_a_worker_says_is_read(start):
    worker = start("Downloading ...", '{"type": "heartbeat"}', READY)
    with pytest.raises(WorkerError, match=r"ended \(code 0\).*: Downloading \.\.\.$"):
        worker.ask([Chunk(("a",))])
    worker.stop()


def test_a_worker_that_ends_before_it_is_ready_says_why(start):
    with pytest.raises(WorkerError, match=r"\(code 3\); its last lines: no \| disk$"):
        start(errors=["no", "", "disk"], code=3)


@pytest.mark.parametrize(
    ("kind", "error"),
    [("out_of_memory", WorkerError), ("exception", ConfigurationError)],
)
def test_only_a_lack_of_memory_may_be_tried_again(start, kind, error):
    line = json.dumps({"type": "fatal", "kind": kind, "message": "no way"})
    with pytest.raises(error, match="start: no way"):
        start(line)


def test_a_worker_of_another_protocol_is_refused(start):
    with pytest.raises(ConfigurationError, match=r"protocol 1 \(got 2\)"):
        start('{"type": "ready", "protocol": 2}')


@pytest.mark.parametrize(
    ("seconds", "message"),
    [(0.0, "no answer within 0 s$"), (PATIENCE, "no sign of life for 0 s$")],
)
def test_a_worker_that_says_nothing_has_hung(start, seconds, message):
    worker = start(READY, request_s=seconds)
    worker._lines.get()  # its end: from now on it is silent
    with pytest.raises(TimeoutError, match=message):
        worker.ask([Chunk(("a",))])
    worker.stop()


def test_the_last_eight_lines_of_a_log_are_shown(start):
    with pytest.raises(WorkerError, match=r"lines: line 2 \| .* \| line 9$") as caught:
        start(errors=[f"line {n}" for n in range(10)])
    assert str(caught.value).count("|") == 7


def test_long_lines_are_shown_up_to_their_limit(start):
    with pytest.raises(WorkerError, match=r"lines: e{300} \| o{300}$"):
        start("o" * 301, errors=["e" * 301])


def test_a_worker_that_was_stopped_is_gone_with_its_pipes(start):
    worker = start(READY)
    worker.stop()
    process = worker._process
    assert process.returncode is not None
    assert process.stdin.closed and process.stdout.closed and process.stderr.closed
    assert worker.pid == process.pid
    assert all(thread.is_joined for thread in worker._threads)


def test_a_worker_is_killed_before_its_end_is_waited_for(start):
    worker, calls = start(READY), []
    worker.stop()
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"))
    worker._process = SimpleNamespace(
        kill=lambda: calls.append("kill"), wait=lambda: calls.append("wait"), **pipes
    )
    worker.stop()
    assert calls == ["kill", "wait"]


class Silence(deque):
    """A queue that notes how long one waits for its lines, without waiting."""

    put = deque.append

    def get(self, timeout):
        self.timeout = timeout
        if not self:
            raise queue.Empty
        return self.popleft()


@pytest.mark.parametrize(
    ("request_s", "silence_s", "clock", "timeout", "message"),
    [
        (2.0, 3.0, (0.0, 0.0, 2.0), 2.0, "no answer within 2 s"),
        (3.0, 2.0, (0.0, 0.0, 2.0), 2.0, "no sign of life for 2 s"),
        (3.0, 2.0, (0.0, 5.0, 5.0), 0.0, "no answer within 3 s"),
    ],
)
def test_an_answer_is_waited_for_until_it_is_late(
    start, monkeypatch, request_s, silence_s, clock, timeout, message
):
    monkeypatch.setattr("queue.SimpleQueue", Silence)
    worker = start(READY, request_s=request_s, silence_s=silence_s)
    worker._lines.clear()
    monkeypatch.setattr("time.monotonic", iter(clock).__next__)
    with pytest.raises(TimeoutError, match=message):
        worker.ask([Chunk(("a",))])
    assert worker._lines.timeout == timeout
    worker.stop()


def test_a_start_is_waited_for_as_long_as_it_may_take(start, monkeypatch):
    monkeypatch.setattr("queue.SimpleQueue", Silence)
    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    worker = start(READY, start_s=5.0)
    assert worker._lines.timeout == 5.0
    worker.stop()


def test_a_worker_that_is_refused_is_stopped(start, monkeypatch):
    stopped = []
    stop = WorkerProcess.stop
    monkeypatch.setattr(
        WorkerProcess, "stop", lambda self: stopped.append(self.pid) or stop(self)
    )
    with pytest.raises(ConfigurationError):
        start('{"type": "ready", "protocol": 2}')
    assert len(stopped) == 1


def test_a_program_that_is_not_there_says_what_to_set():
    with pytest.raises(ConfigurationError, match=r"'/no/python'.*transition\.python"):
        WorkerProcess(["/no/python"], {}, start_s=0.0, request_s=0.0, silence_s=0.0)


def answer(number, **fields):
    return json.dumps({"type": "result", "id": number, **fields})


def test_answers_belong_to_their_request(start):
    late, mine = ([{"graphs": [graph]}] for graph in ("(a / late)", "(b / mine)"))
    beat = '{"type": "heartbeat", "id": 1, "last": 0}'
    worker = start(READY, answer(0, answers=late), beat, answer(1, answers=mine))
    assert worker.ask([Chunk(("a",))]) == mine
    with pytest.raises(WorkerError, match="ended"):
        worker.ask([Chunk(("a",))])  # number 2 is not answered
    worker.stop()


class Pipe(io.StringIO):
    """A pipe that notes what has left it."""

    sent = ""

    def flush(self):
        self.sent = self.getvalue()


def test_requests_are_sent_with_their_number(start):
    answers = [{"graphs": ["(a / b)"]}]
    worker = start(READY, answer(1, answers=answers), answer(2, answers=answers))
    worker._process.stdin.close()
    worker._process.stdin = pipe = Pipe()
    chunks = [[Chunk(("a",))], [Chunk(("b",))]]
    for chunk in chunks:
        worker.ask(chunk)
    requests = [_format_request(n, c) for n, c in enumerate(chunks, start=1)]
    assert pipe.sent == "".join(requests)
    worker.stop()


@pytest.mark.parametrize(
    ("line", "error", "message"),
    [
        (answer(1, answers=[]), WorkerError, "Expected 1 answers .*got 0"),
        (answer(1, answers=["(a / b)"]), WorkerError, "Expected 1 answers .*got 1"),
        ('{"type": "heartbeat", "last": 1}', WorkerError, "unreadable"),
        ('{"type": "error", "id": 1, "kind": "out_of_memory", "message": "full"}',
         MemoryError, "full"),
        ('{"type": "error", "id": 1, "kind": "exception", "message": "odd"}',
         RuntimeError, "odd"),
    ],
)  # fmt: skip
def test_what_is_no_answer_is_an_error(start, line, error, message):
    worker = start(READY, line)
    with pytest.raises(error, match=message):
        worker.ask([Chunk(("a",))])
    worker.stop()
