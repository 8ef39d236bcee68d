r"""The ``transition`` parser: chunks to graphs, by a worker process that may die.

Parser and worker exchange one JSON object per line:

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
  in place of a result: the batch as a whole failed, the worker survives.
- ``{"type": "fatal", "kind": ..., "message": ...}`` in place of ``ready``: it cannot
  start, and ends.
- Heartbeats come every few seconds; ``id`` is the request under
  way, ``last`` the last one answered.
- The end of the worker's standard input ends it at once. Its standard error is a log.

Other lines are kept for the log and otherwise ignored.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, ClassVar

from mathamr_kedro.amr.chunking import Chunk
from mathamr_kedro.amr.documents import AMRParser, ParserSettings, parse_isolating
from mathamr_kedro.amr.graphs import (
    REASONS,
    AMRGraph,
    ParseFailure,
    merge_graphs,
    restore_placeholders,
)
from mathamr_kedro.amr.penman_io import read_graph
from mathamr_kedro.base.errors import ConfigurationError, GraphError, WorkerError
from mathamr_kedro.base.machines import show_one_device
from mathamr_kedro.base.workers import WorkerConfig, current_slot

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
_WORKER = Path(__file__).with_name("worker.py")
_START_ATTEMPTS = 3
_FIXED = {"documents": True, "windows": [400, 100], "beam": 1, "fp16": False}
"""Version of how ``worker.py`` calls the library, recorded with the graphs."""


class WorkerProcess:
    """A running worker; made by starting it.

    Args:
        command: its command line.
        environment: its environment variables.
        start_s: seconds until it is ready: imports, weights, a first download.
        request_s: seconds for one batch.
        silence_s: seconds without any line; a heartbeat is one.

    Raises:
        ConfigurationError: it reports that it can never start, or is not our worker.
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
        request = {"id": number, "chunks": [list(chunk.sentences) for chunk in chunks]}
        self._send(json.dumps(request) + "\n")
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
        """Return the next message."""
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
        """Write in a thread: a stuck worker does not read."""
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


@dataclass(frozen=True)
class TransitionConfig(ParserSettings):
    """Parameters of ``parser: transition``."""

    name: ClassVar = "transition"

    python: str = ".venv-transition/bin/python"
    """Python of the environment that ``build_environment.sh`` makes."""
    worker: str | None = None
    """Another script with the same protocol; ``None``: ``worker.py``."""
    model: str = "doc-sen-conll-amr-seed42"
    """The thesis' model (section 3.1)."""
    checkpoint: str | None = None
    """Weights of your own in place of ``model``; several joined by ``:``."""
    batch_size: int = 32
    """Chunks on the GPU at once."""
    devices: tuple[str, ...] = ("cuda:0",)
    """One worker per device, e.g. ``[cuda:0, cuda:1]``, or ``[cpu]``."""
    start_timeout_s: float = 1800.0
    """The first start downloads the weights."""
    request_timeout_s: float = 900.0
    silence_timeout_s: float = 60.0

    def __post_init__(self) -> None:
        if not self.devices:
            raise ConfigurationError("Expected at least one of 'devices' (got none)")
        for device in self.devices:
            show_one_device(device, {})

    @property
    def is_installed(self) -> bool:
        """Whether the environment of the parser is installed."""
        return Path(self.python).exists()

    @property
    def chunks_per_call(self) -> int:
        """As many chunks as fit on the GPU."""
        return self.batch_size

    def describe(self) -> dict[str, Any]:
        """Return what the graphs depend on."""
        return {
            "parser": self.name,
            "worker": self.worker,
            "model": self.checkpoint or self.model,
            **_FIXED,
        }

    def open(self) -> AMRParser:
        """Return the parser, its worker started."""
        parser = TransitionParser(self)
        parser.start()
        return parser

    def limit(self, workers: WorkerConfig) -> WorkerConfig:
        """Disable the general time limits: the parser watches its own worker."""
        start = self.start_timeout_s * 4
        return replace(workers, timeout_s=None, start_timeout_s=start)


class TransitionParser:
    """Parses by one worker process, started when needed and replaced when it fails.

    Its device is that of the slot in which this process runs, so ``workers: 4`` and
    four ``devices`` make four of them.
    """

    name = "transition"

    def __init__(self, config: TransitionConfig) -> None:
        self._config = config
        self._device = config.devices[current_slot() % len(config.devices)]
        self._process: WorkerProcess | None = None
        self._finalizer: weakref.finalize | None = None
        if not config.is_installed:
            raise ConfigurationError(
                f"Expected the Python of the parser's environment at "
                f"{config.python!r} ('amr_parsing.transition.python'); build it with "
                "src/mathamr_kedro/amr/transition/build_environment.sh"
            )

    def start(self) -> WorkerProcess:
        """Return the worker; start it if none runs.

        Raises:
            ConfigurationError: it does not start.
        """
        if self._process is None:
            self._process = self._start()
            self._finalizer = weakref.finalize(self, self._process.stop)
        return self._process

    def _start(self) -> WorkerProcess:
        command = _make_command(self._config)
        environment = make_environment(self._device, os.environ)
        attempts = 0
        while True:
            try:
                return WorkerProcess(
                    command,
                    environment,
                    start_s=self._config.start_timeout_s,
                    request_s=self._config.request_timeout_s,
                    silence_s=self._config.silence_timeout_s,
                )
            except (WorkerError, TimeoutError) as exc:
                attempts += 1
                if attempts == _START_ATTEMPTS:
                    raise ConfigurationError(
                        f"The transition worker on {self._device!r} did not start in "
                        f"{attempts} attempts: {exc}"
                    ) from exc
                logger.warning("transition worker did not start: %s", exc)
                time.sleep(attempts)  # a dead one may still hold the GPU's memory

    def parse_chunks(self, chunks: Sequence[Chunk]) -> list[AMRGraph | ParseFailure]:
        """Parse a batch; a bad chunk is tried again sentence by sentence.

        Raises:
            ConfigurationError: the worker does not start.
            WorkerError, TimeoutError, MemoryError, RuntimeError: the batch failed as a
                whole; smaller ones may not.
        """
        if not chunks:
            return []
        try:
            answers = self._ask(chunks)
        except (WorkerError, MemoryError, RuntimeError) as exc:
            if len(chunks) > 1 or len(chunks[0].sentences) == 1:
                raise
            return [self._parse_sentences(chunks[0], str(exc))]
        return [
            self._repair(chunk, _read_answer(answer))
            for chunk, answer in zip(chunks, answers, strict=True)
        ]

    def close(self) -> None:
        """End the worker."""
        self._process = None
        if self._finalizer is not None:
            self._finalizer()

    def _ask(self, chunks: Sequence[Chunk]) -> list[dict[str, Any]]:
        """Ask the worker; a single chunk gets a second worker if the first dies."""
        attempts = 2 if len(chunks) == 1 else 1
        while True:
            process = self.start()
            try:
                return process.ask(chunks)
            except (WorkerError, TimeoutError) as exc:
                logger.warning("transition worker on %s: %s", self._device, exc)
                self.close()
                attempts -= 1
                if isinstance(exc, TimeoutError) or not attempts:
                    raise

    def _repair(
        self, chunk: Chunk, result: AMRGraph | ParseFailure
    ) -> AMRGraph | ParseFailure:
        if isinstance(result, AMRGraph) or result.reason == "empty_text":
            return result
        if len(chunk.sentences) == 1:
            return result
        return self._parse_sentences(chunk, result.detail)

    def _parse_sentences(self, chunk: Chunk, problem: str) -> AMRGraph | ParseFailure:
        """Parse the sentences of a failed chunk one by one; keep those that work.

        One sentence without a node can fail a whole document.
        """
        logger.warning("parsing sentence by sentence: %s", problem)
        singles = [Chunk((sentence,)) for sentence in chunk.sentences]
        results = parse_isolating(self, singles)
        graphs = [r for r in results if isinstance(r, AMRGraph)]
        if graphs:
            return merge_graphs(graphs)
        failures = [r for r in results if isinstance(r, ParseFailure)]
        return failures[0]


def _read_answer(answer: Mapping[str, Any]) -> AMRGraph | ParseFailure:
    """Return the graph of an answer, placeholders restored, or its failure."""
    if "graphs" not in answer:
        return ParseFailure(answer["reason"], answer["error"])
    try:
        graphs = [restore_placeholders(read_graph(text)) for text in answer["graphs"]]
    except GraphError as exc:
        return ParseFailure("penman_error", str(exc))
    return graphs[0] if len(graphs) == 1 else merge_graphs(graphs)


def _make_command(config: TransitionConfig) -> list[str]:
    """Return the command line of the worker."""
    heartbeat = min(5.0, config.silence_timeout_s / 4)
    options = {
        "--model": config.model,
        "--checkpoint": config.checkpoint,
        "--batch-size": config.batch_size,
        "--heartbeat-s": heartbeat,
    }
    command = [config.python, config.worker or str(_WORKER)]
    for name, value in options.items():
        if value is not None:
            command += [name, str(value)]
    return command


def make_environment(device: str, own: Mapping[str, str]) -> dict[str, str]:
    """Return the environment variables of the worker: one device, none of our paths.

    >>> own = {"HOME": "/home/me", "PYTHONPATH": "src", "CUDA_VISIBLE_DEVICES": "4,6"}
    >>> made = make_environment("cuda:1", own)
    >>> made["CUDA_VISIBLE_DEVICES"], "PYTHONPATH" in made
    ('6', False)
    """
    ours = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__")
    kept = {name: value for name, value in own.items() if name not in ours}
    return kept | show_one_device(device, own)
