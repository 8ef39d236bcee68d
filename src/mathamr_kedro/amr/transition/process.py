"""One worker process at the other end of pipes: started, watched, ended."""

from __future__ import annotations

import contextlib
import logging
import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any

from mathamr_kedro.amr.parser import Chunk
from mathamr_kedro.amr.transition.protocol import (
    PROTOCOL,
    format_request,
    is_answer,
    read_message,
)
from mathamr_kedro.errors import ConfigurationError, WorkerError

logger = logging.getLogger(__name__)

_LOG_LINES = 100
_SHOWN_LINES = 8
_LINE_LENGTH = 300


@dataclass(frozen=True)
class Limits:
    """Seconds that a worker may take."""

    start_s: float
    """Until it is ready: imports, weights, a first download."""
    request_s: float
    """For one batch."""
    silence_s: float
    """Without any line; a heartbeat is one."""


class WorkerProcess:
    """A running worker; made by starting it.

    Raises:
        ConfigurationError: it says that it can never start, or is no worker of ours.
        WorkerError: it died before it was ready.
        TimeoutError: it was not ready in time.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], limits: Limits
    ) -> None:
        self._limits = limits
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
        self._send(format_request(number, chunks))
        deadline = time.monotonic() + self._limits.request_s
        while True:
            message = self._next_message(
                deadline, self._limits.request_s, self._limits.silence_s
            )
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
        deadline = time.monotonic() + self._limits.start_s
        while True:
            # While it loads, imports may keep its heart from beating for long.
            limit = self._limits.start_s
            message = self._next_message(deadline, limit, limit)
            if message["type"] == "ready":
                break
            if message["type"] == "fatal":
                text = f"{message['message']}{self._show_log()}"
                if message["kind"] == "out_of_memory":
                    raise WorkerError(f"The worker did not start: {text}")
                raise ConfigurationError(f"The worker cannot start: {text}")
        if message["protocol"] != PROTOCOL:
            raise ConfigurationError(
                f"Expected a worker that speaks protocol {PROTOCOL} "
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
            message = read_message(line)
            if message is not None:
                return message
            self._log.append(line.strip()[:_LINE_LENGTH])

    def _check_answers(self, answers: list[Any], count: int) -> list[dict[str, Any]]:
        if len(answers) != count or not all(map(is_answer, answers)):
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
