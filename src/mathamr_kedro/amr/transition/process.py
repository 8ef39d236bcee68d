r"""One worker process at the other end of pipes: started, watched, ended.

Parser and worker say to each other one JSON object per line:

```
parser                                worker
                                  <-  {"type": "ready", "protocol": 1, ...}
{"id": 7, "chunks": [             ->
   ["Let FORMULA_0 be even.",
    "Prove it."], ...]}
                                  <-  {"type": "heartbeat", "id": 7, "last": 6}
                                  <-  {"type": "result", "id": 7, "answers": [
                                         {"graphs": ["(d / document ...)"]},
                                         {"error": "no words", "reason": "empty_text"}]}
```

- A chunk is a list of sentences; its answer holds one plain PENMAN graph (a document),
  or one per sentence, or an error with one of the reasons of
  :data:`mathamr_kedro.amr.graphs.REASONS`.
- ``{"type": "error", "id": 7, "kind": "out_of_memory" | "exception", "message": ...}``
  in place of a result: the batch as a whole failed, the worker lives.
- ``{"type": "fatal", "kind": ..., "message": ...}`` in place of ``ready``: it cannot
  start, and ends.
- Heartbeats come every few seconds; ``id`` is the request under
  way, ``last`` the last one answered.
- The end of the worker's standard input ends it at once. Its standard error is a log.

Lines that are none of these are kept for the log and otherwise ignored.
"""

from __future__ import annotations

import contextlib
import json
import logging
import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import IO, Any

from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.graphs import REASONS
from mathamr_kedro.base.errors import ConfigurationError, WorkerError

logger = logging.getLogger(__name__)

_LOG_LINES = 100
_SHOWN_LINES = 8
_LINE_LENGTH = 300

_PROTOCOL = 1
_FIELDS: dict[str, dict[str, type | tuple[type, ...]]] = {
    "ready": {"protocol": int},
    "heartbeat": {},
    "result": {"id": int, "answers": list},
    "error": {"id": int, "kind": str, "message": str},
    "fatal": {"kind": str, "message": str},
}


class WorkerProcess:
    """A running worker; made by starting it.

    Args:
        command: its command line.
        environment: its environment variables.
        start_s: seconds until it is ready: imports, weights, a first download.
        request_s: seconds for one batch.
        silence_s: seconds without any line; a heartbeat is one.

    Raises:
        ConfigurationError: it says that it can never start, or is no worker of ours.
        WorkerError: it died before it was ready.
        TimeoutError: it was not ready in time.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        start_s: float,
        request_s: float,
        silence_s: float,
    ) -> None:
        self._start_s = start_s
        self._request_s = request_s
        self._silence_s = silence_s
        self._requests = 0
        self._log: deque[str] = deque(maxlen=_LOG_LINES)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        try:
            self._process = subprocess.Popen(
                command,
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            )
        except OSError as exc:
            raise ConfigurationError(
                f"Cannot start the worker {list(command)[:2]!r} ({exc}); set "
                "'amr_parsing.transition.python' to the Python of its environment"
            ) from exc
        self._threads = [
            threading.Thread(target=target, args=(pipe,), daemon=True)
            for target, pipe in (
                (self._read_lines, self._process.stdout),
                (self._read_log, self._process.stderr),
            )
        ]
        for thread in self._threads:
            thread.start()
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    def ask(self, chunks: Sequence[Chunk]) -> list[dict[str, Any]]:
        """Return one answer per chunk.

        Raises:
            WorkerError: the worker died, or its answer cannot be used.
            TimeoutError: it took too long, or gave no sign of life.
            MemoryError: the batch is too large for it.
            RuntimeError: it failed on the batch as a whole.
        """
        self._requests += 1
        number = self._requests
        self._send(_format_request(number, chunks))
        deadline = time.monotonic() + self._request_s
        while True:
            message = self._next_message(deadline, self._request_s, self._silence_s)
            if message["type"] == "heartbeat" and message.get("last") == number:
                raise WorkerError(f"The answer was unreadable{self._show_log()}")
            if message.get("id") != number:
                continue
            if message["type"] == "error":
                is_memory = message["kind"] == "out_of_memory"
                raise (MemoryError if is_memory else RuntimeError)(message["message"])
            if message["type"] == "result":
                return self._check_answers(message["answers"], len(chunks))

    def stop(self) -> None:
        """End the worker at once."""
        self._process.kill()
        self._process.wait()
        for thread in self._threads:
            thread.join(timeout=10)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + self._start_s
        while True:
            # While it loads, imports may keep its heart from beating for long.
            limit = self._start_s
            message = self._next_message(deadline, limit, limit)
            if message["type"] == "ready":
                break
            if message["type"] == "fatal":
                text = f"{message['message']}{self._show_log()}"
                if message["kind"] == "out_of_memory":
                    raise WorkerError(f"The worker did not start: {text}")
                raise ConfigurationError(f"The worker cannot start: {text}")
        if message["protocol"] != _PROTOCOL:
            raise ConfigurationError(
                f"Expected a worker that speaks protocol {_PROTOCOL} "
                f"(got {message['protocol']!r})"
            )
        logger.info("transition worker is ready: %s", message.get("versions", {}))

    def _next_message(
        self, deadline: float, limit: float, silence: float
    ) -> dict[str, Any]:
        """Return the next line that means something."""
        while True:
            seconds = min(deadline - time.monotonic(), silence)
            try:
                line = self._lines.get(timeout=max(seconds, 0.0))
            except queue.Empty:
                late = time.monotonic() >= deadline
                what = (
                    f"no answer within {limit:g} s"
                    if late
                    else f"no sign of life for {silence:g} s"
                )
                raise TimeoutError(f"{what}{self._show_log()}") from None
            if line is None:
                code = self._process.wait()
                raise WorkerError(f"The worker ended (code {code}){self._show_log()}")
            message = _read_message(line)
            if message is not None:
                return message
            self._log.append(line.strip()[:_LINE_LENGTH])

    def _check_answers(self, answers: list[Any], count: int) -> list[dict[str, Any]]:
        if len(answers) != count or not all(map(_is_answer, answers)):
            raise WorkerError(
                f"Expected {count} answers of the agreed form (got {len(answers)}: "
                f"{str(answers)[:120]!r})"
            )
        return answers

    def _send(self, line: str) -> None:
        """Write in the background: a stuck worker does not read."""
        pipe = self._process.stdin

        def write() -> None:
            with contextlib.suppress(OSError, ValueError):
                if pipe is not None:
                    pipe.write(line)
                    pipe.flush()

        threading.Thread(target=write, daemon=True).start()

    def _read_lines(self, pipe: IO[str]) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in pipe:
                self._lines.put(line)
        self._lines.put(None)

    def _read_log(self, pipe: IO[str]) -> None:
        with contextlib.suppress(OSError, ValueError):
            for line in pipe:
                if line.strip():
                    self._log.append(line.strip()[:_LINE_LENGTH])

    def _show_log(self) -> str:
        lines = list(self._log)[-_SHOWN_LINES:]
        return f"; its last lines: {' | '.join(lines)}" if lines else ""


def _format_request(number: int, chunks: Sequence[Chunk]) -> str:
    """Return the line that asks for a batch."""
    request = {"id": number, "chunks": [list(chunk.sentences) for chunk in chunks]}
    return json.dumps(request) + "\n"


def _read_message(line: str) -> dict[str, Any] | None:
    """Return the message of a line, or ``None`` for garbage.

    >>> _read_message('{"type": "ready", "protocol": 1}')
    {'type': 'ready', 'protocol': 1}
    >>> _read_message("Downloading model ...") is None
    True
    """
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict):
        return None
    fields = _FIELDS.get(str(message.get("type")))
    if fields is None:
        return None
    is_whole = all(isinstance(message.get(name), kind) for name, kind in fields.items())
    return message if is_whole else None


def _is_answer(answer: Any) -> bool:
    """Tell whether one answer of a result has the agreed form."""
    if not isinstance(answer, dict):
        return False
    graphs = answer.get("graphs")
    if graphs is not None:
        is_list = isinstance(graphs, list) and bool(graphs)
        return is_list and all(isinstance(graph, str) for graph in graphs)
    return isinstance(answer.get("error"), str) and answer.get("reason") in REASONS
